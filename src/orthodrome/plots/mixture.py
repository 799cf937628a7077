"""Figures of a fitted mixture: the clusters' profiles, which rows are together, and the number of clusters.

Nothing shown depends on how a draw numbers its components: the clusters are the parts of one partition.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib import colormaps
from matplotlib.figure import Figure

from orthodrome.core.display import for_figure
from orthodrome.core.types import Reals
from orthodrome.plots.globe import globe, scatter, view
from orthodrome.plots.style import BLUE, GREEN, GREY, ORANGE, new_figure

MOST_CLUSTERS, COLUMNS = 20, 4
"""The largest number of clusters in a figure, and the panels of a line."""


def profiles_figure(
    profiles: Any, overall: Reals, weights: Reals, top: Sequence[np.ndarray], names: Sequence[str]
) -> Figure:
    """Return a figure with a panel per cluster, the largest first: its numbers with 90 % intervals.

    profiles: mean, sd, low and high, each clusters x numbers; overall: the numbers of all rows, as ticks
    weights: of the clusters; top: which numbers are shown of each; names: of the numbers
    """
    count = min(MOST_CLUSTERS, len(weights))
    columns = min(COLUMNS, count)
    rows, entries = -(-count // columns), max(len(some) for some in top)
    figure, axes = new_figure(rows, columns, (2.9 * columns, (0.19 * entries + 0.75) * rows + 0.3))
    mean, _, low, high = profiles
    for k, panel in enumerate(axes.flat[:count]):
        height, some = np.arange(len(top[k]), 0, -1), top[k]
        panel.hlines(height, low[k, some], high[k, some], color=BLUE, linewidth=2.5, alpha=0.6)
        panel.plot(mean[k, some], height, "o", color=BLUE, markersize=3.5)
        panel.plot(overall[some], height, "|", color=GREY, markersize=8)
        panel.set_yticks(height, [for_figure(names[n]) for n in some], fontsize=7.5)
        panel.set_title(f"cluster {k}  ({weights[k]:.1%})")
        panel.tick_params(axis="x", labelsize=7)
    for panel in axes.flat[count:]:
        panel.axis("off")
    rest = f"; {len(weights) - count} smaller clusters are not shown" if len(weights) > count else ""
    figure.supxlabel(f"line: 90 % interval; grey tick: all rows{rest}", fontsize=8, color=GREY)
    return figure


def co_clustering_figure(pairs: Reals, labels: np.ndarray) -> Figure:
    """Return an image of the probabilities that two rows are in one cluster.

    pairs: rows x rows, in the order of the clusters; labels: the clusters of these rows
    """
    figure, axes = new_figure(1, 1, (4.6, 4.0))
    image = axes[0, 0].imshow(pairs, cmap="Blues", vmin=0, vmax=1, interpolation="nearest")
    ends = np.flatnonzero(np.diff(labels)) + 0.5
    for end in ends:
        axes[0, 0].axhline(end, color=ORANGE, linewidth=0.5)
        axes[0, 0].axvline(end, color=ORANGE, linewidth=0.5)
    bounds = np.concatenate([[-0.5], ends, [len(labels) - 0.5]])
    centres, wide = (bounds[1:] + bounds[:-1]) / 2, np.diff(bounds) > len(labels) / 40
    names = labels[np.clip(np.rint(centres).astype(int), 0, len(labels) - 1)]
    for set_ticks in (axes[0, 0].set_xticks, axes[0, 0].set_yticks):
        set_ticks(centres[wide], [str(name) for name in names[wide]], fontsize=7)
    axes[0, 0].set(xlabel="cluster", ylabel="cluster")
    figure.colorbar(image, label="probability of being together", shrink=0.8)
    return figure


def trace_figure(traces: dict[str, tuple[np.ndarray, np.ndarray]]) -> Figure:
    """Return a figure with a panel for each trace, a line for each chain.

    traces: name -> (numbers of iterations, values (chain, iteration))
    """
    figure, axes = new_figure(1, len(traces), (4.6 * len(traces), 3.0))
    for panel, (name, (at, values)) in zip(axes.flat, traces.items(), strict=True):
        for chain, line in enumerate(values):
            panel.plot(at, line, color=(BLUE, ORANGE, GREEN, GREY)[chain % 4], linewidth=0.9, label=f"chain {chain}")
        panel.set(xlabel="iteration", title=name)
    axes[0, 0].legend(fontsize=7, frameon=False)
    return figure


def globes_figure(points: Reals, labels: np.ndarray, centres: Reals) -> Figure:
    """Return unit vectors in three dimensions on both sides of a globe, in the colours of their clusters.

    labels: the clusters of the points, the largest being 0; centres: their mean directions
    """
    figure, axes = new_figure(1, 2, (7.0, 3.9))
    colours = [colormaps["tab10"](n) for n in range(10) if n != 7]  # without its grey
    for panel, side, name in zip(axes[0], (1, -1), ("from above", "from below"), strict=True):
        camera = view([0.25, -0.35, side])
        globe(panel, camera)
        scatter(panel, camera, points[labels >= len(colours)], color=GREY, s=4, alpha=0.5)
        for k in range(min(len(colours), len(centres))):
            scatter(panel, camera, points[labels == k], color=colours[k], s=5, alpha=0.6)
        panel.set_title(name)
    for k in range(min(len(colours), len(centres))):
        own = f"{k}  ({np.mean(labels == k):.0%})"
        axes[0, 0].scatter([], [], color=colours[k], s=14, label=own)
    if len(centres) > len(colours):
        axes[0, 0].scatter([], [], color=GREY, s=14, label=f"{len(centres) - len(colours)} smaller ones")
    figure.legend(loc="outside lower center", ncols=5, frameon=False, fontsize=7, title="cluster", title_fontsize=7)
    return figure
