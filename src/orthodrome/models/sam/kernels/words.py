"""Topics word by word: the K numbers of a word lie side by side, and a document's words are a few whole rows.

In topics row by row a word is K numbers far apart, and a batch of documents picks each of them by itself. Word by word
it is K / 8 registers, and everything else that a topic draw computes is as fast. Both axes are filled up with zeros to
multiples of eight: an array (V', K').
"""

from __future__ import annotations

import numpy as np
from numba import njit

from orthodrome.core.types import Reals
from orthodrome.kernels.lanes import fused
from orthodrome.kernels.vectors.eights import EIGHT, eight, read, spread, transposed, write
from orthodrome.models.sam.kernels.density import OPTIONS


def rounded(count: int) -> int:
    """Return the count, filled up to a multiple of eight."""
    return -(-count // EIGHT) * EIGHT


def blank(num_topics: int, num_words: int, dtype: np.dtype) -> Reals:
    """Return zeros in this layout."""
    return np.zeros((rounded(num_words), rounded(num_topics)), dtype)


def by_word(topics: Reals) -> Reals:
    """Return topics (K, V) word by word."""
    words = blank(topics.shape[0], topics.shape[1], topics.dtype)
    put_by_word(np.ascontiguousarray(topics), words)
    return words


@njit(**OPTIONS)
def _turn_square(source, stride, at, found, width, place):  # type: ignore[no-untyped-def]
    """Copy a square of eight by eight numbers with rows and columns exchanged."""
    rows = transposed(
        read(source, at),
        read(source, at + stride),
        read(source, at + 2 * stride),
        read(source, at + 3 * stride),
        read(source, at + 4 * stride),
        read(source, at + 5 * stride),
        read(source, at + 6 * stride),
        read(source, at + 7 * stride),
    )
    write(found, place, rows[0])
    write(found, place + width, rows[1])
    write(found, place + 2 * width, rows[2])
    write(found, place + 3 * width, rows[3])
    write(found, place + 4 * width, rows[4])
    write(found, place + 5 * width, rows[5])
    write(found, place + 6 * width, rows[6])
    write(found, place + 7 * width, rows[7])


@njit(**OPTIONS)
def put_by_word(topics, words):  # type: ignore[no-untyped-def]
    """Copy topics (K, V) into an array word by word, with zeros where there are no topics and no words."""
    (size, count), (height, width) = topics.shape, words.shape
    for word in range(0, height, EIGHT):
        for k in range(0, width, EIGHT):
            if word + EIGHT <= count and k + EIGHT <= size:
                _turn_square(topics, count, k * count + word, words, width, word * width + k)
            else:
                for i in range(word, word + EIGHT):
                    for j in range(k, k + EIGHT):
                        words[i, j] = topics[j, i] if i < count and j < size else 0


@njit(**OPTIONS)
def put_by_topic(words, topics):  # type: ignore[no-untyped-def]
    """Copy an array word by word into topics (K, V)."""
    (size, count), (height, width) = topics.shape, words.shape
    for word in range(0, height, EIGHT):
        for k in range(0, width, EIGHT):
            if word + EIGHT <= count and k + EIGHT <= size:
                _turn_square(words, width, word * width + k, topics, count, k * count + word)
            else:
                for j in range(k, min(k + EIGHT, size)):
                    for i in range(word, min(word + EIGHT, count)):
                        topics[j, i] = words[i, j]


@njit(**OPTIONS)
def _three(x, indices, values, begin, end, at, found):  # type: ignore[no-untyped-def]
    """Sum twenty-four topics of the words of a document, which share the look-up of the words."""
    a = eight(x, 0.0)
    b, c = a, a
    for i in range(begin, end):
        place, value = np.int64(indices[i]) * x.shape[1] + at, spread(values, i)
        a = fused(value, read(x, place), a)
        b = fused(value, read(x, place + EIGHT), b)
        c = fused(value, read(x, place + 2 * EIGHT), c)
    write(found, at, a)
    write(found, at + EIGHT, b)
    write(found, at + 2 * EIGHT, c)


@njit(**OPTIONS)
def _one(x, indices, values, begin, end, at, found):  # type: ignore[no-untyped-def]
    """Sum eight topics of the words of a document."""
    a = eight(x, 0.0)
    for i in range(begin, end):
        a = fused(spread(values, i), read(x, np.int64(indices[i]) * x.shape[1] + at), a)
    write(found, at, a)


@njit(**OPTIONS)
def products_by_word(x, size, indptr, indices, values, rows):  # type: ignore[no-untyped-def]
    """Return b = beta' v of the given documents, (S, K)."""
    found, own = np.empty((rows.shape[0], size), x.dtype), np.empty(x.shape[1], x.dtype)
    for s in range(rows.shape[0]):
        begin, end = indptr[rows[s]], indptr[rows[s] + 1]
        threes = x.shape[1] // (3 * EIGHT) * (3 * EIGHT)
        for at in range(0, threes, 3 * EIGHT):
            _three(x, indices, values, begin, end, at, own)
        for at in range(threes, x.shape[1], EIGHT):
            _one(x, indices, values, begin, end, at, own)
        for k in range(size):
            found[s, k] = own[k]
    return found


@njit(**OPTIONS)
def add_by_word(x, indptr, indices, values, rows, weights, scale):  # type: ignore[no-untyped-def]
    """Add scale v' W to an array word by word, in place; weights: (S, K)."""
    width, own = x.shape[1], np.zeros(x.shape[1], x.dtype)
    for s in range(rows.shape[0]):
        for k in range(weights.shape[1]):
            own[k] = scale * weights[s, k]
        begin, end = indptr[rows[s]], indptr[rows[s] + 1]
        for at in range(0, width, EIGHT):
            weight = read(own, at)
            for i in range(begin, end):
                place = np.int64(indices[i]) * width + at
                write(x, place, fused(spread(values, i), weight, read(x, place)))
