"""Exact draws of normal and Gamma numbers, one at a time, for the elements that a vectorised loop leaves over.

Gamma numbers by Marsaglia & Tsang (2000): d v with d = shape - 1/3 and v = (1 + x / sqrt(9 d))^3, x normal, accepted if
log U < x^2 / 2 + d (1 - v + log v).
"""

from __future__ import annotations

import math

from numba import njit

from orthodrome.kernels.elementary import direction, log
from orthodrome.kernels.generator import OPTIONS, uniform, word


@njit(**OPTIONS)
def normal(stream):  # type: ignore[no-untyped-def]
    """Draw a standard normal number by Box-Muller."""
    radius = math.sqrt(-2.0 * log(uniform(word(stream))))
    return radius * direction(word(stream))[0]


@njit(**OPTIONS)
def gamma_accepted(x, v, d, coin):  # type: ignore[no-untyped-def]
    """Return whether Marsaglia & Tsang's test accepts d v, v = (1 + x / sqrt(9 d))^3 > 0, from the normal x and a
    uniform coin."""
    if coin < 1.0 - 0.0331 * x * x * x * x:
        return True
    return log(coin) < 0.5 * x * x + d * (1.0 - v + log(v))


@njit(**OPTIONS)
def gamma(stream, shape):  # type: ignore[no-untyped-def]
    """Draw from Gamma(shape, 1), shape >= 1."""
    d = shape - 1.0 / 3.0
    scale = 1.0 / math.sqrt(9.0 * d)
    while True:
        x = normal(stream)
        t = 1.0 + scale * x
        v = t * t * t
        if v > 0.0 and gamma_accepted(x, v, d, uniform(word(stream))):
            return d * v
