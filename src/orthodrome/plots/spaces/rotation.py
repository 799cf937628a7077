"""The posterior of a rotation of space: where it takes the three axes, and how far draws are from their mean.

The mean rotation is the nearest one to the mean matrix (its polar factor), and the angle between rotations R and S is
arccos((tr R'S - 1) / 2).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.figure import Figure

from orthodrome.core.types import Reals
from orthodrome.plots.drawn import COLOURS, parameter, pooled, require, thinned
from orthodrome.plots.globe import globe, scatter, view
from orthodrome.plots.style import BLUE, new_figure


def plot_rotations(draws: Any, name: str | None = None, copy: int = 0) -> Figure:
    """Return a figure with two globes, on which the images of the three axes lie, and a histogram of angles.

    draws: of `sample` or a fitted model; name: the parameter, 3 x 3 matrices; None: the only one
    copy: which, if there are several
    """
    name, values = parameter(draws, name)
    require(values.ndim >= 4 and values.shape[-2:] == (3, 3), name, values, "3 x 3 rotations")
    rotations = pooled(values, 2)[:, copy]
    mean = mean_rotation(rotations)
    figure, axes = new_figure(1, 3, size=(9.6, 3.4))
    towards = mean @ np.array([1.0, 1.0, 1.0])
    for panel, eye, title in ((axes[0, 0], towards, "front"), (axes[0, 1], -towards, "back")):
        camera = view(eye)
        globe(panel, camera)
        for axis, colour in enumerate(COLOURS[:3]):
            scatter(panel, camera, thinned(rotations[:, :, axis]), s=5, alpha=0.35, linewidths=0, color=colour)
            end = mean[:, axis] @ camera.T
            if end[2] > 0:
                panel.text(end[0], end[1], f"{'xyz'[axis]}", fontsize=11, weight="bold", color="black")
        panel.set_title(f"{name}: images of the axes, {title}")
    axes[0, 2].hist(np.degrees(angles(rotations, mean)), bins=40, density=True, color=BLUE, alpha=0.7)
    axes[0, 2].set(xlabel="angle from the mean rotation, degrees", yticks=(), xlim=(0, None))
    return figure


def mean_rotation(rotations: Reals) -> Reals:
    """Return the orthogonal matrix nearest to the mean, with the sign of the determinant that the draws have."""
    left, _, right = np.linalg.svd(rotations.mean(axis=0))
    sign = np.sign(np.linalg.det(rotations[0])) * np.sign(np.linalg.det(left @ right))
    return left @ np.diag([1.0, 1.0, sign]) @ right


def angles(rotations: Reals, mean: Reals) -> Reals:
    """Return the angles between rotations and their mean, in radians."""
    trace = np.einsum("nij,ij->n", rotations, mean)
    return np.arccos(np.clip((trace - 1) / 2, -1, 1))
