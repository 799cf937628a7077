"""Figures of a fitted `Directional` with its data: on the circle, on both sides of a globe, or on a flattened torus.

Contours are of the posterior predictive density, at levels inside which 50, 90 and 99 per cent of it lie; crosses mark
mean directions.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.figure import Figure

from orthodrome.core.types import Reals
from orthodrome.errors import BadInput
from orthodrome.plots.globe import globe, scatter, view
from orthodrome.plots.style import BLUE, GREY, ORANGE, new_figure

INSIDE = (0.99, 0.9, 0.5)
"""The probabilities inside the contours."""
GRID = 90
"""The number of grid points along each axis of a contour plot."""


def plot_directional(model: Any) -> Figure:
    """Return a figure of a fitted `Directional` on a circle, on the sphere in three dimensions or on a torus.

    model: fitted
    """
    shape = model.x_.shape[1:]
    if shape == (2, 2):
        return on_torus(model)
    if shape == (2,):
        return on_circle(model)
    if shape == (3,):
        return on_sphere(model)
    raise BadInput(f"the data has {shape[0]} dimensions; pictures are of circles, spheres in R^3 and tori")


def on_circle(model: Any) -> Figure:
    """Return a figure with a histogram of the angles around the circle, and the predictive density."""
    figure, axes = new_figure(1, 1, size=(4.2, 3.6))
    angle = np.linspace(0, 2 * np.pi, 361)
    density = np.exp(model.score_samples(np.stack([np.cos(angle), np.sin(angle)], axis=1)))
    seen = np.concatenate([model.x_, -model.x_]) if model.law == "bingham" else model.x_  # an axis has two ends
    data = np.mod(np.arctan2(seen[:, 1], seen[:, 0]), 2 * np.pi)
    axes[0, 0].hist(data, bins=36, range=(0, 2 * np.pi), density=True, color=GREY, alpha=0.5)
    axes[0, 0].plot(angle, density, color=ORANGE)
    axes[0, 0].set(xlabel="angle", ylabel="density", xlim=(0, 2 * np.pi), xticks=np.arange(5) * np.pi / 2)
    axes[0, 0].set_xticklabels(["0", "π/2", "π", "3π/2", "2π"])
    return figure


def on_sphere(model: Any) -> Figure:
    """Return a figure with two globes, seen from the data's main direction and from behind."""
    figure, axes = new_figure(1, 2, size=(7.0, 3.6))
    _, _, right = np.linalg.svd(model.x_)
    front = right[0] * (1 if np.sum(model.x_ @ right[0]) >= 0 else -1)
    for panel, towards, title in ((axes[0, 0], front, "front"), (axes[0, 1], -front, "back")):
        camera = view(towards)
        globe(panel, camera)
        scatter(panel, camera, model.x_, color=BLUE, s=5, alpha=0.6)
        contours(panel, camera, model)
        for mean in np.atleast_2d(model.estimate_.get("mean", np.empty((0, 3)))):
            scatter(panel, camera, mean[None], color=ORANGE, marker="x", s=40, linewidths=1.5)
        panel.set_title(title)
    return figure


def contours(panel: Any, camera: Reals, model: Any) -> None:
    """Draw contours of the predictive density on the near side of a globe."""
    side = np.linspace(-1, 1, GRID)
    u, v = np.meshgrid(side, side)
    inside = u**2 + v**2 < 0.998
    w = np.sqrt(np.maximum(1 - u**2 - v**2, 0))
    points = np.stack([u, v, w], axis=-1)[inside] @ camera
    height = np.full(u.shape, np.nan)
    height[inside] = np.exp(model.score_samples(points))
    levels = highest_density_levels(height[inside], 1 / w[inside], opposite=np.exp(model.score_samples(-points)))
    panel.contour(u, v, height, levels=levels, colors=ORANGE, linewidths=0.9)


def highest_density_levels(height: Reals, area: Reals, opposite: Reals | None = None) -> list[float]:
    """Return the densities above which 99, 90 and 50 per cent of the mass lie, from values on a grid and the areas
    of its cells."""
    values = height if opposite is None else np.concatenate([height, opposite])
    cells = area if opposite is None else np.concatenate([area, area])
    order = np.argsort(-values)
    share = np.cumsum(values[order] * cells[order])
    found = [float(values[order][np.searchsorted(share, q * share[-1])]) for q in INSIDE]
    return sorted(set(found))


def on_torus(model: Any) -> Figure:
    """Return a scatter plot of both angles, from -pi to pi about their means, so that no cluster is cut in two."""
    figure, axes = new_figure(1, 1, size=(4.2, 4.0))
    middle = model.estimate_["mean_angle"]
    angles = np.arctan2(model.x_[..., 1], model.x_[..., 0])
    angles = middle + np.angle(np.exp(1j * (angles - middle)))
    axes[0, 0].scatter(*angles.T, s=5, color=BLUE, alpha=0.6, linewidths=0)
    side = np.linspace(-np.pi, np.pi, GRID)
    u, v = np.meshgrid(middle[0] + side, middle[1] + side)
    height = np.exp(model.score_samples(np.stack([np.mod(u, 2 * np.pi).ravel(), np.mod(v, 2 * np.pi).ravel()], axis=1)))
    levels = highest_density_levels(height, np.ones_like(height))
    axes[0, 0].contour(u, v, height.reshape(u.shape), levels=levels, colors=ORANGE, linewidths=0.9)
    axes[0, 0].plot(*middle, "x", color=ORANGE, markersize=7)
    axes[0, 0].set(xlabel="first angle", ylabel="second angle", aspect="equal")
    return figure
