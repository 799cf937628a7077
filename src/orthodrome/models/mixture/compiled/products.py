"""The choice of a component for rows with few counts, by products of probabilities.

The density of a row under component k is prod_c theta_kc^{x_c}. A few probabilities can be multiplied without coming
near the smallest number, so that no row needs logarithms and exponentials. Rows that have many counts, or counts that
are not whole, or whose products are all tiny, are left to sums of logarithms (`compiled.counts`). Which rows these are
depends on the rows and the parameters only.

What limits the speed is neither arithmetic nor memory but branches that the processor guesses wrongly. So the rows of
a block are done in the order of their lengths and numbers of candidates, with loops that are equally long for many rows
in turn; as each row has a random number of its own, the order does not matter.
"""

from __future__ import annotations

import numpy as np
from numba import njit, prange

from orthodrome.kernels.elementary import exp
from orthodrome.kernels.generator import OPTIONS
from orthodrome.models.mixture.compiled.choices import BLOCK, CHOICE, candidates, random_of

FEW = 64
"""The most counts of a row whose densities are products."""
_LINEAR, _STRETCH, _SORTED = 128, 64, 32
"""The most components whose weights are all compared with a level, categories that are written at a time, and the most
candidates by whose number rows are sorted."""
_FAINT, _LEFT = 1e-280, -1
_ALONE = 4 * BLOCK
"""The most rows for which no thread is woken: that may take as long as the choices."""


@njit(**OPTIONS)
def fill_probabilities(lines, found):  # type: ignore[no-untyped-def]
    """Write theta of lines of log theta, categories x components, and ones behind the last category."""
    size, width = lines.shape
    line = np.empty(_STRETCH)
    found[width] = 1.0
    for first in range(0, width, _STRETCH):  # so few categories that what is written stays in the cache
        count = min(_STRETCH, width - first)
        for k in range(size):
            for c in range(count):
                line[c] = exp(lines[k, first + c])
            for c in range(count):
                found[first + c, k] = line[c]


@njit(**OPTIONS)
def count_reached(levels, log_weights, limits):  # type: ignore[no-untyped-def]
    """Count the components whose log weights, in descending order, reach the level of each row; at least one."""
    if log_weights.shape[0] > _LINEAR:
        for i in range(levels.shape[0]):
            limits[i] = candidates(levels[i], log_weights)
        return
    limits[:] = 1
    for k in range(1, log_weights.shape[0]):
        weight = log_weights[k]
        for i in range(levels.shape[0]):
            limits[i] += weight >= levels[i]


@njit(**OPTIONS)
def fetch(starts, columns, counts, rows, begins, lengths, heads):  # type: ignore[no-untyped-def]
    """Write where rows begin and how many entries they have, and read the first entry of each.

    The reads do not wait for each other, so many are fetched from memory at a time; later ones find them in the cache.
    """
    for i in range(rows.shape[0]):
        begins[i] = starts[rows[i]]
        lengths[i] = starts[rows[i] + 1] - begins[i]
    last = columns.shape[0] - 1
    if last >= 0:
        for i in range(rows.shape[0]):
            place = min(begins[i], last)
            heads[i] = counts[place] + columns[place]


@njit(**OPTIONS)
def order_by_work(lengths, limits, order):  # type: ignore[no-untyped-def]
    """Sort rows by their lengths and numbers of candidates, those that are too long last; return where these begin."""
    ends, keys = np.zeros((FEW + 2) * _SORTED + 1, np.int64), np.empty(lengths.shape[0], np.int64)
    for i in range(lengths.shape[0]):
        keys[i] = min(lengths[i], FEW + 1) * _SORTED + min(limits[i], _SORTED) - 1
    for i in range(lengths.shape[0]):
        ends[keys[i] + 1] += 1
    for key in range(1, ends.shape[0]):
        ends[key] += ends[key - 1]
    short = ends[(FEW + 1) * _SORTED]
    for i in range(lengths.shape[0]):
        order[ends[keys[i]]] = i
        ends[keys[i]] += 1
    return short


@njit(**OPTIONS)
def _spell_out(begin, end, columns, counts, nothing, tokens):  # type: ignore[no-untyped-def]
    """Write each category as often as a row counts it, and then `nothing` up to a multiple of four.

    Return how many there are; -1 if they are not few or not whole.
    """
    total = 0
    for e in range(begin, end):
        if counts[e] == 1.0 and total < FEW:
            tokens[total] = columns[e]
            total += 1
            continue
        x = np.int64(min(counts[e], FEW + 1.0))
        if x != counts[e] or total + x > FEW:
            return _LEFT
        for _ in range(x):
            tokens[total] = columns[e]
            total += 1
    for k in range(total, total + 4):
        tokens[k] = nothing
    return total


@njit(**OPTIONS)
def _place_of(tokens, total, theta, base, products, limit, chance):  # type: ignore[no-untyped-def]
    """Return the place that a uniform number chooses in proportion to the products; -1 if all of them are tiny.

    Four probabilities at a time, since most rows have no more.
    """
    for first in range(4, total, 4):
        a, b, c, d = tokens[first], tokens[first + 1], tokens[first + 2], tokens[first + 3]
        for k in range(limit):
            before = base[k] if first == 4 else products[k]
            products[k] = before * ((theta[a, k] * theta[b, k]) * (theta[c, k] * theta[d, k]))
    a, b, c, d = tokens[0], tokens[1], tokens[2], tokens[3]
    others, reached = products if total > 4 else base, 0.0
    for k in range(limit):
        reached += others[k] * ((theta[a, k] * theta[b, k]) * (theta[c, k] * theta[d, k]))
        products[k] = reached
    level, place = chance * reached, 0
    for k in range(limit):
        place += products[k] < level
    return place if reached > _FAINT else _LEFT


@njit(**OPTIONS)
def _choose_block(seed, table, rows, levels, log_weights, theta, base, chosen):  # type: ignore[no-untyped-def]
    """Choose for the rows of one block."""
    starts, columns, counts = table
    size, nothing = rows.shape[0], theta.shape[0] - 1
    begins, lengths, limits = np.empty(size, np.int64), np.empty(size, np.int64), np.empty(size, np.int64)
    order, chances = np.empty(size, np.int64), np.empty(size)
    tokens, products = np.empty(FEW + 4, np.int64), np.empty(log_weights.shape[0])
    fetch(starts, columns, counts, rows, begins, lengths, chances)
    count_reached(levels, log_weights, limits)
    short = order_by_work(lengths, limits, order)
    for i in range(size):
        chances[i] = random_of(seed, rows[i], CHOICE)
    for j in range(short):
        i = order[j]
        total = _spell_out(begins[i], begins[i] + lengths[i], columns, counts, nothing, tokens)
        chosen[i] = _LEFT
        if total >= 0:
            chosen[i] = _place_of(tokens, total, theta, base, products, limits[i], chances[i])
    for j in range(short, size):
        chosen[order[j]] = _LEFT


@njit(**OPTIONS)
def _prepared(log_weights, lines, weighted):  # type: ignore[no-untyped-def]
    """Return theta, and the numbers that all products of a component have as a factor."""
    theta, base = np.empty((lines.shape[1] + 1, lines.shape[0])), np.ones(lines.shape[0])
    fill_probabilities(lines, theta)
    if weighted:
        for k in range(lines.shape[0]):
            base[k] = exp(log_weights[k] - log_weights[0])
    return theta, base


@njit(**OPTIONS)
def _choose_few_rows(seed, table, rows, levels, log_weights, lines, weighted, chosen):  # type: ignore[no-untyped-def]
    """Choose without waking threads."""
    theta, base = _prepared(log_weights, lines, weighted)
    for begin in range(0, rows.shape[0], BLOCK):
        cut = slice(begin, begin + BLOCK)
        _choose_block(seed, table, rows[cut], levels[cut], log_weights, theta, base, chosen[cut])


@njit(parallel=True, **OPTIONS)
def _choose_many_rows(seed, starts, columns, counts, rows, levels, log_weights, lines, weighted, chosen):  # type: ignore[no-untyped-def]
    """Choose on all threads."""
    theta, base = _prepared(log_weights, lines, weighted)
    for block in prange((rows.shape[0] + BLOCK - 1) // BLOCK):
        cut = slice(block * BLOCK, (block + 1) * BLOCK)
        table = (starts, columns, counts)
        _choose_block(seed, table, rows[cut], levels[cut], log_weights, theta, base, chosen[cut])


def choose_by_products(seed, table, rows, levels, log_weights, lines, weighted, chosen):  # type: ignore[no-untyped-def]
    """Choose a component for every row with few counts; -1 for the others.

    table: starts, columns and counts. Components come in descending order of their weights, the lines of log theta as
    well.
    """
    if rows.shape[0] <= _ALONE:
        _choose_few_rows(seed, table, rows, levels, log_weights, lines, weighted, chosen)
    else:
        _choose_many_rows(seed, *table, rows, levels, log_weights, lines, weighted, chosen)
