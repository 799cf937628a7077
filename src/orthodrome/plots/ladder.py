"""A run of `Tempering`: how often neighbours exchange, what the rungs see, and the round trips.

Replicas carry what hot chains find down to the cold one only if every pair of neighbours exchanges: the lowest swap
rate is the bottleneck. Round trips count the independent looks at the modes.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.figure import Figure

from orthodrome.diagnostics.given import check_draws
from orthodrome.errors import BadInput
from orthodrome.plots.drawn import COLOURS
from orthodrome.plots.style import BLUE, GREY, ORANGE, new_figure


def plot_ladder(draws: Any) -> Figure:
    """Return a figure of four panels: swap rates, log densities by rung, the cold walker, round trips.

    draws: of `sample(Tempering(...), ...)`
    """
    check_draws(draws)
    stats = draws["sample_stats"] if "sample_stats" in draws.children else {}
    if "swap_rate" not in stats:
        raise BadInput("these draws have no ladder: they are not those of `Tempering`")
    ladders = np.asarray(stats["exponent"], float)[:, -1]
    figure, axes = new_figure(1, 4, size=(12.5, 3.0))
    swap_rates(axes[0, 0], ladders, np.asarray(stats["swap_rate"], float))
    heights(axes[0, 1], ladders, np.asarray(stats["replica_lp"], float))
    for chain, walker in enumerate(np.asarray(stats["walker"])):
        axes[0, 2].plot(walker, ".", markersize=1.5, color=COLOURS[chain % len(COLOURS)])
    axes[0, 2].set(title="replica at the cold end", xlabel="draw", yticks=np.arange(ladders.shape[1]))
    for chain, trips in enumerate(np.asarray(stats["round_trips"])):
        axes[0, 3].plot(trips, color=COLOURS[chain % len(COLOURS)], linewidth=1.0)
    axes[0, 3].set(title="round trips so far", xlabel="draw", ylim=(0, None))
    return figure


def swap_rates(panel: Any, ladders: np.ndarray, rates: np.ndarray) -> None:
    """Draw each chain's mean swap rate of each pair of neighbours, between their exponents, over the rungs."""
    for chain, (rungs, row) in enumerate(zip(ladders, np.nanmean(rates, axis=1), strict=True)):
        middle = np.sqrt(rungs[1:] * rungs[:-1])
        panel.plot(middle, row, "o-", markersize=3, color=COLOURS[chain % len(COLOURS)], linewidth=1.0)
        panel.plot(rungs, np.zeros_like(rungs), "|", color=GREY, markersize=10)
    panel.axhline(0.2, color=ORANGE, linewidth=0.8, linestyle="--")
    panel.set(title="swap rate of neighbours", xlabel="exponent", xscale="log", ylim=(-0.03, 1))


def heights(panel: Any, ladders: np.ndarray, lp: np.ndarray) -> None:
    """Draw the mean log density at each rung with 90 % of its draws: the integrand of the evidence.

    Chains that share a ladder are drawn together.
    """
    shared = bool(np.all(ladders == ladders[0]))
    for rungs, seen in [(ladders[0], lp.reshape(-1, lp.shape[-1]))] if shared else zip(ladders, lp, strict=True):
        low, high = np.quantile(seen, (0.05, 0.95), axis=0)
        panel.vlines(rungs, low, high, color=BLUE, linewidth=2, alpha=0.5)
        panel.plot(rungs, seen.mean(axis=0), "o-", color=BLUE, markersize=3, linewidth=1.0)
    panel.set(title="log density of the replicas", xlabel="exponent", xscale="log")
