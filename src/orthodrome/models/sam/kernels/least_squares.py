"""Least-squares proportions of documents, one after the other: LAPACK's would depend on how many there are."""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True, error_model="numpy", nogil=True)  # without the freedoms of other kernels: sums in their order
def least_squares(inverse, b, least, margin, smallest):  # type: ignore[no-untyped-def]
    """Return (beta' beta)^-1 beta' v, entries that are not positive replaced by `least`, divided by their sum.

    inverse: (K, K) in float64; b: (S, K); margin: added after the division, and divided out again
    smallest: by which a sum is divided at least
    """
    size = b.shape[1]
    found, row = np.empty_like(b), np.empty(size)
    for s in range(b.shape[0]):
        row[:] = 0.0
        for j in range(size):
            for k in range(size):
                row[k] += inverse[j, k] * b[s, j]
        total = 0.0
        for k in range(size):
            row[k] = least if row[k] <= 0 else row[k]
            total += row[k]
        total, shifted = max(total, smallest), 0.0
        for k in range(size):
            row[k] = row[k] / total + margin
            shifted += row[k]
        for k in range(size):
            found[s, k] = row[k] / shifted
    return found
