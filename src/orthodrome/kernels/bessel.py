"""The Bessel ratio and the constant of von Mises-Fisher as plain numbers in float64, for loops outside JAX.

The method is that of `orthodrome.special` (Debye's expansion twenty orders up, then the recurrence down), against which
a test compares it; one call takes a microsecond or two, and any order above -1 and any argument are safe.

    A_V(k) = I_{V/2}(k) / I_{V/2-1}(k),        log c_V(k) = (V/2 - 1) log k - (V/2) log 2 pi - log I_{V/2-1}(k)
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import njit

from orthodrome.special.bessel import DEBYE_U, DEBYE_W, SHIFT

PLAIN: dict[str, Any] = {"cache": True, "error_model": "numpy"}
"""How numba compiles here: without fused multiply-adds, so that the numbers are those of Python's own arithmetic."""
TERMS = len(DEBYE_U)


def _table(polynomials: list[list[float]]) -> np.ndarray:
    """Return the coefficients as a square array, zeros above the degree of each polynomial."""
    return np.array([row + [0.0] * (TERMS - len(row)) for row in polynomials])


_U, _W = _table(DEBYE_U), _table(DEBYE_W)


@njit(**PLAIN)
def _sum(table, t, m):  # type: ignore[no-untyped-def]
    """Return the sum over k of p_k(t^2) (t / m)^k, the p_k being the rows of a table: Horner's scheme, twice."""
    total = 0.0
    for k in range(TERMS - 1, -1, -1):
        value = 0.0
        for j in range(k, -1, -1):
            value = value * (t * t) + table[k, j]
        total = total * (t / m) + value
    return total


@njit(**PLAIN)
def _descend(order, x):  # type: ignore[no-untyped-def]
    """Return the ratio at `order`, and the increment of log 0F1 from the recurrence down."""
    m = order + SHIFT
    z = x / m
    s = math.sqrt(1 + z * z)
    u, w = _sum(_U, 1 / s, m), _sum(_W, 1 / s, m)
    ratio, gained = z / (1 + s) - z * w / (s * s * m * u), 0.0
    for k in range(SHIFT, 0, -1):
        twice = 2 * (order + k)
        gained += math.log1p(x * ratio / twice)
        ratio = x / (twice + x * ratio)
    return ratio, gained


def mean_length(dimension: int, concentration: float) -> float:
    """Return A_V(k), the mean resultant length of von Mises-Fisher."""
    return float(_descend(dimension / 2 - 1, float(concentration))[0])


def concentration_of(dimension: int, length: float) -> float:
    """Return the k with A_V(k) = length, from 0 to 1: Newton's method with A' = 1 - A^2 - (V - 1) A / k."""
    k = dimension * length / (1 - length * length)
    for _ in range(8):
        a = mean_length(dimension, k)
        k = max(k / 10, k - (a - length) / (1 - a * a - (dimension - 1) * a / k))
    return k


def log_constant(dimension: int, concentration: float) -> float:
    """Return log c_V(k), with respect to the surface measure of the sphere in R^V: -log area - log E exp(k u_1)."""
    order = dimension / 2 - 1
    m = order + SHIFT
    z = concentration / m
    s = math.sqrt(1 + z * z)
    above = z * z / (1 + s)
    tail = math.log(_sum(_U, 1 / s, m) / _sum(_U, 1.0, m))
    relative = m * (above - math.log1p(above / 2)) - math.log(s) / 2 + tail + _descend(order, float(concentration))[1]
    area = math.log(2) + dimension / 2 * math.log(math.pi) - math.lgamma(dimension / 2)
    return float(-area - relative)
