"""A figure of the strengths of players: means with 50 % and 90 % intervals, the strongest on top."""

from __future__ import annotations

from typing import Any

import numpy as np

from orthodrome.core.display import for_figure
from orthodrome.plots.style import BLUE, new_figure


def plot_strengths(model: Any) -> Any:
    """Return a figure of a fitted `PairedComparison`.

    model: fitted
    """
    strength = np.asarray(model.draws_["posterior"]["strength"], float)
    flat = strength.reshape(-1, strength.shape[-1])
    order = np.argsort(model.mean_)
    low, lower, upper, high = np.quantile(flat, (0.05, 0.25, 0.75, 0.95), axis=0)[:, order]
    figure, axes = new_figure(1, 1, size=(4.5, 0.6 + 0.28 * len(order)))
    rows = np.arange(len(order))
    axes[0, 0].hlines(rows, low, high, color=BLUE, linewidth=1)
    axes[0, 0].hlines(rows, lower, upper, color=BLUE, linewidth=3)
    axes[0, 0].plot(model.mean_[order], rows, "o", color="white", markeredgecolor=BLUE, markersize=4)
    axes[0, 0].set_yticks(rows, [for_figure(str(model.players_[i])) for i in order])
    axes[0, 0].set_xlabel("strength")
    return figure
