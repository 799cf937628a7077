"""The arrays around a sweep, made topics as rows of sixteen before it, one table of counts after it."""

from __future__ import annotations

from numba import njit

from orthodrome.kernels.elements import aligned_rows
from orthodrome.kernels.generator import OPTIONS
from orthodrome.kernels.lanes import LANES


@njit(**OPTIONS)
def padded_rows(topics, used, least, tall):  # type: ignore[no-untyped-def]
    """Return the probabilities of the used words, raised to `least`, as `tall` rows of sixteen, with zeros behind."""
    count = topics.shape[1]
    rows = aligned_rows(used.shape[0] * tall)
    flat = rows.reshape(used.shape[0], tall * LANES)
    for i in range(used.shape[0]):
        for k in range(count):
            flat[i, k] = max(topics[used[i], k], least)
    return rows


@njit(**OPTIONS)
def summed(counts):  # type: ignore[no-untyped-def]
    """Add the counts of the other threads, (threads, words, K), to those of the first, and return them."""
    for w in range(counts.shape[1]):
        for thread in range(1, counts.shape[0]):
            for k in range(counts.shape[2]):
                counts[0, w, k] += counts[thread, w, k]
    return counts[0]
