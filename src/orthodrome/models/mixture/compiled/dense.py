"""Rows of real numbers: log densities of Gaussian and von Mises-Fisher components, and sums of x and of x x'."""

from __future__ import annotations

import numpy as np
from numba import njit, prange

from orthodrome.kernels.elementary import exp
from orthodrome.kernels.generator import OPTIONS
from orthodrome.models.mixture.compiled.choices import BLOCK, CHOICE, candidates, random_of

SIDE = 256
"""Rows that are computed side by side."""


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

    Components come in descending order of their weights. Rows lie side by side, so that vector instructions take
    several of them at a time.
    """
    size, width = rows.shape[0], x.shape[1]
    for block in prange((size + SIDE - 1) // SIDE):
        begin = block * SIDE
        count, most = min(SIDE, size - begin), 1
        limits, tops, totals = np.ones(SIDE, np.int64), np.full(SIDE, -np.inf), np.zeros(SIDE)
        for i in range(count):
            limits[i] = candidates(levels[begin + i], log_weights)
            most = max(most, limits[i])
        if most == 1:
            for i in range(count):
                chosen[begin + i] = 0
            continue
        turned, side, sums = np.empty(SIDE), np.zeros((width, SIDE)), np.empty((most, SIDE))
        for i in range(count):
            for j in range(width):
                side[j, i] = x[rows[begin + i], j]
        for k in range(most):
            line, constant = sums[k], constants[k] + (log_weights[k] if weighted else 0.0)
            for i in range(SIDE):
                line[i] = 0.0
            for j in range(width):
                for i in range(SIDE):
                    turned[i] = 0.0
                for m in range(j, width):
                    root, mean, values = roots[k, m, j], means[k, m], side[m]
                    for i in range(SIDE):
                        turned[i] += root * (values[i] - mean)
                for i in range(SIDE):
                    line[i] += turned[i] * turned[i]
            for i in range(SIDE):
                line[i] = constant - 0.5 * line[i] if k < limits[i] else -np.inf
            for i in range(SIDE):
                tops[i] = max(tops[i], line[i])
        for k in range(most):
            line = sums[k]
            for i in range(SIDE):
                totals[i] += exp(line[i] - tops[i])
                line[i] = totals[i]
        for i in range(count):
            place = 0
            if limits[i] > 1:
                left = random_of(seed, rows[begin + i], CHOICE) * totals[i]
                while place < limits[i] - 1 and sums[place, i] < left:
                    place += 1
            chosen[begin + i] = place


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
