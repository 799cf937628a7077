"""The gradient of the log likelihood in the topics as a matrix (K, K) and sparse rows, and the memory of documents."""

from __future__ import annotations

import numpy as np
from numba import njit

from orthodrome.models.sam.kernels.density import OPTIONS
from orthodrome.models.sam.kernels.statistics import batch_statistics
from orthodrome.models.sam.kernels.words import add_by_word


@njit(**OPTIONS)
def gradient_parts(gram, b, draws, rows, table, square, scale, kappa):  # type: ignore[no-untyped-def]
    """Return the matrix (K, K) by which the topics are multiplied, W - W0 (S, K), and W and c as columns (S, K + 1).

    Then the numbers of `batch_statistics`: the mean squared length, the largest sum of a row and the mean of c.
    table: (D, K + 1) what is remembered, or without rows; square: (K, K)
    """
    (count, size), remembers = b.shape, table.shape[0] > 0
    stored = table[rows] if remembers else np.zeros((count, size + 1), b.dtype)
    seen, change, moment, length, largest, cosine = batch_statistics(gram, b, draws, stored)
    for k in range(size):
        for j in range(size):
            moment[k, j] *= -scale
            if remembers:
                moment[k, j] -= kappa * square[k, j]
    return moment, change, seen, length, largest, cosine


@njit(**OPTIONS)
def remember(table, square, linear, indptr, indices, values, rows, seen, change):  # type: ignore[no-untyped-def]
    """Replace what is remembered of some documents, in place: W and c in `table`, B in `square`, A in `linear`."""
    size = square.shape[0]
    add_by_word(linear, indptr, indices, values, rows, change, 1.0)
    for s in range(rows.shape[0]):
        now, before = seen[s], table[rows[s]]
        for k in range(size):
            new, old = np.float64(now[size]) * now[k], np.float64(before[size]) * before[k]
            for j in range(size):
                square[k, j] += new * now[j] - old * before[j]
        table[rows[s]] = now
