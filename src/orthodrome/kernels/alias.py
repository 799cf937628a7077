"""Alias tables: a draw from a fixed discrete law over K outcomes in constant time (Walker 1977, Vose 1991).

Each of the K columns has height 1 and holds a share of its own outcome, the rest belonging to one other outcome. A
table is a (K, 2) array of float32: the own share, and the number of the other outcome. Both lie in one cache line.
"""

from __future__ import annotations

import numpy as np
from numba import njit, prange

from orthodrome.kernels.generator import OPTIONS

_32, _LOW, _UNIT32 = np.uint64(32), np.uint64(0xFFFFFFFF), np.float32(2.0**-32)


@njit(**OPTIONS)
def build(weights, mean, stack, table):  # type: ignore[no-untyped-def]
    """Write the alias table of the weights, whose mean is `mean`; `stack` is scratch of the same length."""
    count = weights.shape[0]
    lower, upper = 0, count  # outcomes below the mean fill the stack from the left, the others from the right
    scale = 1.0 / mean if mean > 0.0 else 0.0
    for k in range(count):
        table[k, 0], table[k, 1] = weights[k] * scale, k
        if table[k, 0] < 1.0:
            stack[lower] = k
            lower += 1
        else:
            upper -= 1
            stack[upper] = k
    while lower > 0 and upper < count:
        lower -= 1
        short, tall = stack[lower], stack[upper]
        table[short, 1] = tall
        table[tall, 0] -= np.float32(1.0) - table[short, 0]
        if table[tall, 0] < 1.0:
            upper += 1
            stack[lower] = tall
            lower += 1
    while lower > 0:  # what rounding leaves over is full
        lower -= 1
        table[stack[lower], 0] = 1.0
    while upper < count:
        table[stack[upper], 0] = 1.0
        upper += 1


@njit(**OPTIONS)
def draw(tables, w, word):  # type: ignore[no-untyped-def]
    """Return an outcome of table w: 32 random bits choose the column, 32 the share."""
    column = np.int64(((word >> _32) * np.uint64(tables.shape[1])) >> _32)
    own = np.float32(np.uint32(word & _LOW)) * _UNIT32 < tables[w, column, 0]
    return column if own else np.int64(tables[w, column, 1])


@njit(parallel=True, **OPTIONS)
def build_all(topics, prior):  # type: ignore[no-untyped-def]
    """Return the tables and masses of prior_k topics[w, k] for every word w; `topics` is words x topics."""
    words, count = topics.shape
    tables, masses = np.empty((words, count, 2), np.float32), np.empty(words, np.float32)
    blocks = (words + 255) // 256
    for block in prange(blocks):
        weights, stack = np.empty(count, np.float32), np.empty(count, np.int32)
        for w in range(block * 256, min((block + 1) * 256, words)):
            total = 0.0
            for k in range(count):
                weights[k] = prior[k] * topics[w, k]
                total += weights[k]
            masses[w] = total
            build(weights, total / count, stack, tables[w])
    return tables, masses
