"""Frames and rotations: the columns with credible bands, and for rotations of space where they point on the sphere.

The sign of a frame's column is arbitrary where only its span is identified. A column whose draws point to two opposite
sides, and hardly anywhere between them, is turned to the side of the last draw. All others, and those of rotations, are
left as they are: turned draws of a law that knows the sign would have intervals that are not its own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from orthodrome.core.display import short
from orthodrome.core.types import Reals
from orthodrome.report.pictures.labels import array_of, axis_texts
from orthodrome.report.pictures.sphere import Cloud, globe
from orthodrome.report.pictures.summaries import LEVELS, MOST
from orthodrome.report.section import Section, TableTwin

if TYPE_CHECKING:
    import xarray

FRAME_TEXT = (
    "One column of the frame at a time: dots are means, thick lines hold half of the draws and thin ones 90 per cent."
)
TURNED_TEXT = " Draws of {} point to two opposite sides, and are turned to that of the last draw."
TURNS, BETWEEN, FEW = 5, 0.25, 0.02
"""Turns until the axis is found. Sides are apart if few draws (the last number) lie between them, nearer than a quarter
of the usual distance."""
ROTATION_TEXT = "The three columns of each drawn rotation: where it takes the first, second and third axis of space."


def frame(values: xarray.DataArray) -> Section:
    """Return the columns of a matrix variable with credible bands."""
    draws = array_of(values).reshape(-1, *values.shape[-2:])
    signs = np.stack([one_side(draws[:, :, k]) for k in range(draws.shape[2])], axis=1)
    draws = draws * signs[:, None, :]
    rows, columns = (axis_texts(values, str(dim)) for dim in values.dims[-2:])
    groups = [band(name, draws[:, :, k], rows) for k, name in enumerate(columns)]
    lines = [
        [group["name"], name, mean, bounds[0], bounds[3]]
        for group in groups
        for name, mean, bounds in zip(group["names"], group["mean"], group["bounds"], strict=True)
    ]
    table = TableTwin("Columns with 90 % intervals", ("column", "row", "mean", "5 %", "95 %"), lines)
    turned = [name for name, column in zip(columns, signs.T, strict=True) if np.any(column < 0)]
    text = FRAME_TEXT + (TURNED_TEXT.format(f"column {', '.join(turned)}") if turned else "")
    return Section(
        "intervals", f"Columns of {short(str(values.name))}", text, {"groups": groups, "label": "Column"}, table
    )


def one_side(draws: Reals) -> Reals:
    """Return the signs that turn draws of a column (draw, row) to the side of the last one, or ones.

    Their axis is the fixed point of turning them to the side of their mean.
    """
    axis = draws[-1]
    for _ in range(TURNS):
        axis = np.mean(draws * np.where(draws @ axis < 0, -1.0, 1.0)[:, None], axis=0)
    along = draws @ axis * np.sign(draws[-1] @ axis)
    between = np.mean(np.abs(along) < BETWEEN * np.median(np.abs(along)))
    return np.where((along < 0) & (between <= FEW), -1.0, 1.0)


def band(name: str, draws: Reals, names: list[str]) -> dict[str, Any]:
    """Return the intervals of one column (draw, row), of many rows those farthest from zero."""
    mean = draws.mean(axis=0)
    count = len(names)
    kept = np.arange(count) if count <= MOST else np.sort(np.argsort(-np.abs(mean), kind="stable")[:MOST])
    note = f"the {MOST} of {count:,} rows that are farthest from zero" if count > MOST else ""
    bounds = np.quantile(draws[:, kept], LEVELS, axis=0).T
    return {"name": name, "note": note, "names": [names[k] for k in kept], "mean": mean[kept], "bounds": bounds}


def rotation(values: xarray.DataArray) -> Section:
    """Return the columns of rotations of space on a globe."""
    draws = array_of(values).reshape(-1, 3, 3)
    clouds = [Cloud(f"{name} column", draws[:, :, k]) for k, name in enumerate(("first", "second", "third"))]
    return globe(f"The axes of {short(str(values.name))}", ROTATION_TEXT, clouds, None)
