"""Directions and angles as the user has them: unit vectors in rows, or angles in radians.

What is not a direction is refused, with its row and by how much it is off; a row that is off the sphere by rounding is
normalised.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from orthodrome.core.types import Reals
from orthodrome.errors import BadInput

TOLERANCE = 1e-3
"""The deviation from length one up to which a row counts as a unit vector written with few digits."""
FAR = 0.05
"""If half of the rows are this far from length one they are no unit vectors at all."""
LARGEST_ANGLE = 4 * np.pi
"""The angle in radians beyond which data are most likely in degrees."""


def read_directions(data: Any) -> Reals:
    """Return unit vectors (n, d), from such rows or from angles (n,) on the circle."""
    x = numbers(data)
    if x.ndim == 1:
        return on_circle(radians(x))
    if x.ndim != 2 or x.shape[1] < 2:
        raise BadInput(
            f"the data has the shape {x.shape}; give unit vectors in rows (n, d), d >= 2, or n angles in radians"
        )
    length = np.linalg.norm(x, axis=1)
    off = np.abs(length - 1)
    row = int(np.argmax(off))
    if np.median(off) > FAR:
        raise BadInput(
            f"rows of {x.shape[1]} numbers are taken as unit vectors, but their lengths are {length.min():.3g} to "
            f"{length.max():.3g}; if these are angles, give them as n numbers (one angle each), or two a row to the "
            "laws 'sine' and 'cosine'; if they are vectors of which only the direction matters, divide by their lengths"
        )
    if off[row] > TOLERANCE:
        raise BadInput(
            f"row {row} has the length {length[row]:.6g}: off the unit sphere by {off[row]:.1e} (tolerance "
            f"{TOLERANCE:.0e}); divide rows by their lengths if only the directions matter"
        )
    return x / length[:, None]


def read_torus(data: Any) -> Reals:
    """Return pairs of unit vectors (n, 2, 2), from pairs of angles (n, 2)."""
    angles = numbers(data)
    if angles.ndim != 2 or angles.shape[1] != 2:
        raise BadInput(f"the data has the shape {angles.shape}; give two angles per row (n, 2), in radians")
    return on_circle(radians(angles))


def read_rotations(data: Any) -> Reals:
    """Return rotation matrices (n, 3, 3), replaced by their polar factors."""
    x = numbers(data)
    if x.ndim != 3 or x.shape[1:] != (3, 3):
        raise BadInput(f"the data has the shape {x.shape}; give 3 x 3 rotation matrices (n, 3, 3)")
    off = np.max(np.abs(np.swapaxes(x, 1, 2) @ x - np.eye(3)), axis=(1, 2))
    row = int(np.argmax(off))
    if off[row] > TOLERANCE:
        raise BadInput(f"row {row} is not a rotation: X'X differs from I by {off[row]:.1e} (tolerance {TOLERANCE:.0e})")
    if (mirrored := np.linalg.det(x) < 0).any():
        raise BadInput(f"row {int(np.argmax(mirrored))} has determinant -1: it is a reflection, not a rotation")
    u, _, vt = np.linalg.svd(x)
    return u @ vt


def numbers(data: Any) -> Reals:
    """Return the data as an array of finite numbers, or raise."""
    try:
        x = np.asarray(data, float)
    except (TypeError, ValueError):
        raise BadInput("the data is not a table of numbers") from None
    if x.size == 0 or x.ndim == 0:
        raise BadInput(f"the data has the shape {x.shape}; it contains no rows")
    bad = np.argwhere(~np.isfinite(x))
    if len(bad):
        raise BadInput(f"row {bad[0][0]} contains {x[tuple(bad[0])]} ({len(bad)} such number(s) in total)")
    return x


def radians(angles: Reals) -> Reals:
    """Return the angles, or raise if they are too large to be in radians."""
    where = np.unravel_index(int(np.argmax(np.abs(angles))), angles.shape)
    if abs(angles[where]) > LARGEST_ANGLE:
        raise BadInput(
            f"row {where[0]} has the angle {angles[where]:.6g}, beyond 4 pi; angles are in radians: np.radians(degrees)"
        )
    return angles


def on_circle(angles: Reals) -> Reals:
    """Return angles as unit vectors along a new last axis."""
    return np.stack([np.cos(angles), np.sin(angles)], axis=-1)


def check_spread(x: Reals) -> None:
    """Raise if all rows are one point, in at least one angle: the concentration would be infinite."""
    if np.any(np.max(np.abs(x - x[:1]), axis=(0, -1)) < 1e-9):
        raise BadInput(f"all {len(x)} rows are the same direction: its concentration would be infinite")
