"""The files of a finished clustering.

clusters.csv         cluster, rows, weight with its standard deviation and 90 % interval, and how well it holds together
profiles.csv         cluster, quantity, column, mean, sd, 90 % interval, and the same number of all rows
labels.csv           row, name, whether it was held out, cluster, its probability, and the next cluster
co-clustering.csv    the probability that a row of one cluster and a row of another are together
figures/             profiles, co-clustering, trace: PNG and SVG
"""

from __future__ import annotations

import csv
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from orthodrome.core.display import for_csv
from orthodrome.jobs.cluster.profiles import PROFILES
from orthodrome.jobs.cluster.result import ClusterResult
from orthodrome.jobs.cluster.rows import ClusterRows
from orthodrome.storage import files

PROFILE = ("cluster", "quantity", "column", "mean", "sd", "low", "high", "all_rows")
LABEL = ("row", "name", "held_out", "cluster", "probability", "next_cluster", "next_probability")


def write_tables(result: ClusterResult, rows: ClusterRows, folder: Path) -> None:
    """Write all tables."""
    write(folder / "clusters.csv", ("cluster", "rows", "weight", "sd", "low", "high", "together"), clusters(result))
    write(folder / "profiles.csv", PROFILE, profiles(result, rows))
    write(folder / "labels.csv", LABEL, labels(result, rows))
    write(folder / "co-clustering.csv", ("cluster", "other", "probability"), pairs(result))


def write(path: Path, head: tuple[str, ...], lines: Iterable[Iterable[Any]]) -> None:
    """Write a table; numbers have six digits, and texts cannot be taken for formulas."""
    cell = lambda value: f"{value:.6g}" if isinstance(value, float) else value
    with files.replacing(path, text=True) as file:
        writer = csv.writer(file)
        writer.writerow(head)
        writer.writerows([for_csv(x) if isinstance(x, str) else cell(x) for x in line] for line in lines)


def clusters(result: ClusterResult) -> Iterable[list[Any]]:
    """Return a line per cluster."""
    found = result.clusters
    for k, size in enumerate(found.sizes):
        weight = [float(part[k]) for part in found.weights]
        yield [k, int(size), *weight, float(found.together[k, k])]


def profiles(result: ClusterResult, rows: ClusterRows) -> Iterable[list[Any]]:
    """Return a line per number of every cluster."""
    found, entries = result.clusters, PROFILES[result.family].entries(rows)
    for k in range(len(found.sizes)):
        for n, (quantity, column) in enumerate(entries):
            yield [k, quantity, column, *(float(part[k, n]) for part in found.profiles), float(found.overall[n])]


def labels(result: ClusterResult, rows: ClusterRows) -> Iterable[list[Any]]:
    """Return a line per row."""
    found = result.clusters
    columns = (found.labels, found.probability, found.other, found.other_probability)
    for n, (label, p, other, q) in enumerate(zip(*(column.tolist() for column in columns), strict=True)):
        yield [n, rows.names[n], int(not rows.training[n]), label, p, other, q]


def pairs(result: ClusterResult) -> Iterable[list[Any]]:
    """Return a line per pair of clusters, each with itself included."""
    together = result.clusters.together
    yield from (
        [k, other, float(together[k, other])] for k in range(len(together)) for other in range(k, len(together))
    )


def write_figures(result: ClusterResult, rows: ClusterRows, folder: Path, num_top: int) -> list[Path]:
    """Write the figures, and return their paths."""
    from orthodrome.plots import mixture, style

    folder.mkdir(exist_ok=True)
    found, entries = result.clusters, PROFILES[result.family].entries(rows)
    names = [column if quantity != "sd" else f"sd of {column}" for quantity, column in entries]
    top = [result.top(k, num_top) for k in range(len(found.sizes))]
    figures: dict[str, Any] = {
        "profiles": mixture.profiles_figure(found.profiles, found.overall, found.weights.mean, top, names),
        "co-clustering": mixture.co_clustering_figure(result.pairs, found.labels[result.sample]),
        "trace": mixture.trace_figure(result.traces),
    }
    for name, figure in figures.items():
        style.save(figure, folder / name)
    return [folder / f"{name}.png" for name in figures]
