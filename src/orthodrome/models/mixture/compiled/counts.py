"""Rows of counts: log densities sum_c x_ic log theta_kc, and sums of counts for each component."""

from __future__ import annotations

import numpy as np
from numba import njit, prange

from orthodrome.kernels.cir import draw_transitions
from orthodrome.kernels.generator import OPTIONS, source
from orthodrome.models.mixture.compiled.choices import BLOCK, TILE, candidates, choose_one
from orthodrome.models.mixture.compiled.normalising import normalise_line, sum_of
from orthodrome.models.mixture.compiled.places import log_gamma

_TOGETHER = 2048
"""Numbers of several components that are drawn from one random stream; a part of the definition of the draws."""
_ALONE = 16_384
"""The most numbers for which no thread is woken: that may take as long as to draw them."""
_COPIED = 4
"""Entries that are copied of every row."""
_TRANSITIONS, _TOTALS = np.uint64(0), np.uint64(1)
"""Streams of a group."""


@njit(parallel=True, **OPTIONS)
def count_densities(starts, columns, counts, rows, logs, limits, found):  # type: ignore[no-untyped-def]
    """Write the log densities of some rows under their first `limits` components; logs is categories x components."""
    size = rows.shape[0]
    for block in prange((size + BLOCK - 1) // BLOCK):
        sums = np.empty(logs.shape[1])
        for i in range(block * BLOCK, min((block + 1) * BLOCK, size)):
            limit = limits[i]
            if limit == 2:  # splits and merges ask for two
                first = second = 0.0
                for e in range(starts[rows[i]], starts[rows[i] + 1]):
                    x, c = counts[e], columns[e]
                    first += x * logs[c, 0]
                    second += x * logs[c, 1]
                found[i, 0], found[i, 1] = first, second
                continue
            sums[:limit] = 0.0
            for e in range(starts[rows[i]], starts[rows[i] + 1]):
                x, c = counts[e], columns[e]
                for k in range(limit):
                    sums[k] += x * logs[c, k]
            for k in range(limit):
                found[i, k] = sums[k]


@njit(**OPTIONS)
def take_counts(starts, columns, counts, rows):  # type: ignore[no-untyped-def]
    """Return starts, columns and counts of some rows, in their order.

    Of each row four entries are copied whether it has them or not, as most have no more, and no processor guesses how
    many; what is too much is overwritten by the next row.
    """
    begins, last = np.zeros(rows.shape[0] + 1, starts.dtype), columns.shape[0] - 1
    for i in range(rows.shape[0]):
        begins[i + 1] = begins[i] + starts[rows[i] + 1] - starts[rows[i]]
    total = begins[-1]
    own_columns, own_counts = np.empty(total + _COPIED, columns.dtype), np.empty(total + _COPIED, counts.dtype)
    for i in range(rows.shape[0] if last >= 0 else 0):
        first, begin = starts[rows[i]], begins[i]
        for e in range(_COPIED):
            own_columns[begin + e] = columns[min(first + e, last)]
            own_counts[begin + e] = counts[min(first + e, last)]
        for e in range(_COPIED, begins[i + 1] - begin):
            own_columns[begin + e] = columns[first + e]
            own_counts[begin + e] = counts[first + e]
    return begins, own_columns[:total], own_counts[:total]


@njit(**OPTIONS)
def add_tile(begin, end, columns, counts, logs, sums):  # type: ignore[no-untyped-def]
    """Write the sums of x log theta of one row for TILE components; as eight variables they stay in registers."""
    a = b = c = d = e = f = g = h = 0.0
    for place in range(begin, end):
        x, line = counts[place], logs[columns[place]]
        a += x * line[0]
        b += x * line[1]
        c += x * line[2]
        d += x * line[3]
        e += x * line[4]
        f += x * line[5]
        g += x * line[6]
        h += x * line[7]
    sums[0], sums[1], sums[2], sums[3], sums[4], sums[5], sums[6], sums[7] = a, b, c, d, e, f, g, h


@njit(parallel=True, **OPTIONS)
def choose_counts(seed, starts, columns, counts, rows, names, levels, log_weights, logs, weighted, chosen):  # type: ignore[no-untyped-def]
    """Choose a component for every row in one pass: its candidates, their log densities, and one of them.

    rows: where they are; names: the numbers of their random streams. Components come in descending order of their
    weights; logs is tiles x categories x TILE (`choices.tiled`).
    """
    size = rows.shape[0]
    for block in prange((size + BLOCK - 1) // BLOCK):
        sums = np.empty(logs.shape[0] * TILE)
        for i in range(block * BLOCK, min((block + 1) * BLOCK, size)):
            limit = candidates(levels[i], log_weights)
            if limit == 1:
                chosen[i] = 0
                continue
            begin, end = starts[rows[i]], starts[rows[i] + 1]
            for tile in range((limit + TILE - 1) // TILE):
                add_tile(begin, end, columns, counts, logs[tile], sums[tile * TILE : (tile + 1) * TILE])
            if weighted:
                for k in range(limit):
                    sums[k] += log_weights[k]
            chosen[i] = choose_one(seed, names[i], sums[:limit])


@njit(**OPTIONS)
def _renew_line(stream, shapes, bounds, found, logs):  # type: ignore[no-untyped-def]
    """Write log theta with the shares of a normalised line, and totals drawn given the sums of the shapes."""
    for b in range(bounds.shape[0] - 1):
        total = log_gamma(stream, sum_of(shapes[bounds[b] : bounds[b + 1]]))
        for c in range(bounds[b], bounds[b + 1]):
            logs[c] = found[c] + total


@njit(**OPTIONS)
def _advance_lines(seed, group, renew, prior, statistics, lines, scales, bounds, slots, log_theta, found):  # type: ignore[no-untyped-def]
    """Draw the transitions of the lines in some slots from the streams of their group."""
    count, width = slots.shape[0], log_theta.shape[1]
    logs, shapes = np.empty((count, width)), np.empty((count, width))
    stream = source(seed, group, _TOTALS)
    for k in range(count):
        own = statistics[lines[k]]
        for c in range(width):
            shapes[k, c] = prior + own[1 + c]
        if renew:
            _renew_line(stream, shapes[k], bounds, found[slots[k]], logs[k])
        else:
            logs[k] = log_theta[slots[k]]
    draw_transitions(source(seed, group, _TRANSITIONS), logs.reshape(-1), shapes.reshape(-1), scales[0], scales[1])
    for k in range(count):
        log_theta[slots[k]] = logs[k]
        normalise_line(logs[k], bounds, found[slots[k]])


@njit(**OPTIONS)
def _advance_few(seed, together, renew, prior, statistics, lines, scales, bounds, slots, log_theta, found):  # type: ignore[no-untyped-def]
    """Draw without waking threads."""
    for group in range((slots.shape[0] + together - 1) // together):
        cut = slice(group * together, (group + 1) * together)
        facts = (scales, bounds, slots[cut], log_theta, found)
        _advance_lines(seed, group, renew, prior, statistics, lines[cut], *facts)


@njit(parallel=True, **OPTIONS)
def _advance_many(seed, together, renew, prior, statistics, lines, scales, bounds, slots, log_theta, found):  # type: ignore[no-untyped-def]
    """Draw on all threads."""
    for group in prange((slots.shape[0] + together - 1) // together):
        cut = slice(group * together, (group + 1) * together)
        facts = (scales, bounds, slots[cut], log_theta, found)
        _advance_lines(seed, group, renew, prior, statistics, lines[cut], *facts)


def advance_counts(seed, renew, prior, statistics, lines, scales, bounds, slots, log_theta, found):  # type: ignore[no-untyped-def]
    """Draw CIR transitions of log theta in some slots, in place, with the shapes prior + counts; write its normalised
    lines.

    renew: begin at the shares of the normalised lines, and at totals drawn given the counts
    lines: where the statistics of the slots are; scales: logarithms of factor and scale of a transition
    """
    together = max(1, _TOGETHER // log_theta.shape[1])  # short loops cost more than long ones for each number
    advance = _advance_few if slots.shape[0] * log_theta.shape[1] <= _ALONE else _advance_many
    advance(seed, together, renew, prior, statistics, lines, scales, bounds, slots, log_theta, found)


@njit(**OPTIONS)
def move_counts(starts, columns, counts, rows, before, after, statistics):  # type: ignore[no-untyped-def]
    """Take rows out of the sums of one component and add them to another's; -1 is none."""
    for i in range(rows.shape[0]):
        old, new = before[i], after[i]
        if old == new:
            continue
        begin, end = starts[rows[i]], starts[rows[i] + 1]
        if old >= 0:
            statistics[old, 0] -= 1.0
            for e in range(begin, end):
                statistics[old, 1 + columns[e]] -= counts[e]
        if new >= 0:
            statistics[new, 0] += 1.0
            for e in range(begin, end):
                statistics[new, 1 + columns[e]] += counts[e]


@njit(**OPTIONS)
def add_block(starts, columns, counts, rows, labels, sums):  # type: ignore[no-untyped-def]
    """Add rows to the sums of their labels."""
    for i in range(rows.shape[0]):
        if labels[i] >= 0:
            line = sums[labels[i]]
            line[0] += 1.0
            for e in range(starts[rows[i]], starts[rows[i] + 1]):
                line[1 + columns[e]] += counts[e]


@njit(parallel=True, **OPTIONS)
def add_blocks(starts, columns, counts, rows, labels, parts):  # type: ignore[no-untyped-def]
    """Add up blocks of rows, each into statistics of its own."""
    size = (rows.shape[0] + parts.shape[0] - 1) // parts.shape[0]
    for block in prange(parts.shape[0]):
        cut = slice(block * size, min((block + 1) * size, rows.shape[0]))
        add_block(starts, columns, counts, rows[cut], labels[cut], parts[block])
