"""Rows of real numbers: log densities of Gaussian and von Mises-Fisher components, and sums of x and of x x'."""

from __future__ import annotations

import numpy as np
from numba import njit, prange

from orthodrome.kernels.generator import OPTIONS
from orthodrome.models.mixture.compiled.choices import BLOCK, TILE, candidates, choose_one


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


@njit(parallel=True, **OPTIONS)
def choose_gaussian(seed, x, rows, levels, log_weights, means, roots, constants, weighted, chosen):  # type: ignore[no-untyped-def]
    """Choose a component for every row in one pass: its candidates, their log densities, and one of them.

    Components come in descending order of their weights; means, roots and constants are `choices.tiled`.
    """
    size, width = rows.shape[0], x.shape[1]
    for block in prange((size + BLOCK - 1) // BLOCK):
        turned, squares, sums = np.empty(TILE), np.empty(TILE), np.empty(means.shape[0] * TILE)
        for i in range(block * BLOCK, min((block + 1) * BLOCK, size)):
            limit, row = candidates(levels[i], log_weights), rows[i]
            if limit == 1:
                chosen[i] = 0
                continue
            for tile in range((limit + TILE - 1) // TILE):
                for k in range(TILE):
                    squares[k] = 0.0
                for j in range(width):
                    for k in range(TILE):
                        turned[k] = 0.0
                    for m in range(j, width):
                        value = x[row, m]
                        for k in range(TILE):
                            turned[k] += roots[tile, m, j, k] * (value - means[tile, m, k])
                    for k in range(TILE):
                        squares[k] += turned[k] * turned[k]
                for k in range(TILE):
                    sums[tile * TILE + k] = constants[tile, k] - 0.5 * squares[k]
            if weighted:
                for k in range(limit):
                    sums[k] += log_weights[k]
            chosen[i] = choose_one(seed, row, sums[:limit])


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


@njit(parallel=True, **OPTIONS)
def add_sums(x, rows, labels, parts):  # type: ignore[no-untyped-def]
    """Add up 1 and x of blocks of rows, each into statistics of its own."""
    size = (rows.shape[0] + parts.shape[0] - 1) // parts.shape[0]
    for block in prange(parts.shape[0]):
        own = slice(block * size, (block + 1) * size)
        move_sums(x, rows[own], np.full(rows[own].shape[0], -1, np.int32), labels[own], parts[block])


@njit(parallel=True, **OPTIONS)
def add_products(x, rows, labels, parts):  # type: ignore[no-untyped-def]
    """Add up 1, x and x x' of blocks of rows, each into statistics of its own."""
    size = (rows.shape[0] + parts.shape[0] - 1) // parts.shape[0]
    for block in prange(parts.shape[0]):
        own = slice(block * size, (block + 1) * size)
        move_products(x, rows[own], np.full(rows[own].shape[0], -1, np.int32), labels[own], parts[block])
