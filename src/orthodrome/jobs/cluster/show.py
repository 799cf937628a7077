"""A clustering in a terminal: a line per cluster with its weight and what distinguishes it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from orthodrome.core.display import short, shown
from orthodrome.errors import BadInput
from orthodrome.jobs.cluster.profiles import PROFILES
from orthodrome.jobs.cluster.result import ClusterResult
from orthodrome.jobs.cluster.rows import ClusterRows

if TYPE_CHECKING:
    from rich.console import Console

MOST = 40
"""Clusters that are shown; the tables have all of them."""


def show_clusters(result: ClusterResult, rows: ClusterRows, num_top: int, console: Console) -> None:
    """Print a line per cluster, the largest first."""
    from rich.table import Table
    from rich.text import Text

    found = result.clusters
    table = Table("cluster", "rows", "weight (90 %)", "together", "profile", box=None, pad_edge=False)
    for k, size in enumerate(found.sizes[:MOST]):
        weight = f"{found.weights.mean[k]:.1%} ({found.weights.low[k]:.1%} to {found.weights.high[k]:.1%})"
        profile = ", ".join(entry_text(result, rows, k, n) for n in result.top(k, num_top))
        table.add_row(str(k), f"{size:,}", weight, f"{found.together[k, k]:.2f}", Text(profile))
    console.print(table)
    if len(found.sizes) > MOST:
        console.print(f"and {len(found.sizes) - MOST} smaller ones")


def entry_text(result: ClusterResult, rows: ClusterRows, cluster: int, entry: int) -> str:
    """Return one number of a profile in words, safe in a terminal."""
    quantity, column = PROFILES[result.family].entries(rows)[entry]
    mean, sd = (part[cluster, entry] for part in result.clusters.profiles[:2])
    name = short(column) if quantity not in ("sd", "length") else f"{quantity} {short(column)}"
    return f"{name} {mean:.3g} ± {sd:.2g}"


def show_cluster(result: ClusterResult, rows: ClusterRows, cluster: int, console: Console) -> None:
    """Print the whole profile of one cluster, what says most first."""
    from rich.table import Table
    from rich.text import Text

    found, entries = result.clusters, PROFILES[result.family].entries(rows)
    if not 0 <= cluster < len(found.sizes):
        raise BadInput(f"there is no cluster {cluster}; there are 0 to {len(found.sizes) - 1}")
    table = Table("quantity", "column", "mean", "sd", "90 %", "all rows", box=None, pad_edge=False)
    for n in result.top(cluster, len(entries)):
        mean, sd, low, high = (f"{part[cluster, n]:.4g}" for part in found.profiles)
        quantity, column = entries[n]
        table.add_row(quantity, Text(short(column)), mean, sd, f"{low} to {high}", f"{found.overall[n]:.4g}")
    console.print(table)


def show_numbers(result: ClusterResult, console: Console) -> None:
    """Print the numbers of the run in one line, and whether its draws can be trusted."""
    console.print(", ".join(f"{name} {value:,.4g}" for name, value in result.numbers.items()))
    if result.verdict:
        console.print(shown(result.verdict), soft_wrap=True)


def show_places(folder: Path, figures: list[Path], console: Console) -> None:
    """Print where the files are."""
    names, place = ", ".join(path.name for path in figures), shown(str(folder))
    console.print(f"figures: {place}/figures/ ({names})", soft_wrap=True)
    console.print(f"tables (clusters, profiles, labels, co-clustering), draws and state: {place}/", soft_wrap=True)
