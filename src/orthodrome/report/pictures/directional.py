"""Directions, axes, angles and rotations: the data, the posterior of the mean, and the predictive density."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from orthodrome.core.types import Reals
from orthodrome.report.packing import packed
from orthodrome.report.pictures.labels import array_of
from orthodrome.report.pictures.sphere import HOURS, Cloud, globe, ring, thinned
from orthodrome.report.section import Section, TableTwin

SPHERE_TEXT = "Shading is the posterior predictive density: where the model expects the next direction."
CIRCLE_TEXT = "The curve is the posterior predictive density around the circle; points are data and draws of the mean."
AXES_TEXT = (
    "The curve is the posterior predictive density around the circle; points are both ends of the data and of the main "
    "axes that were drawn."
)
TORUS_TEXT = (
    "Both angles, cut open half a turn from their means; shading is the posterior predictive density. The left edge "
    "joins the right one, and the lower the upper one."
)
ROTATION_TEXT = "The three columns of every rotation of the data, and those of the drawn modes."
GRID = 80
MOST = 8
"""The largest number of components whose means are drawn."""


def directional(model: Any) -> list[Section]:
    """Return the sections of a fitted `Directional`, by the shape of a row of its data."""
    rows = np.asarray(model.x_, float)
    pictures = {(3,): on_sphere, (2,): on_circle, (2, 2): on_torus, (3, 3): of_rotations}
    picture = pictures.get(rows.shape[1:])
    return [] if picture is None else [picture(model, rows)]


def predictive(model: Any) -> Any:
    """Return the function that gives the predictive density of rows."""
    return lambda rows: np.exp(model.score_samples(rows))


def mean_clouds(model: Any, size: int) -> list[Cloud]:
    """Return the draws of the mean directions, or of the axes where the model has these."""
    posterior = model.draws_["posterior"].dataset
    if "mean" in posterior:
        draws = array_of(posterior["mean"]).reshape(-1, posterior["mean"].size // _draws(posterior) // size, size)
        names = ["mean directions"] if draws.shape[1] == 1 else [f"means of part {k}" for k in range(draws.shape[1])]
        return [Cloud(name, draws[:, k]) for k, name in enumerate(names[:MOST])]
    if "axes" in posterior:
        draws = array_of(posterior["axes"]).reshape(-1, size, size)
        return [Cloud("main axis", draws[:, :, 0], mean=False), Cloud("its other end", -draws[:, :, 0], mean=False)]
    return []


def _draws(posterior: Any) -> int:
    return int(posterior.sizes["chain"] * posterior.sizes["draw"])


def on_sphere(model: Any, rows: Reals) -> Section:
    """Return a globe."""
    clouds = [Cloud("data", rows, mean=False), *mean_clouds(model, 3)]
    return globe("On the sphere", SPHERE_TEXT, clouds, predictive(model))


def on_circle(model: Any, rows: Reals) -> Section:
    """Return a circle."""
    axial = "axes" in model.draws_["posterior"].dataset  # an axis has two ends
    seen = Cloud("both ends of the data", np.concatenate([rows, -rows]), mean=False) if axial else Cloud("data", rows)
    text = AXES_TEXT if axial else CIRCLE_TEXT
    return ring("On the circle", text, [seen, *mean_clouds(model, 2)], predictive(model))


def in_hours(sections: list[Section]) -> list[Section]:
    """Return the sections with circles that are clocks of a day."""
    clock = lambda one: dataclasses.replace(one, data=one.data | {"marks": HOURS})
    return [clock(one) if one.kind == "circle" else one for one in sections]


def on_torus(model: Any, rows: Reals) -> Section:
    """Return both angles in a plane."""
    angles = np.arctan2(rows[..., 1], rows[..., 0])
    middle = np.angle(np.exp(1j * angles).mean(axis=0))
    side = np.linspace(-np.pi, np.pi, GRID)
    u, v = np.meshgrid(middle[0] + side, middle[1] + side)
    points = np.stack([np.mod(u, 2 * np.pi).ravel(), np.mod(v, 2 * np.pi).ravel()], axis=1)
    height = predictive(model)(points).reshape(GRID, GRID)
    near = np.degrees(middle + np.angle(np.exp(1j * (angles - middle))))
    ends = [[float(np.degrees(m - np.pi)), float(np.degrees(m + np.pi))] for m in middle]
    data = {
        "x": "first angle, degrees",
        "y": "second angle, degrees",
        "range": ends,
        "layers": [{"name": "data", "points": packed(thinned(near))}],
        "density": {"name": "predictive density", "grid": packed(height / height.max(), 8)},
    }
    spread = np.degrees(np.sqrt(np.mean(np.angle(np.exp(1j * (angles - middle))) ** 2, axis=0)))
    lines = [[f"angle {k + 1}", np.degrees(middle[k]), spread[k]] for k in range(2)]
    table = TableTwin("The angles of the data, in degrees", ("angle", "circular mean", "spread"), lines)
    return Section("plane", "On the torus", TORUS_TEXT, data, table)


def of_rotations(model: Any, rows: Reals) -> Section:
    """Return a globe with the columns of the rotations."""
    names = ("first", "second", "third")
    clouds = [Cloud(f"data, {name} column", rows[:, :, k]) for k, name in enumerate(names)]
    posterior = model.draws_["posterior"].dataset
    if "mode" in posterior:
        modes = array_of(posterior["mode"]).reshape(-1, 3, 3)
        clouds += [Cloud(f"mode, {name} column", modes[:, :, k], mean=False) for k, name in enumerate(names)]
    return globe("Rotations", ROTATION_TEXT, clouds, None)
