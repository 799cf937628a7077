"""The projection of v and A, great circles: the second of the two passes, with what the next gradient needs.

Both are linear in x and v with coefficients of each topic, so one pass does them, from the sums of x.v, v.v and x.x of
the pass before:

    v <- v - (x.v) x,     x <- cos x + sin v / |v|,     v <- cos v - |v| sin x,

with rounding removed inside the coefficients (the first-order correction of |x| and of x.v). While a tile is at hand
its part of beta' beta and of beta' m is added up. Tiles come in the opposite order of the first pass, so that those
which are still in the processor's second memory come first.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit, prange

from orthodrome.kernels.lanes import LANES, fused
from orthodrome.kernels.vectors.eights import EIGHT, eight, read, read_sixteen, spread, spread_sixteen, write
from orthodrome.models.sam.kernels.density import OPTIONS
from orthodrome.models.sam.kernels.tiles import add_gram, strip_words, tile_words


@njit(**OPTIONS)
def _coefficients(sums, time, turns, squares):  # type: ignore[no-untyped-def]
    """Fill turns (4, K'): those of x and v in the new x, and of v and x in the new v; squares: v.v after projection."""
    for k in range(sums.shape[1]):
        before, norm = sums[0, k], sums[2, k]
        square = max(0.0, sums[1, k] - (2 - norm) * before * before)
        lean, shrink, speed = before * (1 - norm), 1.5 - 0.5 * norm, math.sqrt(square)
        cos, sin = math.cos(speed * time), math.sin(speed * time)
        along = sin / speed if speed > 0 else time
        turns[0, k] = cos * shrink - along * lean - along * before
        turns[1, k] = along
        turns[2, k] = cos
        turns[3, k] = -(speed * sin * shrink + cos * lean) - cos * before
        squares[k] = square


@njit(forceinline=True, **OPTIONS)
def _moved(x, v, place, here, going, turn, weight, total):  # type: ignore[no-untyped-def]
    """Write x and v of one word after the turn; return the sum with weight x."""
    moved = fused(turn[0], here, turn[1] * going)
    write(x, place, moved)
    write(v, place, fused(turn[2], going, turn[3] * here))
    return fused(weight, moved, total)


@njit(**OPTIONS)
def _tile(x, v, mean, turns, first, last, along):  # type: ignore[no-untyped-def]
    """Turn the words of a tile; along: (K',), to which beta' m is added."""
    width = x.shape[1]
    sixteens = width // LANES * LANES
    for at in range(0, sixteens, LANES):
        turn = (
            read_sixteen(turns, at),
            read_sixteen(turns, width + at),
            read_sixteen(turns, 2 * width + at),
            read_sixteen(turns, 3 * width + at),
        )
        total = read_sixteen(along, at)
        for word in range(first, last):
            place = word * width + at
            here, going = read_sixteen(x, place), read_sixteen(v, place)
            total = _moved(x, v, place, here, going, turn, spread_sixteen(mean, word), total)
        write(along, at, total)
    for at in range(sixteens, width, EIGHT):
        rest = read(turns, at), read(turns, width + at), read(turns, 2 * width + at), read(turns, 3 * width + at)
        found = read(along, at)
        for word in range(first, last):
            place = word * width + at
            near, away = read(x, place), read(v, place)
            found = _moved(x, v, place, near, away, rest, spread(mean, word), found)
        write(along, at, found)


@njit(parallel=True, **OPTIONS)
def turn(x, v, mean, sums, time):  # type: ignore[no-untyped-def]
    """Project v and apply A for the time, in place; sums: (3, K).

    Returns v.v of each topic, beta' beta (K', K'), the sum of its entries and that of beta' m after the move.
    """
    (height, width), size = x.shape, sums.shape[1]
    tile, strip = tile_words(width), strip_words(height, width)
    count = -(-height // strip)
    turns, squares = np.zeros((4, width), x.dtype), np.empty(size)
    grams, alongs = np.zeros((count, width, width), x.dtype), np.zeros((count, width), x.dtype)
    _coefficients(sums, time, turns, squares)
    for turned in prange(count):
        i = count - 1 - turned
        begin, end = i * strip, min((i + 1) * strip, height)
        tiles = -(-(end - begin) // tile)
        for t in range(tiles):
            first = begin + (tiles - 1 - t) * tile
            last = min(first + tile, end)
            _tile(x, v, mean, turns, first, last, alongs[i])
            add_gram(x, size, first, last, grams[i])
    gram, along = _whole(grams, size), 0.0
    for i in range(count):
        for k in range(size):
            along += alongs[i, k]
    return squares, gram, _total(gram), along


@njit(**OPTIONS)
def _total(gram):  # type: ignore[no-untyped-def]
    total = 0.0
    for row in range(gram.shape[0]):
        for column in range(gram.shape[1]):
            total += gram[row, column]
    return total


@njit(**OPTIONS)
def _whole(grams, size):  # type: ignore[no-untyped-def]
    """Return the sum of the strips' matrices with both halves."""
    found = np.zeros(grams.shape[1:], grams.dtype)
    for row in range(size):
        for column in range(row + 1):
            total = 0.0
            for i in range(grams.shape[0]):
                total += grams[i, row, column]
            found[row, column] = total
            found[column, row] = total
    return found


@njit(**OPTIONS)
def sums_of(x, v, size):  # type: ignore[no-untyped-def]
    """Return x.v, v.v and x.x of each topic, (3, K) in float64."""
    (height, width), tile = x.shape, tile_words(x.shape[1])
    found, own = np.zeros((3, size)), np.zeros((3, EIGHT), x.dtype)
    for first in range(0, height, tile):
        for at in range(0, width, EIGHT):
            a = eight(x, 0.0)
            b, c = a, a
            for word in range(first, min(first + tile, height)):
                here, going = read(x, word * width + at), read(v, word * width + at)
                a, b, c = fused(here, going, a), fused(going, going, b), fused(here, here, c)
            write(own, 0, a)
            write(own, EIGHT, b)
            write(own, 2 * EIGHT, c)
            for k in range(at, min(at + EIGHT, size)):
                for j in range(3):
                    found[j, k] += own[j, k - at]
    return found
