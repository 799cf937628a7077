"""The posterior of two angles: the flattened torus, cut opposite to the means, with both margins."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.figure import Figure

from orthodrome.plots.drawn import parameter, pooled, require, thinned
from orthodrome.plots.style import BLUE, GREY, ORANGE, new_figure

BINS = 60


def plot_torus(draws: Any, name: str | None = None) -> Figure:
    """Return a scatter plot of two angles with their histograms.

    draws: of `sample` or a fitted model; name: the parameter; None: the only one. One draw is two unit vectors in the
        plane, (2, 2), or two angles in radians, (2,)
    """
    name, values = parameter(draws, name)
    vectors = values.ndim == 4 and values.shape[2:] == (2, 2)
    require(vectors or values.shape[2:] == (2,), name, values, "two unit vectors in the plane, or two angles")
    angles = pooled(np.arctan2(values[..., 1], values[..., 0]) if vectors else values, 1)[:, 0]
    middle = np.angle(np.mean(np.exp(1j * angles), axis=0))
    angles = middle + np.angle(np.exp(1j * (angles - middle)))
    ratios = {"width_ratios": (4, 1), "height_ratios": (1, 4)}
    figure, axes = new_figure(2, 2, size=(4.6, 4.6), **ratios)
    flat = thinned(angles)
    axes[1, 0].scatter(flat[:, 0], flat[:, 1], s=5, color=BLUE, alpha=0.35, linewidths=0)
    axes[1, 0].plot(*middle, "x", color=ORANGE, markersize=8, markeredgewidth=2)
    axes[1, 0].set(xlabel=f"{name}: first angle", ylabel=f"{name}: second angle")
    axes[1, 0].set(xlim=(middle[0] - np.pi, middle[0] + np.pi), ylim=(middle[1] - np.pi, middle[1] + np.pi))
    axes[0, 0].hist(angles[:, 0], bins=BINS, range=axes[1, 0].get_xlim(), density=True, color=GREY)
    axes[1, 1].hist(
        angles[:, 1], bins=BINS, range=axes[1, 0].get_ylim(), density=True, color=GREY, orientation="horizontal"
    )
    axes[0, 0].set(xlim=axes[1, 0].get_xlim(), xticks=(), yticks=())
    axes[1, 1].set(ylim=axes[1, 0].get_ylim(), xticks=(), yticks=())
    axes[0, 1].axis("off")
    return figure
