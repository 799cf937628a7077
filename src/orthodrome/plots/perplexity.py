"""Perplexity of held-out documents against time, of one run or of several side by side.

Where draws are given, the time of a draw is taken as its share of the run's time: warm-up first, then `sampling_time`
evenly over the draws.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from orthodrome.core.display import for_figure
from orthodrome.core.types import Reals
from orthodrome.errors import BadInput
from orthodrome.plots.drawn import COLOURS
from orthodrome.plots.style import new_figure

NAMES = ("averaged_perplexity", "perplexity", "log_perplexity")
"""The statistics that models watch, the most telling one first."""


def plot_perplexity(runs: Mapping[str, Any], statistic: str | None = None) -> Figure:
    """Return a figure of perplexities against seconds, a colour for each run and a line for each chain.

    runs: by their names: draws of a topic model that was fitted with `held_out`, or a pair of arrays, seconds and
        values
    statistic: "averaged_perplexity", "perplexity" or "log_perplexity"; None: the first of them that a run has
    """
    figure, axes = new_figure(1, 1, size=(5.2, 3.4))
    panel, told = axes[0, 0], set()
    for number, (label, run) in enumerate(runs.items()):
        name, lines = ("perplexity", [run]) if isinstance(run, tuple) else watched(run, label, statistic)
        told.add(name.replace("_", " "))
        for chain, (seconds, values) in enumerate(lines):
            seconds, values = np.asarray(seconds, float), np.asarray(values, float)
            style = {"color": COLOURS[number % len(COLOURS)], "marker": ".", "linewidth": 1.0}
            panel.plot(seconds, values, label=for_figure(label) if chain == 0 else None, **style)
    panel.set(xlabel="seconds", ylabel=" / ".join(sorted(told)))
    panel.legend(fontsize=7, frameon=False)
    return figure


def watched(draws: Any, label: str, statistic: str | None) -> tuple[str, list[tuple[Reals, Reals]]]:
    """Return the name of the statistic, and the seconds and values of every chain at which it was measured anew."""
    stats = draws["sample_stats"] if "sample_stats" in draws.children else {}
    there = [name for name in ((statistic,) if statistic else NAMES) if name in stats]
    if not there:
        raise BadInput(
            f"the run {label!r} has no {statistic or 'perplexity'} among its statistics: fit with held_out=documents"
        )
    values = np.asarray(stats[there[0]].transpose("chain", "draw"), float)
    before, during = (float(draws.attrs.get(name, 0.0)) for name in ("warmup_time", "sampling_time"))
    seconds = before + during * (np.arange(values.shape[1]) + 1) / values.shape[1]
    lines = []
    for row in values:
        new = np.isfinite(row) & np.concatenate([[True], row[1:] != row[:-1]])
        lines.append((seconds[new], row[new]))
    return there[0], lines
