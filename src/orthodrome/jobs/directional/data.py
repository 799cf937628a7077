"""Directions as people have them, from columns of a CSV file: angles, latitude and longitude, vectors, axes, pairs.

    angle                   (cos a, sin a)
    latitude, longitude     (cos b cos l, cos b sin l, sin b)

Declination and inclination of palaeomagnetists are longitude and latitude: x to the north, y to the east, z down.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np

from orthodrome.errors import BadInput
from orthodrome.jobs.cells import Cells, check_once, numbers, read_cells
from orthodrome.jobs.directional.job import DirectionalJob

LATITUDES = ("lat", "latitude", "inc", "inclination")
LONGITUDES = ("lon", "lng", "long", "longitude", "dec", "declination")
WIDTHS = {"angles": (1,), "latlon": (2,), "vectors": None, "axes": None, "torus": (2,)}
"""The numbers of columns of each kind, if not any."""
FEWEST = 3
TURNS = 100.0
"""An angle of more turns than this is no angle."""


class DirectionRows(NamedTuple):
    """The data of a fit: the columns that were read, and rows of numbers as the model takes them."""

    columns: list[str]
    rows: list[list[float]]

    def values(self, kind: str) -> np.ndarray:
        """Return the rows as the model takes them: angles as a line of numbers, anything else as a matrix."""
        found = np.array(self.rows, float)
        return found[:, 0] if kind == "angles" else found


def read_directions(job: DirectionalJob, path: Path) -> DirectionRows:
    """Return the rows of a file, checked."""
    columns = job.columns if job.columns is not None else found_columns(job, path)
    cells = read_cells(path, job.encoding, columns, None)
    check_width(job, cells, path)
    check_once(cells.columns, path)
    remedy = "say the columns with --columns"
    table = numbers(cells.texts, cells.columns, cells.at, path, remedy)
    if len(table) < FEWEST:
        raise BadInput(f"{path} has {len(table)} rows: too few for a distribution of directions")
    return DirectionRows(list(cells.columns), converted(job, table, cells, path).tolist())


def found_columns(job: DirectionalJob, path: Path) -> str | None:
    """Return the columns of latitude and longitude by their names, so that their order in the file does not matter."""
    if job.kind != "latlon":
        return None
    head = read_cells(path, job.encoding, None, None).columns
    chosen = [
        [name for name in head if any(name.lower() == word or name.lower().startswith(f"{word}_") for word in words)]
        for words in (LATITUDES, LONGITUDES)
    ]
    if any(len(names) != 1 for names in chosen) or any('"' in name or "," in name for [name] in chosen):
        there = ", ".join(map(repr, head[:12]))
        raise BadInput(
            f"{path}: which column is the latitude, and which the longitude? say --columns LAT,LON of {there}"
        )
    return ",".join(name for [name] in chosen)


def check_width(job: DirectionalJob, cells: Cells, path: Path) -> None:
    """Raise if there are more or fewer columns than the kind has."""
    width, wanted = len(cells.columns), WIDTHS[job.kind]
    if (wanted is not None and width not in wanted) or (wanted is None and not 1 + (job.kind == "vectors") <= width):
        many = {"angles": "one column", "latlon": "two columns, latitude and longitude", "torus": "two columns"}
        names = ", ".join(map(repr, cells.columns[:12]))
        text = f"{path}: --kind {job.kind} takes {many.get(job.kind, 'at least two columns')}; there is {names}"
        raise BadInput(f"{text}: choose with --columns")


def converted(job: DirectionalJob, table: np.ndarray, cells: Cells, path: Path) -> np.ndarray:
    """Return rows as the model takes them: angles in radians, anything else as unit vectors."""
    width = table.shape[1]
    vectors = job.kind == "vectors" or (job.kind == "axes" and width > 2)
    if vectors:
        return unit_vectors(job, table, cells, path)
    if job.units is not None or job.kind == "latlon":
        table = table * job.unit
    far = np.flatnonzero((np.abs(table) > 2 * np.pi * TURNS).any(axis=1))
    if far.size:
        value = table[far[0]][int(np.argmax(np.abs(table[far[0]])))] / job.unit
        raise BadInput(f"{path}, line {cells.at[far[0]]}: {value:g} is no angle: it is more than {TURNS:g} turns")
    if job.kind == "latlon" or (job.kind == "axes" and width == 2):
        return on_sphere(table, cells, path)
    angles = np.mod(table, 2 * np.pi) if job.units is not None else table
    return np.concatenate([np.cos(angles), np.sin(angles)], axis=1) if job.kind == "axes" else angles


def unit_vectors(job: DirectionalJob, table: np.ndarray, cells: Cells, path: Path) -> np.ndarray:
    """Return vectors, divided by their lengths if the job asks for it."""
    if not job.normalize:
        return table
    lengths = np.linalg.norm(table, axis=1)
    zero = np.flatnonzero(~((lengths > 0) & np.isfinite(lengths)))
    if zero.size:
        raise BadInput(f"{path}, line {cells.at[zero[0]]}: a vector of length {lengths[zero[0]]:g} has no direction")
    return table / lengths[:, None]


def on_sphere(angles: np.ndarray, cells: Cells, path: Path) -> np.ndarray:
    """Return latitudes and longitudes in radians as unit vectors."""
    latitude, longitude = angles.T
    bad = np.flatnonzero(np.abs(latitude) > np.pi / 2 + 1e-6)
    if bad.size:
        raise BadInput(
            f"{path}, line {cells.at[bad[0]]}: the latitude {cells.texts[bad[0]][0][:40]} is beyond the pole; is "
            f"{cells.columns[0]!r} the latitude (--columns LAT,LON), and are the --units right?"
        )
    flat = np.cos(latitude)
    return np.stack([flat * np.cos(longitude), flat * np.sin(longitude), np.sin(latitude)], axis=1)
