"""The arrays around a sweep, made topics as rows of sixteen before it, one table of counts after it."""

from __future__ import annotations

from typing import Any

from numba import njit

from orthodrome.kernels.elements import aligned_rows
from orthodrome.kernels.generator import OPTIONS
from orthodrome.kernels.lanes import LANES
from orthodrome.kernels.threads.blocks import over_blocks

_PART = 500_000
"""Numbers that a thread writes at a time: some tenths of a millisecond."""


def padded_rows(topics: Any, used: Any, least: Any, tall: int) -> Any:
    """Return the probabilities of the used words, raised to `least`, as `tall` rows of sixteen, with zeros behind."""
    rows = aligned_rows.py_func(used.shape[0] * tall)  # its memory is zero without being written to
    parts = max(1, rows.size // _PART)
    over_blocks(_fill, parts, parts, topics, used, least, rows.reshape(used.shape[0], tall * LANES))
    return rows


@njit(**OPTIONS)
def _fill(part, thread, parts, topics, used, least, flat):  # type: ignore[no-untyped-def]
    for i in range(part * used.shape[0] // parts, (part + 1) * used.shape[0] // parts):
        for k in range(topics.shape[1]):
            flat[i, k] = max(topics[used[i], k], least)


@njit(**OPTIONS)
def summed(counts):  # type: ignore[no-untyped-def]
    """Add the counts of the other threads, (threads, words, K), to those of the first, and return them."""
    for w in range(counts.shape[1]):
        for thread in range(1, counts.shape[0]):
            for k in range(counts.shape[2]):
                counts[0, w, k] += counts[thread, w, k]
    return counts[0]
