"""Sums over documents in whole numbers: every term is rounded to a multiple of a unit, and the sum is exact.

So it is the same in any order and however the documents are divided: among threads, and among processes.
"""

from __future__ import annotations

import numpy as np
from numba import njit, prange

from orthodrome.kernels.lanes import LANES
from orthodrome.models.sam.kernels.density import OPTIONS
from orthodrome.models.sam.kernels.statistics import gather_draws


@njit(**OPTIONS)
def _block(block, gram, b, draws, unit, found, moment):  # type: ignore[no-untyped-def]
    """Process one block of documents; return the largest entry of its M."""
    count, size = b.shape
    shape, kind = (draws.shape[1], LANES), b.dtype
    own, weights, cosine = np.zeros((size, LANES), kind), np.zeros(shape, kind), np.zeros((1, LANES), kind)
    moments, theta, y = np.zeros((size * size, LANES), kind), np.zeros(shape, kind), np.zeros(shape, kind)
    first, used, largest = block * LANES, min(LANES, count - block * LANES), 0.0
    for lane in range(used):
        for k in range(size):
            own[k, lane] = b[first + lane, k]
    gather_draws(gram, own, draws, theta, y, weights, moments, cosine)
    for lane in range(used):
        found[first + lane, size] = cosine[0, lane]
        for k in range(size):
            found[first + lane, k] = weights[k, lane]
    for k in range(size):
        for j in range(k + 1):
            total = np.int64(0)
            for lane in range(used):
                entry = np.float64(moments[k * size + j, lane])
                largest = max(largest, abs(entry))
                total += np.int64(np.rint(entry * unit))
            moment[k, j] = total
            moment[j, k] = total
    return largest


@njit(parallel=True, **OPTIONS)
def fixed_statistics(gram, b, draws, unit):  # type: ignore[no-untyped-def]
    """Return W and c as columns (S, K + 1), the sum of M (K, K) in 1 / `unit`, and the largest entry of any M."""
    size, blocks = b.shape[1], draws.shape[0]
    found, moments, largest = (
        np.empty((b.shape[0], size + 1)),
        np.zeros((blocks, size, size), np.int64),
        np.zeros(blocks),
    )
    for block in prange(blocks):
        largest[block] = _block(np.int64(block), gram, b, draws[block], unit, found, moments[block])
    moment, most = np.zeros((size, size), np.int64), 0.0
    for block in range(blocks):
        moment += moments[block]
        most = max(most, largest[block])
    return found, moment, most


@njit(**OPTIONS)
def _row(row, indptr, indices, values, weights, k, unit):  # type: ignore[no-untyped-def]
    for s in range(weights.shape[0]):
        factor = unit * weights[s, k]
        for i in range(indptr[s], indptr[s + 1]):
            row[np.uint32(indices[i])] += np.int64(np.rint(factor * values[i]))


@njit(parallel=True, **OPTIONS)
def fixed_products(num_words, indptr, indices, values, weights, unit):  # type: ignore[no-untyped-def]
    """Return v' W over all documents (K, V), in 1 / `unit`; weights: (S, K)."""
    found = np.zeros((weights.shape[1], num_words), np.int64)
    for k in prange(found.shape[0]):
        _row(found[k], indptr, indices, values, weights, k, unit)
    return found
