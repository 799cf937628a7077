"""Standard normal numbers for compiled loops, by Box and Muller's method on lanes of eight.

Two words of sfc32 (`streams`) make a pair: u in (0, 1) of 31 bits and an angle of 32,

    radius = sqrt(-2 log u),     (radius cos, radius sin),

with polynomials for the logarithm and for the circle on an eighth of it either side of 0 (relative error 2e-7), the
rest by two bits that swap and sign. The numbers are float32; |z| < 6.7.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from orthodrome.kernels.lanes import fused, load, root, splat, store
from orthodrome.kernels.vectors.elementary import OPTIONS, log
from orthodrome.kernels.vectors.lane_bits import (
    as_bits,
    as_real,
    both,
    differ,
    either,
    left,
    number,
    plus,
    right,
    where_set,
)

_SWAP, _SIGN, _FRACTION, _ONE = np.uint32(1 << 30), np.uint32(1 << 31), np.uint32((1 << 30) - 1), np.uint32(1)


@njit(**OPTIONS)
def _advanced(a, b, c, count):  # type: ignore[no-untyped-def]
    """Return the four numbers of the next state of sfc32, and 32 random bits, in every lane."""
    found = plus(plus(a, b), count)
    turned = plus(either(left(c, 21), right(c, 11)), found)
    return differ(b, right(b, 9)), plus(c, left(c, 3)), turned, plus(count, splat(a, _ONE)), found


@njit(**OPTIONS)
def _pair(bits, turn):  # type: ignore[no-untyped-def]
    """Return two independent standard normals from two random words, in every lane."""
    whole = number(right(bits, 1))
    radius = root(splat(whole, -2.0) * log(fused(whole, splat(whole, 2.0**-31), splat(whole, 2.0**-32))))
    fraction = number(both(turn, splat(turn, _FRACTION)))
    angle = fused(fraction, splat(whole, math.pi * 2.0**-31), splat(whole, -math.pi / 4))
    s, one = angle * angle, splat(whole, 1.0)
    sine = fused(splat(whole, -1 / 5040), s, splat(whole, 1 / 120))
    sine = angle * fused(fused(sine, s, splat(whole, -1 / 6)), s, one)
    cosine = fused(splat(whole, 1 / 40320), s, splat(whole, -1 / 720))
    cosine = fused(cosine, s, splat(whole, 1 / 24))
    cosine = fused(fused(cosine, s, splat(whole, -0.5)), s, one)
    cosine = as_real(differ(as_bits(cosine), both(turn, splat(turn, _SIGN))))
    swap = both(turn, splat(turn, _SWAP))
    return radius * where_set(swap, sine, cosine), radius * where_set(swap, cosine, sine)


@njit(**OPTIONS)
def fill_normals(state, out):  # type: ignore[no-untyped-def]
    """Fill all rows (an even number) of `out`, (rows, LANES) float32, with standard normals; state: (4, LANES)."""
    a, b, c, count = load(state, 0), load(state, 1), load(state, 2), load(state, 3)
    for row in range(0, out.shape[0], 2):
        a, b, c, count, bits = _advanced(a, b, c, count)
        a, b, c, count, turn = _advanced(a, b, c, count)
        first, second = _pair(bits, turn)
        store(out, row, first)
        store(out, row + 1, second)
    store(state, 0, a)
    store(state, 1, b)
    store(state, 2, c)
    store(state, 3, count)
