"""What the dense part of the gradient adds to the velocity, of some words and topics whose sums stay in registers.

    push = drift m + share memory + x matrix

Four words by twenty-four topics at a time, where there are as many: each look-up of x serves all of them and each of
the matrix four words, so that multiplications, not look-ups, take the time. Twenty-four are sixteen and eight, one
register of 512 bits and one of 256, or three of 256. Eight words by eight topics for the rest.
"""

from __future__ import annotations

from numba import njit

from orthodrome.kernels.lanes import LANES, fused, splat
from orthodrome.kernels.vectors.eights import eight, first_eight, read, read_sixteen, spread, spread_sixteen
from orthodrome.models.sam.kernels.density import OPTIONS


@njit(forceinline=True, **OPTIONS)
def wide(array, place):  # type: ignore[no-untyped-def]
    """Return the twenty-four numbers of an array from a place on, sixteen and eight."""
    return read_sixteen(array, place), read(array, place + LANES)


@njit(forceinline=True, **OPTIONS)
def _spread(array, place):  # type: ignore[no-untyped-def]
    found = spread_sixteen(array, place)
    return found, first_eight(found)


@njit(forceinline=True, **OPTIONS)
def _times(a, b):  # type: ignore[no-untyped-def]
    return a[0] * b[0], a[1] * b[1]


@njit(forceinline=True, **OPTIONS)
def _fused(a, b, c):  # type: ignore[no-untyped-def]
    """Return a b + c."""
    return fused(a[0], b[0], c[0]), fused(a[1], b[1], c[1])


@njit(forceinline=True, **OPTIONS)
def four_words(x, size, matrix, at, mean, drift, linear, share, word):  # type: ignore[no-untyped-def]
    """Return the pushes of twenty-four topics in four words."""
    width = x.shape[1]
    centre, p = wide(drift, at), word * width
    s0, s1 = _times(_spread(mean, word), centre), _times(_spread(mean, word + 1), centre)
    s2, s3 = _times(_spread(mean, word + 2), centre), _times(_spread(mean, word + 3), centre)
    if linear.shape[0] > 0:
        factor, q = (splat(x, share), eight(x, share)), p + at
        s0, s1 = _fused(factor, wide(linear, q), s0), _fused(factor, wide(linear, q + width), s1)
        s2, s3 = _fused(factor, wide(linear, q + 2 * width), s2), _fused(factor, wide(linear, q + 3 * width), s3)
    for j in range(size):
        m, q = wide(matrix, j * width + at), p + j
        s0, s1 = _fused(_spread(x, q), m, s0), _fused(_spread(x, q + width), m, s1)
        s2, s3 = _fused(_spread(x, q + 2 * width), m, s2), _fused(_spread(x, q + 3 * width), m, s3)
    return s0, s1, s2, s3


@njit(forceinline=True, **OPTIONS)
def eight_words(x, size, matrix, at, mean, drift, linear, share, word):  # type: ignore[no-untyped-def]
    """Return the pushes of eight topics in eight words, which share the look-up of the matrix."""
    width = x.shape[1]
    centre, p = read(drift, at), word * width
    s0, s1, s2, s3 = (
        spread(mean, word) * centre,
        spread(mean, word + 1) * centre,
        spread(mean, word + 2) * centre,
        spread(mean, word + 3) * centre,
    )
    s4, s5, s6, s7 = (
        spread(mean, word + 4) * centre,
        spread(mean, word + 5) * centre,
        spread(mean, word + 6) * centre,
        spread(mean, word + 7) * centre,
    )
    if linear.shape[0] > 0:
        factor, q = eight(x, share), p + at
        s0 = fused(factor, read(linear, q), s0)
        s1 = fused(factor, read(linear, q + width), s1)
        s2 = fused(factor, read(linear, q + 2 * width), s2)
        s3 = fused(factor, read(linear, q + 3 * width), s3)
        s4 = fused(factor, read(linear, q + 4 * width), s4)
        s5 = fused(factor, read(linear, q + 5 * width), s5)
        s6 = fused(factor, read(linear, q + 6 * width), s6)
        s7 = fused(factor, read(linear, q + 7 * width), s7)
    for j in range(size):
        m, q = read(matrix, j * width + at), p + j
        s0 = fused(spread(x, q), m, s0)
        s1 = fused(spread(x, q + width), m, s1)
        s2 = fused(spread(x, q + 2 * width), m, s2)
        s3 = fused(spread(x, q + 3 * width), m, s3)
        s4 = fused(spread(x, q + 4 * width), m, s4)
        s5 = fused(spread(x, q + 5 * width), m, s5)
        s6 = fused(spread(x, q + 6 * width), m, s6)
        s7 = fused(spread(x, q + 7 * width), m, s7)
    return s0, s1, s2, s3, s4, s5, s6, s7
