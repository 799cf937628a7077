"""Batches of rows, and rows that change their cluster."""

from __future__ import annotations

import numpy as np
from numba import njit

from orthodrome.kernels.generator import OPTIONS, source, uniform, word
from orthodrome.kernels.streams import mixed

_STREAM = np.uint64(2)


@njit(**OPTIONS)
def _put(table, value):  # type: ignore[no-untyped-def]
    """Put a number into a hash table whose free places are -1; return whether it was not there."""
    last = table.shape[0] - 1
    place = np.int64(mixed(np.uint64(value)) & np.uint64(last))
    while table[place] >= 0:
        if table[place] == value:
            return False
        place = (place + 1) & last
    table[place] = value
    return True


@njit(**OPTIONS)
def draw_rows(seed, count, size):  # type: ignore[no-untyped-def]
    """Draw a set of `size` of `count` rows, all sets with the same probability (Floyd, in Bentley 1987)."""
    places = 4
    while places < 4 * size:
        places *= 2
    stream, table, found = source(seed, _STREAM, np.uint64(0)), np.full(places, -1, np.int64), np.empty(size, np.int64)
    for i in range(size):
        last = count - size + i
        row = min(np.int64(uniform(word(stream)) * (last + 1)), last)
        if not _put(table, row):
            _put(table, last)
            row = last
        found[i] = row
    return found


@njit(**OPTIONS)
def count_unlabelled(rows, labels):  # type: ignore[no-untyped-def]
    """Count the rows that have no label."""
    found = 0
    for i in range(rows.shape[0]):
        found += labels[rows[i]] < 0
    return found


@njit(**OPTIONS)
def find_places(held, labels, slots):  # type: ignore[no-untyped-def]
    """Return the places of the slots of rows, -1 for a row without one; held: slots by place."""
    place, found = np.full(slots, -1, np.int32), np.empty(labels.shape[0], np.int32)
    for j in range(held.shape[0]):
        place[held[j]] = j
    for i in range(labels.shape[0]):
        found[i] = place[labels[i]] if labels[i] >= 0 else -1
    return found


@njit(**OPTIONS)
def change_labels(rows, new, labels, sizes, old):  # type: ignore[no-untyped-def]
    """Give rows new labels, write their old ones, count the rows of every slot, and return the slots left empty."""
    left = np.zeros(sizes.shape[0], np.bool_)
    for i in range(rows.shape[0]):
        before = labels[rows[i]]
        old[i] = before
        if before == new[i]:
            continue
        if before >= 0:
            sizes[before] -= 1
            left[before] = True
        sizes[new[i]] += 1
        labels[rows[i]] = new[i]
    count = 0
    found = np.empty(sizes.shape[0], np.int64)
    for slot in range(sizes.shape[0]):
        if left[slot] and sizes[slot] == 0:
            found[count] = slot
            count += 1
    return found[:count]


@njit(**OPTIONS)
def hold_up_to_last(order, total, sizes, log_weights, weights, parameters, auxiliary):  # type: ignore[no-untyped-def]
    """Forget the components behind the last place that has rows; return how many places are left.

    order: slots by place, of which `total` are in use; log_weights: by place; weights: by slot, of those that have rows
    """
    last = total
    while last > 0 and sizes[order[last - 1]] == 0:
        last -= 1
    for place in range(last, total):
        parameters[order[place]] = 0.0
        auxiliary[order[place]] = 0.0
    weights[:] = 0.0
    for place in range(last):
        if sizes[order[place]] > 0:
            weights[order[place]] = np.exp(log_weights[place])
    return last
