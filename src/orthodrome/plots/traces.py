"""Do the chains agree? Traces of single numbers, and the ranks of each chain's draws among all (Vehtari et al. 2021).

If chains have one law, the ranks of each chain's draws among those of all chains are uniform: its histogram is level
up to noise. A chain elsewhere leans to one side, one that is too narrow bulges in the middle.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.figure import Figure
from scipy.stats import rankdata

from orthodrome.core.types import Reals
from orthodrome.diagnostics.convergence import chosen, rhat
from orthodrome.diagnostics.given import check_draws
from orthodrome.errors import BadInput
from orthodrome.plots.drawn import COLOURS
from orthodrome.plots.style import GREY, new_figure

BINS = 20


def plot_traces(draws: Any, names: list[str] | None = None, most: int = 6) -> Figure:
    """Return traces of numbers, a panel each and a line for each chain.

    draws: of `sample` or a fitted model; names: parameters or statistics such as "lp"; None: all parameters
    most: the largest number of panels; of larger parameters those numbers are shown whose R-hat is worst
    """
    numbers = worst(draws, names, most)
    figure, axes = new_figure(len(numbers), 1, size=(7.0, 1.25 * len(numbers) + 0.4), sharex=True)
    for panel, (label, values) in zip(axes[:, 0], numbers, strict=True):
        for chain, line in enumerate(values):
            panel.plot(line, color=COLOURS[chain % len(COLOURS)], linewidth=0.6, alpha=0.8)
        panel.set_ylabel(label, fontsize=8)
    axes[-1, 0].set_xlabel("draw; one colour for each chain")
    return figure


def plot_ranks(draws: Any, names: list[str] | None = None, most: int = 6) -> Figure:
    """Return rank plots of numbers, a panel each and a line for each chain.

    draws, names, most: as for `plot_traces`
    """
    numbers = worst(draws, names, most)
    columns = min(3, len(numbers))
    figure, axes = new_figure(
        -(-len(numbers) // columns), columns, size=(2.6 * columns, 2.1 * -(-len(numbers) // columns))
    )
    for panel, (label, values) in zip(axes.flat, numbers, strict=False):
        ranks = rankdata(values, method="average").reshape(values.shape)
        expected, noise = values.shape[1] / BINS, np.sqrt(values.shape[1] / BINS * (1 - 1 / BINS))
        panel.axhspan(expected - 2 * noise, expected + 2 * noise, color=GREY, alpha=0.2, linewidth=0)
        for chain, row in enumerate(ranks):
            count, edges = np.histogram(row, bins=BINS, range=(0.5, values.size + 0.5))
            panel.stairs(count, edges, baseline=None, color=COLOURS[chain % len(COLOURS)], linewidth=1.0)
        panel.set(title=label, yticks=(), ylim=(0, None))
    for panel in axes.flat[len(numbers) :]:
        panel.axis("off")
    figure.supxlabel("rank among the draws of all chains; grey: what independent draws would vary by", fontsize=8)
    return figure


def worst(draws: Any, names: list[str] | None, most: int) -> list[tuple[str, Reals]]:
    """Return at most `most` labelled numbers, (chain, draw) each: of every parameter those with the largest R-hat."""
    arrays = arrays_of(draws, names)
    share, found = shares({name: int(np.prod(values.shape[2:])) for name, values in arrays.items()}, most), []
    for name, values in arrays.items():
        flat = values.reshape(*values.shape[:2], -1)
        looked = chosen(np.arange(flat.shape[-1])[None, None])[0, 0]
        order = np.argsort(-np.nan_to_num(rhat(flat[..., looked]), nan=0.0), kind="stable")[: share[name]]
        for number in np.sort(looked[order]):
            index = ", ".join(map(str, np.unravel_index(number, values.shape[2:]))) if values.ndim > 2 else ""
            found.append((f"{name}[{index}]" if index else name, flat[..., number]))
    return found


def shares(sizes: dict[str, int], most: int) -> dict[str, int]:
    """Return how many panels each parameter has: as even as can be, and what the small leave is for the large."""
    left, found = most, {}
    for place, name in enumerate(sorted(sizes, key=lambda each: sizes[each])):
        found[name] = min(sizes[name], left // (len(sizes) - place))
        left -= found[name]
    return found


def arrays_of(draws: Any, names: list[str] | None) -> dict[str, Reals]:
    """Return the parameters (or statistics) by name, (chain, draw, ...)."""
    check_draws(draws)
    groups = [draws[group].dataset for group in ("posterior", "sample_stats") if group in draws.children]
    there = {str(name): group[name] for group in reversed(groups) for name in group.data_vars}
    wanted = [str(name) for name in groups[0].data_vars] if names is None else names
    if unknown := [name for name in wanted if name not in there]:
        raise BadInput(f"there is no {unknown[0]!r} among the draws; there are {', '.join(there)}")
    return {name: np.asarray(there[name].transpose("chain", "draw", ...), float) for name in wanted}
