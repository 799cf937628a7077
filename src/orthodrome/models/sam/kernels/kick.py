"""B O B of all topics, word by word: the first of the two passes of a word of SGGMC.

    v <- d (d v + h gradient + sd N(0, I)),        d = exp(-C h / 2),

three letters in one because v is tangent and C a number. The gradient is linear in what is at hand: a matrix (K, K)
times the topics, a multiple of the corpus mean, and the memory of the documents; the sparse rows of a batch are in v
already. While a word is in the registers, x.v, v.v and x.x are summed, from which `turn` has the projection of v.
"""

from __future__ import annotations

import numpy as np
from numba import njit, prange

from orthodrome.kernels.lanes import LANES, fused
from orthodrome.kernels.vectors.eights import EIGHT, eight, read, read_as, spread, write
from orthodrome.kernels.vectors.normals import fill_normals
from orthodrome.models.sam.kernels.density import OPTIONS
from orthodrome.models.sam.kernels.tiles import open_stream, strip_words, tile_words


@njit(forceinline=True, **OPTIONS)
def _settle(x, v, place, push, keep, deviation, noise, at, lean, square, norm):  # type: ignore[no-untyped-def]
    """Write the velocity of one word; return the sums with it."""
    here = read(x, place)
    going = fused(deviation, read_as(x, noise, at), fused(keep, read(v, place), push))
    write(v, place, going)
    return fused(here, going, lean), fused(going, going, square), fused(here, here, norm)


@njit(forceinline=True, **OPTIONS)
def _eight_words(x, size, matrix, at, mean, drift, linear, share, word):  # type: ignore[no-untyped-def]
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


@njit(**OPTIONS)
def _tile(  # type: ignore[no-untyped-def]
    x, v, size, matrix, mean, drift, linear, share, keep, deviations, noise, first, last, sums
):
    """Kick the words of a tile; sums: (3, K'), to which x.v, v.v and x.x are added."""
    width = x.shape[1]
    for at in range(0, width, EIGHT):
        kept, sd = eight(x, keep), read(deviations, at)
        a = eight(x, 0.0)
        b, c = a, a
        for word in range(first, last, EIGHT):
            s = _eight_words(x, size, matrix, at, mean, drift, linear, share, word)
            p, n = word * width + at, (word - first) * size + at
            a, b, c = _settle(x, v, p, s[0], kept, sd, noise, n, a, b, c)
            a, b, c = _settle(x, v, p + width, s[1], kept, sd, noise, n + size, a, b, c)
            a, b, c = _settle(x, v, p + 2 * width, s[2], kept, sd, noise, n + 2 * size, a, b, c)
            a, b, c = _settle(x, v, p + 3 * width, s[3], kept, sd, noise, n + 3 * size, a, b, c)
            a, b, c = _settle(x, v, p + 4 * width, s[4], kept, sd, noise, n + 4 * size, a, b, c)
            a, b, c = _settle(x, v, p + 5 * width, s[5], kept, sd, noise, n + 5 * size, a, b, c)
            a, b, c = _settle(x, v, p + 6 * width, s[6], kept, sd, noise, n + 6 * size, a, b, c)
            a, b, c = _settle(x, v, p + 7 * width, s[7], kept, sd, noise, n + 7 * size, a, b, c)
        write(sums, at, read(sums, at) + a)
        write(sums, width + at, read(sums, width + at) + b)
        write(sums, 2 * width + at, read(sums, 2 * width + at) + c)


@njit(**OPTIONS)
def _fill_noise(state, noise, count):  # type: ignore[no-untyped-def]
    """Fill a tile's noise, as many numbers as `count`, and zeros after them."""
    fill_normals(state, noise[:-1])
    flat = noise.reshape(-1)
    flat[max(0, count) :] = 0


@njit(**OPTIONS)
def _tile_noise(size, width):  # type: ignore[no-untyped-def]
    """Return the array of a tile's noise; a row more than needed, since the last word is read in eights."""
    return np.zeros((2 * (-(-tile_words(width) * size // (2 * LANES))) + 1, LANES), np.float32)


@njit(parallel=True, **OPTIONS)
def kick(  # type: ignore[no-untyped-def]
    x, v, size, num_words, matrix, mean, drift, linear, share, keep, deviations, seed, step
):
    """Apply B O B to all words, in place; return (3, K) sums in float64: x.v, v.v and x.x of each topic.

    matrix: (K, K'), column k the pushes of topic k; mean: (V',); drift, deviations: (K',)
    linear: (V', K'), of which `share` is added, or (0, K')
    """
    height, width = x.shape
    tile, strip = tile_words(width), strip_words(height, width)
    sums = np.zeros((-(-height // strip), 3, width), x.dtype)
    for i in prange(sums.shape[0]):
        state, noise = open_stream(seed, step, i), _tile_noise(size, width)
        for first in range(i * strip, min((i + 1) * strip, height), tile):
            last = min(first + tile, height)
            if deviations[0] > 0:
                _fill_noise(state, noise, (min(last, num_words) - first) * size)
            _tile(x, v, size, matrix, mean, drift, linear, share, keep, deviations, noise, first, last, sums[i])
    total = np.zeros((3, size))
    for i in range(sums.shape[0]):
        for j in range(3):
            for k in range(size):
                total[j, k] += sums[i, j, k]
    return total
