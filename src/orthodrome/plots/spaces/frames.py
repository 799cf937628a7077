"""The posterior of an orthonormal frame: a panel for each column, its coordinates with 50 % and 90 % bands.

Where the sign or the order of columns is arbitrary, `orthodrome.align` makes the draws comparable first.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.figure import Figure

from orthodrome.core.display import for_figure
from orthodrome.plots.drawn import COLOURS, parameter, pooled, require
from orthodrome.plots.style import GREY, new_figure

MOST_NAMES = 30
"""The largest number of rows whose names fit below a panel."""


def plot_frames(draws: Any, name: str | None = None, copy: int = 0) -> Figure:
    """Return a figure of a matrix with orthonormal columns.

    draws: of `sample` or a fitted model; name: the parameter; None: the only one
    copy: which, if there are several
    """
    name, values = parameter(draws, name)
    require(values.ndim >= 4, name, values, "matrices with orthonormal columns")
    frames = pooled(values, 2)[:, copy]
    rows, columns = frames.shape[1:]
    low, lower, middle, upper, high = np.quantile(frames, (0.05, 0.25, 0.5, 0.75, 0.95), axis=0)
    size = (min(2.4 + 0.16 * rows, 9.0), 1.5 * columns + 0.4)
    figure, axes = new_figure(columns, 1, size=size, sharex=True, sharey=True)
    at = np.arange(rows)
    for column in range(columns):
        panel, colour = axes[column, 0], COLOURS[column % len(COLOURS)]
        panel.vlines(at, low[:, column], high[:, column], color=colour, linewidth=1)
        panel.vlines(at, lower[:, column], upper[:, column], color=colour, linewidth=3)
        panel.plot(at, middle[:, column], "o", color="white", markeredgecolor=colour, markersize=4)
        panel.axhline(0, color=GREY, linewidth=0.6)
        panel.set_ylabel(f"column {column}")
    variable = draws["posterior"][name]
    names = variable.coords.get(variable.dims[-2])
    if names is not None and names.dtype.kind in "UO" and rows <= MOST_NAMES:
        axes[-1, 0].set_xticks(
            at, [for_figure(str(each)) for each in names.values], rotation=60, ha="right", fontsize=7
        )
    axes[-1, 0].set_xlabel(f"row of {name}; line: 50 % and 90 % of the draws")
    return figure
