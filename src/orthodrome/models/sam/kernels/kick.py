"""B O B of all topics, word by word: the first of the two passes of a word of SGGMC.

    v <- d (d v + h gradient + sd N(0, I)),        d = exp(-C h / 2),

three letters in one because v is tangent and C a number. The gradient is linear in what is at hand: a matrix (K, K)
times the topics, a multiple of the corpus mean, and the memory of the documents; the sparse rows of a batch are in v
already. While a word is in the registers, x.v, v.v and x.x are summed, from which `turn` has the projection of v.
"""

from __future__ import annotations

import numpy as np
from numba import njit, prange

from orthodrome.kernels.lanes import LANES, fused, splat
from orthodrome.kernels.vectors.eights import EIGHT, eight, read, read_as, read_sixteen, read_sixteen_as, write
from orthodrome.kernels.vectors.normals import fill_normals
from orthodrome.models.sam.kernels.density import OPTIONS
from orthodrome.models.sam.kernels.pushes import eight_words, four_words, wide
from orthodrome.models.sam.kernels.tiles import WIDE, open_stream, strip_words, tile_words


@njit(forceinline=True, **OPTIONS)
def _gone(here, before, push, keep, deviation, noise, sums):  # type: ignore[no-untyped-def]
    """Return the velocity of one word, and the sums with it."""
    going = fused(deviation, noise, fused(keep, before, push))
    return going, (fused(here, going, sums[0]), fused(going, going, sums[1]), fused(here, here, sums[2]))


@njit(forceinline=True, **OPTIONS)
def _settle(x, v, place, push, keep, deviation, noise, at, sums):  # type: ignore[no-untyped-def]
    """Write the velocities of eight topics in a word; return the sums with them."""
    here, before = read(x, place), read(v, place)
    going, sums = _gone(here, before, push, keep, deviation, read_as(x, noise, at), sums)
    write(v, place, going)
    return sums


@njit(forceinline=True, **OPTIONS)
def _settle_wide(x, v, place, push, keep, deviation, noise, at, sums):  # type: ignore[no-untyped-def]
    """Write the velocities of twenty-four topics in a word; return the sums with the first sixteen and the others."""
    here, before = read_sixteen(x, place), read_sixteen(v, place)
    going, found = _gone(here, before, push[0], keep[0], deviation[0], read_sixteen_as(x, noise, at), sums[0])
    write(v, place, going)
    return found, _settle(x, v, place + LANES, push[1], keep[1], deviation[1], noise, at + LANES, sums[1])


@njit(**OPTIONS)
def _wide_topics(  # type: ignore[no-untyped-def]
    x, v, size, matrix, at, mean, drift, linear, share, keep, deviations, noise, first, last, sums
):
    """Kick twenty-four topics of the words of a tile."""
    width, kept, sd = x.shape[1], (splat(x, keep), eight(x, keep)), wide(deviations, at)
    none, zero = splat(x, 0.0), eight(x, 0.0)
    found = (none, none, none), (zero, zero, zero)
    for word in range(first, last, 4):
        s = four_words(x, size, matrix, at, mean, drift, linear, share, word)
        p, n = word * width + at, (word - first) * size + at
        found = _settle_wide(x, v, p, s[0], kept, sd, noise, n, found)
        found = _settle_wide(x, v, p + width, s[1], kept, sd, noise, n + size, found)
        found = _settle_wide(x, v, p + 2 * width, s[2], kept, sd, noise, n + 2 * size, found)
        found = _settle_wide(x, v, p + 3 * width, s[3], kept, sd, noise, n + 3 * size, found)
    for j in range(3):
        place = j * width + at
        write(sums, place, read_sixteen(sums, place) + found[0][j])
        write(sums, place + LANES, read(sums, place + LANES) + found[1][j])


@njit(**OPTIONS)
def _eight_topics(  # type: ignore[no-untyped-def]
    x, v, size, matrix, at, mean, drift, linear, share, keep, deviations, noise, first, last, sums
):
    """Kick eight topics of the words of a tile."""
    width, kept, sd, zero = x.shape[1], eight(x, keep), read(deviations, at), eight(x, 0.0)
    found = zero, zero, zero
    for word in range(first, last, EIGHT):
        s = eight_words(x, size, matrix, at, mean, drift, linear, share, word)
        p, n = word * width + at, (word - first) * size + at
        found = _settle(x, v, p, s[0], kept, sd, noise, n, found)
        found = _settle(x, v, p + width, s[1], kept, sd, noise, n + size, found)
        found = _settle(x, v, p + 2 * width, s[2], kept, sd, noise, n + 2 * size, found)
        found = _settle(x, v, p + 3 * width, s[3], kept, sd, noise, n + 3 * size, found)
        found = _settle(x, v, p + 4 * width, s[4], kept, sd, noise, n + 4 * size, found)
        found = _settle(x, v, p + 5 * width, s[5], kept, sd, noise, n + 5 * size, found)
        found = _settle(x, v, p + 6 * width, s[6], kept, sd, noise, n + 6 * size, found)
        found = _settle(x, v, p + 7 * width, s[7], kept, sd, noise, n + 7 * size, found)
    for j in range(3):
        write(sums, j * width + at, read(sums, j * width + at) + found[j])


@njit(**OPTIONS)
def _tile(  # type: ignore[no-untyped-def]
    x, v, size, matrix, mean, drift, linear, share, keep, deviations, noise, first, last, sums
):
    """Kick the words of a tile; sums: (3, K'), to which x.v, v.v and x.x are added."""
    width, some = x.shape[1], x.shape[1] // WIDE * WIDE
    dense, rest = (mean, drift, linear, share, keep, deviations), (noise, first, last, sums)
    for at in range(0, some, WIDE):
        _wide_topics(x, v, size, matrix, at, *dense, *rest)
    for at in range(some, width, EIGHT):
        _eight_topics(x, v, size, matrix, at, *dense, *rest)


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
