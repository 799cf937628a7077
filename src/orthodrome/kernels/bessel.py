"""The Bessel ratio and the constant of von Mises-Fisher as plain numbers in float64, for loops outside JAX.

The method is that of `orthodrome.special` (Debye's expansion twenty orders up, then the recurrence down), against which
a test compares it; one call takes some microseconds, and any order above -1 and any argument are safe.

    A_V(k) = I_{V/2}(k) / I_{V/2-1}(k),        log c_V(k) = (V/2 - 1) log k - (V/2) log 2 pi - log I_{V/2-1}(k)
"""

from __future__ import annotations

import math

from orthodrome.special.bessel import DEBYE_U, DEBYE_W, SHIFT


def _horner(coefficients: list[float], x: float) -> float:
    value = 0.0
    for c in reversed(coefficients):
        value = value * x + c
    return value


def _sums(t: float, m: float) -> tuple[float, float]:
    """Return the sums of u_k / m^k and of w_k / m^k in Debye's expansion."""
    u, w = ([_horner(row, t * t) for row in table] for table in (DEBYE_U, DEBYE_W))
    return _horner(u, t / m), _horner(w, t / m)


def _descend(order: float, x: float) -> tuple[float, float]:
    """Return the ratio at `order`, and the increment of log 0F1 from the recurrence down."""
    m = order + SHIFT
    z = x / m
    s = math.sqrt(1 + z * z)
    u, w = _sums(1 / s, m)
    ratio, gained = z / (1 + s) - z * w / (s * s * m * u), 0.0
    for k in range(SHIFT, 0, -1):
        twice = 2 * (order + k)
        gained += math.log1p(x * ratio / twice)
        ratio = x / (twice + x * ratio)
    return ratio, gained


def mean_length(dimension: int, concentration: float) -> float:
    """Return A_V(k), the mean resultant length of von Mises-Fisher."""
    return _descend(dimension / 2 - 1, concentration)[0]


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
    tail = math.log(_sums(1 / s, m)[0] / _sums(1.0, m)[0])
    relative = m * (above - math.log1p(above / 2)) - math.log(s) / 2 + tail + _descend(order, concentration)[1]
    area = math.log(2) + dimension / 2 * math.log(math.pi) - math.lgamma(dimension / 2)
    return -area - relative
