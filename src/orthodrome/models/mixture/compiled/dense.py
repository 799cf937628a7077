"""Rows of real numbers: log densities of Gaussian and von Mises-Fisher components, and sums of x and of x x'."""

from __future__ import annotations

import numpy as np
from numba import njit, prange

from orthodrome.kernels.generator import OPTIONS
from orthodrome.models.mixture.compiled.choices import BLOCK


@njit(parallel=True, **OPTIONS)
def gaussian_densities(x, rows, means, roots, constants, limits, found):  # type: ignore[no-untyped-def]
    """Write log f = constant - |R' (x - mean)|^2 / 2 of some rows; R is lower triangular, R R' the precision."""
    size, width = rows.shape[0], x.shape[1]
    for block in prange((size + BLOCK - 1) // BLOCK):
        gap = np.empty(width)
        for i in range(block * BLOCK, min((block + 1) * BLOCK, size)):
            for k in range(limits[i]):
                for j in range(width):
                    gap[j] = x[rows[i], j] - means[k, j]
                square = 0.0
                for j in range(width):
                    turned = 0.0
                    for m in range(j, width):
                        turned += roots[k, m, j] * gap[m]
                    square += turned * turned
                found[i, k] = constants[k] - 0.5 * square


@njit(parallel=True, **OPTIONS)
def direction_densities(x, rows, resultants, constants, limits, found):  # type: ignore[no-untyped-def]
    """Write log f = constant + resultant . x of some rows."""
    size, width = rows.shape[0], x.shape[1]
    for block in prange((size + BLOCK - 1) // BLOCK):
        for i in range(block * BLOCK, min((block + 1) * BLOCK, size)):
            for k in range(limits[i]):
                total = constants[k]
                for j in range(width):
                    total += resultants[k, j] * x[rows[i], j]
                found[i, k] = total


@njit(**OPTIONS)
def move_sums(x, rows, before, after, statistics):  # type: ignore[no-untyped-def]
    """Move rows between the sums of 1 and x; -1 is none."""
    width = x.shape[1]
    for i in range(rows.shape[0]):
        old, new, row = before[i], after[i], rows[i]
        if old == new:
            continue
        if old >= 0:
            statistics[old, 0] -= 1.0
            for j in range(width):
                statistics[old, 1 + j] -= x[row, j]
        if new >= 0:
            statistics[new, 0] += 1.0
            for j in range(width):
                statistics[new, 1 + j] += x[row, j]


@njit(**OPTIONS)
def move_products(x, rows, before, after, statistics):  # type: ignore[no-untyped-def]
    """Move rows between the sums of 1, x and the lower triangle of x x'; -1 is none."""
    move_sums(x, rows, before, after, statistics)
    width = x.shape[1]
    for i in range(rows.shape[0]):
        old, new, row = before[i], after[i], rows[i]
        if old == new:
            continue
        at = 1 + width
        for j in range(width):
            for m in range(j + 1):
                product = x[row, j] * x[row, m]
                if old >= 0:
                    statistics[old, at] -= product
                if new >= 0:
                    statistics[new, at] += product
                at += 1
