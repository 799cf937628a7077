"""Typical Gaussian components of many sets of statistics, without a call of a linear algebra library for each."""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from orthodrome.kernels.generator import OPTIONS


@njit(**OPTIONS)
def gaussian_centres(statistics, scatter, mean_precision, degrees, found):  # type: ignore[no-untyped-def]
    """Write the mean m_n and the lower triangular R with R R' = nu_n Psi_n^-1, for each line of statistics.

    With Psi_n = U U', U upper triangular, R = sqrt(nu_n) U^-T. The root of a small negative pivot, which rounding may
    leave of a scatter without a width, is not a number, as that of `numpy.linalg.cholesky` would be an error.
    """
    d = scatter.shape[0]
    upper, inverse = np.empty((d, d)), np.empty((d, d))
    for line in range(statistics.shape[0]):
        n = max(statistics[line, 0], 0.0)
        k, scale = mean_precision + n, math.sqrt(degrees + n)
        for j in range(d):
            found[line, j] = statistics[line, 1 + j] / k
        for j in range(d - 1, -1, -1):
            for i in range(j, -1, -1):
                value = scatter[i, j] + statistics[line, 1 + d + j * (j + 1) // 2 + i]
                value -= k * found[line, i] * found[line, j]
                for c in range(j + 1, d):
                    value -= upper[i, c] * upper[j, c]
                upper[i, j] = math.sqrt(value) if i == j else value / upper[j, j]
        for j in range(d):
            inverse[j, j] = 1.0 / upper[j, j]
            for i in range(j - 1, -1, -1):
                total = 0.0
                for c in range(i + 1, j + 1):
                    total += upper[i, c] * inverse[c, j]
                inverse[i, j] = -total / upper[i, i]
        for j in range(d):
            for i in range(d):
                found[line, d + j * d + i] = scale * inverse[i, j] if i <= j else 0.0
