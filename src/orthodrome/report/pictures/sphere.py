"""The sphere in three dimensions and the circle: draws, data, and a density to see where they are dense.

The density of draws is a kernel estimate with von Mises-Fisher kernels whose concentration is n^(1/3) times that of the
draws (Hall, Watson & Cabrera 1987: the bandwidth falls with n^(-1/6) on the sphere), at most what the grid resolves. A
fitted model gives its posterior predictive density instead.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from orthodrome.core.types import Reals
from orthodrome.report.packing import packed
from orthodrome.report.section import Section, TableTwin

POINTS = 800
"""The largest number of points of one kind."""
POLAR, AROUND = 60, 120
"""The grid of the density: rows of equal colatitude, columns of equal longitude."""
ANGLES = 180
"""The grid of the density on the circle."""
DEGREES, HOURS = ("0°", "90°", "180°", "270°"), ("0 h", "6 h", "12 h", "18 h")
"""What the quarters of a circle are called, from its right side against the clock."""
FINEST = 400.0
"""The largest concentration of a kernel that the grid resolves."""


class Cloud(NamedTuple):
    """Points of one kind: their name and unit vectors (n, 2) or (n, 3); mean: whether to mark the mean direction."""

    name: str
    points: Reals
    mean: bool = True


def globe(title: str, text: str, clouds: Sequence[Cloud], density: Callable[[Reals], Reals] | None) -> Section:
    """Return a globe with clouds of points; density: of rows, by default that of the first cloud's draws."""
    known = density or kernel_density(clouds[0].points)
    name = "predictive density" if density else f"density of {clouds[0].name}"
    values = known(grid_points()).reshape(POLAR, AROUND)
    layers = [{"name": one.name, "points": packed(thinned(one.points)), "mean": mean_of(one)} for one in clouds]
    view = direction(clouds[0].points) if resultant(clouds[0].points) > 0.05 else np.array([0.6, 0.6, 0.53])
    data = {"layers": layers, "density": {"name": name, "grid": packed(values / values.max(), 8)}, "view": view}
    return Section("sphere", title, text, data, table(clouds))


def ring(title: str, text: str, clouds: Sequence[Cloud], density: Callable[[Reals], Reals] | None) -> Section:
    """Return a circle with clouds of points on it."""
    turn = 2 * np.pi * np.arange(ANGLES) / ANGLES
    known = density or kernel_density(clouds[0].points)
    values = known(np.stack([np.cos(turn), np.sin(turn)], axis=-1))
    name = "predictive density" if density else f"density of {clouds[0].name}"
    layers = [{"name": one.name, "angles": packed(angles(thinned(one.points)))} for one in clouds]
    data = {"layers": layers, "density": {"name": name, "values": values / values.max()}, "marks": DEGREES}
    return Section("circle", title, text, data, table(clouds))


def table(clouds: Sequence[Cloud]) -> TableTwin:
    """Return the mean directions, how concentrated the points are, and the angles within which most of them lie."""
    size = clouds[0].points.shape[1]
    head = ("points", "number", *("xyz"[:size]), "resultant length", "half within, degrees", "90 % within, degrees")
    rows: list[list[Any]] = []
    for one in clouds:
        towards = direction(one.points)
        away = np.degrees(np.arccos(np.clip(one.points @ towards, -1, 1)))
        row = [one.name, len(one.points), *towards, resultant(one.points), *np.quantile(away, (0.5, 0.9))]
        rows.append(row)
    return TableTwin("Mean directions, and the angles from them within which points lie", head, rows)


def grid_points() -> Reals:
    """Return unit vectors at the centres of the cells of the grid."""
    polar = np.pi * (np.arange(POLAR) + 0.5) / POLAR
    around = 2 * np.pi * (np.arange(AROUND) + 0.5) / AROUND - np.pi
    t, p = np.meshgrid(polar, around, indexing="ij")
    return np.stack([np.sin(t) * np.cos(p), np.sin(t) * np.sin(p), np.cos(t)], axis=-1).reshape(-1, 3)


def kernel_density(points: Reals) -> Callable[[Reals], Reals]:
    """Return the kernel density estimate of unit vectors, up to a constant."""
    some = thinned(points)
    length, size = resultant(points), points.shape[1]
    own = length * (size - length**2) / max(1 - length**2, 1e-6)
    kappa = float(np.clip(own * len(some) ** (1 / 3), 10.0, FINEST))
    return lambda rows: np.exp(kappa * (rows @ some.T - 1)).mean(axis=1)


def thinned(points: Reals) -> Reals:
    """Return at most `POINTS` points, evenly spaced."""
    return points[np.unique(np.linspace(0, len(points) - 1, min(POINTS, len(points))).astype(int))]


def direction(points: Reals) -> Reals:
    """Return the mean direction of unit vectors."""
    mean = points.mean(axis=0)
    return mean / max(np.linalg.norm(mean), 1e-300)


def resultant(points: Reals) -> float:
    """Return the length of the mean of unit vectors."""
    return float(np.linalg.norm(points.mean(axis=0)))


def mean_of(cloud: Cloud) -> Reals | None:
    """Return the mean direction that is marked, if any."""
    return direction(cloud.points) if cloud.mean else None


def angles(points: Reals) -> Reals:
    """Return the angles of points on the circle."""
    return np.arctan2(points[:, 1], points[:, 0])
