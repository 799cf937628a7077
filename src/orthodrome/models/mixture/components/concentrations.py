"""The concentration of von Mises-Fisher given directions: quadrature, and draws.

With the mean direction uniform on the sphere and integrated out, n unit vectors whose sum has the length r say about
the concentration k = exp(t), of which t is uniform on an interval,

    log g(t) = n log c(k) - log c(k r) + log c(0),

c being the constant of von Mises-Fisher. The integral of g over the interval is a sum of trapezoids over two grids, one
over all of the interval and one of some standard deviations around the mode; the density between two points of the
grid is taken as linear when t is drawn.
"""

from __future__ import annotations

import numpy as np

from orthodrome.core.types import Reals
from orthodrome.kernels.bessel_arrays import log_constants

COARSE, FINE, REACH, ZOOMS = 81, 161, 10.0, 5
"""Points of the grids, standard deviations of the second one, and refinements of the mode."""


def log_evidence(dimension: int, t: Reals, n: Reals, r: Reals) -> Reals:
    """Return log g at t, (lines, points); n and r: one for each line."""
    k = np.exp(t)
    one, many = log_constants(dimension, k), log_constants(dimension, k * r[:, None])
    return n[:, None] * one - many + log_constants(dimension, np.zeros(()))


def grids(dimension: int, interval: tuple[float, float], n: Reals, r: Reals) -> tuple[Reals, Reals]:
    """Return the points in ascending order, and log g there."""
    low, high = interval
    base = np.broadcast_to(np.linspace(low, high, COARSE), (n.shape[0], COARSE))
    heights = log_evidence(dimension, base, n, r)
    gap = (high - low) / (COARSE - 1)
    mode, curvature = _mode(dimension, interval, n, r, base, heights, gap)
    spread = np.minimum(1 / np.sqrt(np.maximum(curvature, 1e-12)), high - low)
    ends = np.clip(mode[:, None] + spread[:, None] * np.array([-REACH, REACH]), low, high)
    near = ends[:, :1] + (ends[:, 1:] - ends[:, :1]) * np.linspace(0, 1, FINE)
    points = np.concatenate([base, near], axis=1)
    values = np.concatenate([heights, log_evidence(dimension, near, n, r)], axis=1)
    order = np.argsort(points, axis=1, kind="stable")
    return np.take_along_axis(points, order, 1), np.take_along_axis(values, order, 1)


def _mode(dimension, interval, n, r, points, heights, gap):  # type: ignore[no-untyped-def]
    """Return where log g is largest, by ever finer grids, and minus its second derivative there."""
    lines = np.arange(n.shape[0])
    for _ in range(ZOOMS):
        best = points[lines, heights.argmax(axis=1)]
        points = np.clip(best[:, None] + gap * np.linspace(-1, 1, 9), *interval)
        heights = log_evidence(dimension, points, n, r)
        gap /= 4
    best = points[lines, heights.argmax(axis=1)]
    around = log_evidence(dimension, best[:, None] + WIDTH * np.array([-1.0, 0.0, 1.0]), n, r)
    return best, (2 * around[:, 1] - around[:, 0] - around[:, 2]) / WIDTH**2


WIDTH = 1e-3
"""The step of the second difference."""


def log_integral(points: Reals, values: Reals) -> Reals:
    """Return log of the mean of g over the interval, for each line."""
    top = values.max(axis=1, keepdims=True)
    area = np.trapezoid(np.exp(values - top), points, axis=1)
    return top[:, 0] + np.log(area / (points[:, -1] - points[:, 0]))


def draw_logs(rng: np.random.Generator, points: Reals, values: Reals) -> Reals:
    """Draw t for each line, by the inverse of the distribution function."""
    g = np.exp(values - values.max(axis=1, keepdims=True))
    areas = np.cumsum((g[:, 1:] + g[:, :-1]) / 2 * np.diff(points, axis=1), axis=1)
    wanted = rng.random(g.shape[0]) * areas[:, -1]
    cell = np.minimum((areas < wanted[:, None]).sum(axis=1), areas.shape[1] - 1)
    lines = np.arange(g.shape[0])
    left = wanted - np.where(cell > 0, areas[lines, cell - 1], 0.0)
    a, b = g[lines, cell], g[lines, cell + 1]
    width = points[lines, cell + 1] - points[lines, cell]
    # the share s of the cell with  width (a s + (b - a) s^2 / 2) = left
    share = left / np.maximum(width, 1e-300)
    s = 2 * share / (a + np.sqrt(np.maximum(a * a + 2 * (b - a) * share, 0.0)))
    return points[lines, cell] + np.clip(s, 0.0, 1.0) * width
