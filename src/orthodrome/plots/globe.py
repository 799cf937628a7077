"""Points of the sphere in R^3 on a globe: the orthographic projection, as seen from far away."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Circle

from orthodrome.core.types import Reals
from orthodrome.plots.style import GREY


def view(towards: Any) -> Reals:
    """Return the rotation whose rows are right, up and towards the viewer, for a viewer above the point `towards`."""
    eye = np.asarray(towards, float) / np.linalg.norm(towards)
    right = np.cross([0.0, 0.0, 1.0], eye)
    right = right / np.linalg.norm(right) if np.linalg.norm(right) > 1e-9 else np.array([1.0, 0.0, 0.0])
    return np.stack([right, np.cross(eye, right), eye])


def globe(axes: Axes, camera: Reals) -> None:
    """Draw the rim and the lines of longitude and latitude on the near side."""
    axes.add_patch(Circle((0, 0), 1, facecolor="#f5f6f8", edgecolor=GREY, linewidth=0.8))
    turn = np.linspace(0, 2 * np.pi, 181)
    for latitude in np.radians([-60, -30, 0, 30, 60]):
        ring = np.cos(latitude) * np.cos(turn), np.cos(latitude) * np.sin(turn), np.full_like(turn, np.sin(latitude))
        curve(axes, camera, np.stack(ring, axis=-1), color=GREY, linewidth=0.3)
    for longitude in np.radians(np.arange(0, 180, 30)):
        ring = np.cos(longitude) * np.cos(turn), np.sin(longitude) * np.cos(turn), np.sin(turn)
        curve(axes, camera, np.stack(ring, axis=-1), color=GREY, linewidth=0.3)
    axes.set(xlim=(-1.05, 1.05), ylim=(-1.05, 1.05), aspect="equal")
    axes.axis("off")


def curve(axes: Axes, camera: Reals, points: Any, **style: Any) -> None:
    """Draw the part of a line that is on the near side."""
    seen = np.asarray(points, float) @ camera.T
    seen[seen[:, 2] < 0] = np.nan
    axes.plot(seen[:, 0], seen[:, 1], **style)


def scatter(axes: Axes, camera: Reals, points: Any, **style: Any) -> None:
    """Draw the points that are on the near side."""
    seen = np.asarray(points, float) @ camera.T
    near = seen[seen[:, 2] > 0]
    axes.scatter(near[:, 0], near[:, 1], **{"linewidths": 0, "s": 6} | style)
