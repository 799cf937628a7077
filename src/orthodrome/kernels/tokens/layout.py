"""The arrays around a sweep, made on all threads: topics as rows of sixteen before it, one table of counts after it."""

from __future__ import annotations

import numpy as np
from numba import njit, prange

from orthodrome.kernels.generator import OPTIONS
from orthodrome.kernels.lanes import LANES


@njit(parallel=True, **OPTIONS)
def padded_rows(topics, used, least):  # type: ignore[no-untyped-def]
    """Return the probabilities of the used words, raised to `least`, as rows of sixteen with a zero or more behind."""
    count = topics.shape[1]
    tall = count // LANES + 1
    rows = np.empty((used.shape[0], tall * LANES), np.float32)
    for i in prange(used.shape[0]):
        for k in range(count):
            rows[i, k] = max(topics[used[i], k], least)
        for k in range(count, tall * LANES):
            rows[i, k] = 0.0
    return rows.reshape(used.shape[0] * tall, LANES)


@njit(parallel=True, **OPTIONS)
def summed(counts):  # type: ignore[no-untyped-def]
    """Add the counts of the other threads, (threads, words, K), to those of the first, and return them."""
    for w in prange(counts.shape[1]):
        for thread in range(1, counts.shape[0]):
            for k in range(counts.shape[2]):
                counts[0, w, k] += counts[thread, w, k]
    return counts[0]
