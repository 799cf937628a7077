"""Logarithm and exponential of lanes of float32, by polynomials, to a few units in the last place."""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from orthodrome.kernels.lanes import fused, splat
from orthodrome.kernels.vectors.lane_bits import as_bits, as_real, both, either, left, number, plus, right, where_less

OPTIONS = {"cache": True, "error_model": "numpy", "nogil": True}

_MANTISSA, _FROM_HALF, _BIAS = np.uint32(0x7FFFFF), np.uint32(0x3F000000), np.uint32(127)
_LOG2_HIGH, _LOG2_LOW = 0.693359375, math.log(2) - 0.693359375
"""log 2 in two parts, of which whole multiples of the first are exact in float32."""
_ROUND = 1.5 * 2.0**23
"""Added to a small number, it leaves the nearest whole number in the lowest bits."""


@njit(**OPTIONS)
def log(u):  # type: ignore[no-untyped-def]
    """Return the logarithm of positive normal numbers: u = 2^e m, log m = 2 artanh(f), f = (m - 1) / (m + 1)."""
    pattern = as_bits(u)
    m = as_real(either(both(pattern, splat(pattern, _MANTISSA)), splat(pattern, _FROM_HALF)))  # in [1/2, 1)
    edge, one = splat(u, math.sqrt(0.5)), splat(u, 1.0)
    exponent = number(right(pattern, 23)) - where_less(m, edge, splat(u, 127.0), splat(u, 126.0))
    m = where_less(m, edge, m + m, m)
    f = (m - one) / (m + one)  # |f| < 0.172
    s = f * f
    series = fused(splat(u, 2 / 9), s, splat(u, 2 / 7))
    series = fused(series, s, splat(u, 2 / 5))
    series = fused(series, s, splat(u, 2 / 3))
    return fused(exponent, splat(u, math.log(2)), f * fused(s, series, splat(u, 2.0)))


@njit(**OPTIONS)
def exp(x):  # type: ignore[no-untyped-def]
    """Return the exponential of numbers from -87 to 88: 2^n exp(r), |r| <= log(2) / 2."""
    shifted = fused(x, splat(x, 1 / math.log(2)), splat(x, _ROUND))
    n = shifted - splat(x, _ROUND)
    r = fused(n, splat(x, -_LOG2_LOW), fused(n, splat(x, -_LOG2_HIGH), x))
    series = fused(splat(x, 1 / 5040), r, splat(x, 1 / 720))
    series = fused(series, r, splat(x, 1 / 120))
    series = fused(series, r, splat(x, 1 / 24))
    series = fused(series, r, splat(x, 1 / 6))
    series = fused(series, r, splat(x, 1 / 2))
    series = fused(fused(series, r, splat(x, 1.0)), r, splat(x, 1.0))
    whole = as_bits(shifted)
    return series * as_real(left(plus(whole, splat(whole, _BIAS)), 23))
