"""The posterior on the circle: a rose of equal areas, the mean direction, and the shortest arc with 90 % of the draws.

A sector's area, not its radius, is its probability, so r = sqrt(2 density): a rose with radii as counts makes a sector
with twice the draws look four times as large.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.figure import Figure

from orthodrome.core.types import Reals
from orthodrome.plots.drawn import COLOURS, copy_name, parameter, pooled, require
from orthodrome.plots.style import new_figure

SECTORS = 48


def plot_circle(draws: Any, name: str | None = None, inside: float = 0.9) -> Figure:
    """Return a figure of a parameter on the circle, or of an angle in radians.

    draws: of `sample` or a fitted model; name: the parameter; None: the only one
    inside: the probability of the arc outside the rose
    """
    name, values = parameter(draws, name)
    vectors = values.ndim >= 3 and values.shape[-1] == 2
    require(vectors or values.ndim == 2, name, values, "unit vectors in the plane, or of one angle")
    angles = np.arctan2(values[..., 1], values[..., 0]) if vectors else values
    clouds = pooled(angles, 0)
    figure, axes = new_figure(1, 1, size=(4.2, 3.8), subplot_kw={"projection": "polar"})
    panel, copies = axes[0, 0], clouds.shape[1]
    outside = max(rose(panel, clouds[:, copy], COLOURS[copy % len(COLOURS)]) for copy in range(copies))
    for copy in range(copies):
        colour, cloud = COLOURS[copy % len(COLOURS)], clouds[:, copy]
        low, high = shortest_arc(cloud, inside)
        panel.plot(np.linspace(low, high, 60), np.full(60, outside * (1.05 + 0.04 * copy)), color=colour, linewidth=2.5)
        mean = np.angle(np.mean(np.exp(1j * cloud)))
        panel.plot([mean, mean], [0, outside], color=colour, linewidth=1.2, label=copy_name(name, copy, copies))
    panel.set(yticks=(), xticks=np.arange(8) * np.pi / 4)
    figure.legend(loc="outside lower center", fontsize=7, frameon=False, ncols=min(copies, 4))
    return figure


def rose(panel: Any, angles: Reals, colour: str) -> float:
    """Draw one rose and return its largest radius."""
    density, edges = np.histogram(np.mod(angles, 2 * np.pi), bins=SECTORS, range=(0, 2 * np.pi), density=True)
    radius = np.sqrt(2 * density)
    panel.bar(edges[:-1], radius, width=np.diff(edges), align="edge", color=colour, alpha=0.55, linewidth=0)
    return float(radius.max())


def shortest_arc(angles: Reals, inside: float) -> tuple[float, float]:
    """Return the ends of the shortest arc that holds a share of the angles, the second not below the first."""
    ordered = np.sort(np.mod(angles, 2 * np.pi))
    count = max(1, int(np.ceil(inside * len(ordered))))
    twice = np.concatenate([ordered, ordered + 2 * np.pi])
    width = twice[count - 1 : count - 1 + len(ordered)] - ordered
    best = int(np.argmin(width))
    return float(ordered[best]), float(ordered[best] + width[best])
