"""Topics word by word are processed in tiles of some dozen words, which stay in the processor's first memory.

Tiles come in strips, at most sixteen, whatever the number of threads: each has a random stream and sums of its own, and
these are added in order, so nothing depends on which thread took which strip.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from orthodrome.kernels.lanes import LANES, fused, splat
from orthodrome.kernels.streams import mixed, seed_lane, stream_key, warm
from orthodrome.kernels.vectors.eights import (
    EIGHT,
    eight,
    first_eight,
    read,
    read_sixteen,
    spread,
    spread_sixteen,
    write,
)
from orthodrome.models.sam.kernels.density import OPTIONS

NUMBERS, STRIPS, FEW = 3072, 16, 4
"""Numbers of a tile at most, strips at most, and tiles of a strip at least."""
WIDE = LANES + EIGHT
"""Topics that go through the registers together, as sixteen and eight, where there are as many."""


@njit(**OPTIONS)
def tile_words(width):  # type: ignore[no-untyped-def]
    """Return the words of a tile, a multiple of eight."""
    return EIGHT * max(1, min(16, NUMBERS // (EIGHT * width)))


@njit(**OPTIONS)
def strip_words(height, width):  # type: ignore[no-untyped-def]
    """Return the words of a strip, whole tiles."""
    tile = tile_words(width)
    count = -(-height // tile)
    return tile * max(FEW, -(-count // STRIPS))


@njit(**OPTIONS)
def open_stream(seed, step, strip):  # type: ignore[no-untyped-def]
    """Return the state of the stream of one strip."""
    state = np.empty((4, LANES), np.uint32)
    key = stream_key(seed, step, np.uint64(strip) + np.uint64(1 << 62))
    for lane in range(LANES):
        seed_lane(state, lane, mixed(key + np.uint64(lane)))
    warm(state, np.empty(LANES, np.uint32))
    return state


@njit(**OPTIONS)
def _add(array, at, value):  # type: ignore[no-untyped-def]
    write(array, at, read(array, at) + value)


@njit(**OPTIONS)
def _add_sixteen(array, at, value):  # type: ignore[no-untyped-def]
    write(array, at, read_sixteen(array, at) + value)


@njit(**OPTIONS)
def _gram_of_two_words(x, first, last, row, at, gram):  # type: ignore[no-untyped-def]
    """Add the products of four topics with eight, two words at a time: one after the other would wait for the sum."""
    width = x.shape[1]
    a0 = eight(x, 0.0)
    a1, a2, a3, b0, b1, b2, b3 = a0, a0, a0, a0, a0, a0, a0
    for word in range(first, last, 2):
        p, q = word * width, (word + 1) * width
        m, n = read(x, p + at), read(x, q + at)
        p, q = p + row, q + row
        a0 = fused(spread(x, p), m, a0)
        a1 = fused(spread(x, p + 1), m, a1)
        a2 = fused(spread(x, p + 2), m, a2)
        a3 = fused(spread(x, p + 3), m, a3)
        b0 = fused(spread(x, q), n, b0)
        b1 = fused(spread(x, q + 1), n, b1)
        b2 = fused(spread(x, q + 2), n, b2)
        b3 = fused(spread(x, q + 3), n, b3)
    place = row * width + at
    _add(gram, place, a0 + b0)
    _add(gram, place + width, a1 + b1)
    _add(gram, place + 2 * width, a2 + b2)
    _add(gram, place + 3 * width, a3 + b3)


@njit(**OPTIONS)
def _gram_of_sixteen(x, first, last, row, at, gram):  # type: ignore[no-untyped-def]
    """Add the products of eight topics with sixteen."""
    width = x.shape[1]
    a0 = splat(x, 0.0)
    a1, a2, a3, a4, a5, a6, a7 = a0, a0, a0, a0, a0, a0, a0
    for word in range(first, last):
        p = word * width
        m, q = read_sixteen(x, p + at), p + row
        a0, a1 = fused(spread_sixteen(x, q), m, a0), fused(spread_sixteen(x, q + 1), m, a1)
        a2, a3 = fused(spread_sixteen(x, q + 2), m, a2), fused(spread_sixteen(x, q + 3), m, a3)
        a4, a5 = fused(spread_sixteen(x, q + 4), m, a4), fused(spread_sixteen(x, q + 5), m, a5)
        a6, a7 = fused(spread_sixteen(x, q + 6), m, a6), fused(spread_sixteen(x, q + 7), m, a7)
    place = row * width + at
    _add_sixteen(gram, place, a0)
    _add_sixteen(gram, place + width, a1)
    _add_sixteen(gram, place + 2 * width, a2)
    _add_sixteen(gram, place + 3 * width, a3)
    _add_sixteen(gram, place + 4 * width, a4)
    _add_sixteen(gram, place + 5 * width, a5)
    _add_sixteen(gram, place + 6 * width, a6)
    _add_sixteen(gram, place + 7 * width, a7)


@njit(**OPTIONS)
def _gram_of_twenty_four(x, first, last, row, at, gram):  # type: ignore[no-untyped-def]
    """Add the products of four topics with twenty-four."""
    width = x.shape[1]
    a0, b0 = splat(x, 0.0), eight(x, 0.0)
    a1, a2, a3, b1, b2, b3 = a0, a0, a0, b0, b0, b0
    for word in range(first, last):
        p = word * width
        m, n, q = read_sixteen(x, p + at), read(x, p + at + LANES), p + row
        t0, t1 = spread_sixteen(x, q), spread_sixteen(x, q + 1)
        t2, t3 = spread_sixteen(x, q + 2), spread_sixteen(x, q + 3)
        a0, b0 = fused(t0, m, a0), fused(first_eight(t0), n, b0)
        a1, b1 = fused(t1, m, a1), fused(first_eight(t1), n, b1)
        a2, b2 = fused(t2, m, a2), fused(first_eight(t2), n, b2)
        a3, b3 = fused(t3, m, a3), fused(first_eight(t3), n, b3)
    place = row * width + at
    _add_sixteen(gram, place, a0)
    _add_sixteen(gram, place + width, a1)
    _add_sixteen(gram, place + 2 * width, a2)
    _add_sixteen(gram, place + 3 * width, a3)
    _add(gram, place + LANES, b0)
    _add(gram, place + width + LANES, b1)
    _add(gram, place + 2 * width + LANES, b2)
    _add(gram, place + 3 * width + LANES, b3)


@njit(**OPTIONS)
def add_gram(x, size, first, last, gram):  # type: ignore[no-untyped-def]
    """Add beta' beta of the words of a tile to `gram` (K', K'), the blocks on and below the diagonal."""
    for row in range(0, size, EIGHT):
        end, half = row + EIGHT, size - row <= EIGHT // 2
        begin = end // WIDE * WIDE if half else 0
        for at in range(0, begin, WIDE):
            _gram_of_twenty_four(x, first, last, row, at, gram)
        for at in range(begin, end - EIGHT, LANES):
            _gram_of_sixteen(x, first, last, row, at, gram)
        if (end - begin) % LANES == EIGHT:
            _gram_of_two_words(x, first, last, row, end - EIGHT, gram)
            if not half:
                _gram_of_two_words(x, first, last, row + 4, end - EIGHT, gram)
