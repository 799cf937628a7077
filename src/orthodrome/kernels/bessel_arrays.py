"""The constant of von Mises-Fisher and the Bessel ratio for arrays of concentrations, in float64 and compiled.

The method is that of `kernels.bessel`, which serves single numbers outside compiled code, and of `orthodrome.special`;
the product of the recurrence's factors has one logarithm at its end.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit
from numpy.typing import NDArray

from orthodrome.kernels.generator import OPTIONS
from orthodrome.special.bessel import DEBYE_U, DEBYE_W, SHIFT

Numbers = NDArray[np.float64]


def _table(rows: list[list[float]]) -> Numbers:
    """Return ragged rows of coefficients as a matrix."""
    found = np.zeros((len(rows), max(map(len, rows))))
    for i, row in enumerate(rows):
        found[i, : len(row)] = row
    return found


_U, _W, _SHIFT = _table(DEBYE_U), _table(DEBYE_W), SHIFT


@njit(**OPTIONS)
def _sum(table, t, m):  # type: ignore[no-untyped-def]
    """Return the sum of table_k(t) / m^k in Debye's expansion."""
    value, square = 0.0, t * t
    for k in range(table.shape[0] - 1, -1, -1):
        inner = 0.0
        for j in range(k, -1, -1):
            inner = inner * square + table[k, j]
        value = value * (t / m) + inner
    return value


@njit(**OPTIONS)
def _descended(order, x):  # type: ignore[no-untyped-def]
    """Return the ratio at `order`, and the increment of log 0F1 from the recurrence down."""
    m = order + _SHIFT
    z = x / m
    s = math.sqrt(1 + z * z)
    ratio, product = z / (1 + s) - z * _sum(_W, 1 / s, m) / (s * s * m * _sum(_U, 1 / s, m)), 1.0
    for k in range(_SHIFT, 0, -1):
        twice = 2 * (order + k)
        product *= 1 + x * ratio / twice
        ratio = x / (twice + x * ratio)
    return ratio, math.log(product)


@njit(**OPTIONS)
def _fill_lengths(dimension, k, found):  # type: ignore[no-untyped-def]
    for i in range(k.shape[0]):
        found[i] = _descended(dimension / 2 - 1, k[i])[0]


@njit(**OPTIONS)
def _fill_constants(dimension, k, found):  # type: ignore[no-untyped-def]
    order = dimension / 2 - 1
    m = order + _SHIFT
    last = _sum(_U, 1.0, m)
    area = math.log(2.0) + dimension / 2 * math.log(math.pi) - math.lgamma(dimension / 2)
    for i in range(k.shape[0]):
        z = k[i] / m
        s = math.sqrt(1 + z * z)
        above = z * z / (1 + s)
        top = m * (above - math.log1p(above / 2)) - math.log(s) / 2 + math.log(_sum(_U, 1 / s, m) / last)
        found[i] = -area - top - _descended(order, k[i])[1]


def mean_lengths(dimension: int, concentrations: Numbers) -> Numbers:
    """Return A_V(k) = I_{V/2}(k) / I_{V/2-1}(k), the mean resultant lengths of von Mises-Fisher."""
    k = np.asarray(concentrations, np.float64)
    found = np.empty(k.size)
    _fill_lengths(float(dimension), np.ascontiguousarray(k).reshape(-1), found)
    return found.reshape(k.shape)


def log_constants(dimension: int, concentrations: Numbers) -> Numbers:
    """Return log c_V(k), with respect to the surface measure of the sphere in R^V."""
    k = np.asarray(concentrations, np.float64)
    found = np.empty(k.size)
    _fill_constants(float(dimension), np.ascontiguousarray(k).reshape(-1), found)
    return found.reshape(k.shape)
