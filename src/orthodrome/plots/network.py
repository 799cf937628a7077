"""A figure of a fitted `NetworkEigenmodel`: edges beside their probabilities, the nodes' positions, and the
eigenvalues.

Nodes are sorted by their coordinate in the first column of the frame, so that the structure found shows as blocks.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from numpy.typing import NDArray

from orthodrome.core.types import Reals
from orthodrome.plots.style import BLUE, GREEN, GREY, ORANGE, new_figure


def plot_network(model: Any) -> Figure:
    """Return a figure of four panels: edges, probabilities, positions, traces; without the first two of a network that
    was drawn by batches of its pairs, which has no matrix of them.

    model: fitted
    """
    nodes = len(model.frame_)
    matrices = {}
    if model.edges_.shape == (nodes, nodes):
        matrices = {"edges": np.nan_to_num(model.edges_, nan=0.5), "probability of an edge": model.edge_probability_}
    figure, axes = new_figure(1, 2 + len(matrices), size=(6.3 + 3.1 * len(matrices), 3.2))
    order = np.argsort(model.frame_[:, 0])
    for panel, (title, matrix) in zip(axes[0], matrices.items(), strict=False):
        panel.imshow(matrix[np.ix_(order, order)], cmap="Blues", vmin=0, vmax=1, interpolation="nearest")
        panel.set(title=title, xticks=(), yticks=(), xlabel="node", ylabel="node")
    positions(axes[0, -2], model, np.argwhere(np.triu(model.edges_ == 1, 1)) if matrices else model.edges_)
    traces(axes[0, -1], np.asarray(model.draws_["posterior"]["eigenvalues"], float))
    return figure


def positions(panel: Axes, model: Any, edges: NDArray[np.int64]) -> None:
    """Draw the nodes in the plane of the first two columns (one column: against their number), with the edges."""
    place = model.frame_ * np.sqrt(np.abs(model.eigenvalues_))
    x, y = (np.arange(len(place)), place[:, 0]) if place.shape[1] == 1 else place[:, :2].T
    panel.add_collection(LineCollection(list(np.stack([x, y], axis=1)[edges]), colors=GREY, linewidths=0.2, alpha=0.5))
    panel.scatter(x, y, s=8, color=BLUE, linewidths=0, zorder=3)
    panel.set(
        title="positions",
        xlabel="node" if place.shape[1] == 1 else "column 1",
        ylabel=f"column {min(2, place.shape[1])}",
    )


def traces(panel: Axes, eigenvalues: Reals) -> None:
    """Draw the trace of every eigenvalue of every chain, one colour per column."""
    for column in range(eigenvalues.shape[2]):
        panel.plot(eigenvalues[..., column].T, color=(BLUE, ORANGE, GREEN)[column % 3], linewidth=0.6)
    panel.set(title="eigenvalues", xlabel="draw")
