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
from orthodrome.kernels.vectors.eights import EIGHT, read, write
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
def fill_probabilities(parameters, slots, found):  # type: ignore[no-untyped-def]
    """Write theta of some lines of log theta, categories x components, and zeros behind the last component."""
    size, width = slots.shape[0], parameters.shape[1]
    line = np.empty(_STRETCH)
    found[:, size:] = 0.0
    for first in range(0, width, _STRETCH):  # so few categories that what is written stays in the cache
        count = min(_STRETCH, width - first)
        for k in range(size):
            logs = parameters[slots[k], first : first + count]
            for c in range(count):
                line[c] = exp(logs[c])
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
def _spell_out(begin, end, columns, counts, tokens):  # type: ignore[no-untyped-def]
    """Write each category as often as a row counts it; return how many there are, -1 if not few or not whole."""
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
    return total


@njit(**OPTIONS)
def _place_of(tokens, total, theta, base, masks, products, limit, chance):  # type: ignore[no-untyped-def]
    """Return the place that a uniform number chooses in proportion to the products; -1 if all of them are tiny.

    Eight components at a time: of loops as short as these a compiler would do most numbers one by one.
    """
    width, reached = theta.shape[1], 0.0
    for first in range(0, limit, EIGHT):
        found = read(base, first)
        for k in range(total):
            found = found * read(theta, tokens[k] * width + first)
        if first + EIGHT > limit:
            found = found * read(masks, (limit - first) * EIGHT)
        write(products, first, found)
        inside = 0.0  # the sums of eight do not wait for those before
        for k in range(EIGHT):
            inside += products[first + k]
            products[first + k] = reached + inside
        reached += inside
    level, place = chance * reached, 0
    for first in range(0, limit, EIGHT):
        for k in range(EIGHT):
            place += products[first + k] < level
    return place if reached > _FAINT else _LEFT


@njit(**OPTIONS)
def _choose_block(seed, table, rows, levels, log_weights, slots, theta, base, chosen):  # type: ignore[no-untyped-def]
    """Choose for the rows of one block; return how many are left."""
    starts, columns, counts = table
    size = rows.shape[0]
    begins, lengths, limits = np.empty(size, np.int64), np.empty(size, np.int64), np.empty(size, np.int64)
    order, chances = np.empty(size, np.int64), np.empty(size)
    tokens, products, masks = np.empty(FEW, np.int64), np.empty(base.shape[0]), np.zeros((EIGHT, EIGHT))
    for k in range(EIGHT):
        masks[k, :k] = 1.0
    fetch(starts, columns, counts, rows, begins, lengths, chances)
    count_reached(levels, log_weights, limits)
    short = order_by_work(lengths, limits, order)
    for i in range(size):
        chances[i] = random_of(seed, rows[i], CHOICE)
    left = size - short
    for j in range(short):
        i = order[j]
        total = _spell_out(begins[i], begins[i] + lengths[i], columns, counts, tokens)
        place = _LEFT
        if total >= 0:
            place = _place_of(tokens, total, theta, base, masks, products, limits[i], chances[i])
        chosen[i] = slots[place] if place >= 0 else _LEFT
        left += place < 0
    for j in range(short, size):
        chosen[order[j]] = _LEFT
    return left


@njit(**OPTIONS)
def _prepared(log_weights, parameters, slots, weighted):  # type: ignore[no-untyped-def]
    """Return theta, and the numbers that all products of a component have as a factor; both filled up with zeros to a
    multiple of eight components."""
    size = slots.shape[0]
    width = (size + EIGHT - 1) // EIGHT * EIGHT
    theta, base = np.empty((parameters.shape[1], width)), np.zeros(width)
    base[:size] = 1.0
    fill_probabilities(parameters, slots, theta)
    if weighted:
        for k in range(size):
            base[k] = exp(log_weights[k] - log_weights[0])
    return theta, base


@njit(**OPTIONS)
def _choose_few_rows(seed, table, rows, levels, log_weights, parameters, slots, weighted, chosen):  # type: ignore[no-untyped-def]
    """Choose without waking threads."""
    theta, base = _prepared(log_weights, parameters, slots, weighted)
    left = 0
    for begin in range(0, rows.shape[0], BLOCK):
        cut = slice(begin, begin + BLOCK)
        left += _choose_block(seed, table, rows[cut], levels[cut], log_weights, slots, theta, base, chosen[cut])
    return left


@njit(parallel=True, **OPTIONS)
def _choose_many_rows(seed, starts, columns, counts, rows, levels, log_weights, parameters, slots, weighted, chosen):  # type: ignore[no-untyped-def]
    """Choose on all threads."""
    theta, base = _prepared(log_weights, parameters, slots, weighted)
    left = 0
    for block in prange((rows.shape[0] + BLOCK - 1) // BLOCK):
        cut = slice(block * BLOCK, (block + 1) * BLOCK)
        table = (starts, columns, counts)
        left += _choose_block(seed, table, rows[cut], levels[cut], log_weights, slots, theta, base, chosen[cut])
    return left


def choose_by_products(seed, table, rows, levels, log_weights, parameters, slots, weighted, chosen):  # type: ignore[no-untyped-def]
    """Choose a slot for every row with few counts, and -1 for the others; return how many these are.

    table: starts, columns and counts; slots: lines of log theta, in descending order of their weights
    """
    if rows.shape[0] <= _ALONE:
        return _choose_few_rows(seed, table, rows, levels, log_weights, parameters, slots, weighted, chosen)
    return _choose_many_rows(seed, *table, rows, levels, log_weights, parameters, slots, weighted, chosen)
