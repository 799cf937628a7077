"""Loops over the tokens of large corpora that need no memory beside their results."""

from __future__ import annotations

import numpy as np
from numba import njit

from orthodrome.kernels.generator import OPTIONS

_GOLDEN, _29, _32 = np.uint64(0x9E3779B97F4A7C15), np.uint64(29), np.uint64(32)
_FACTOR, _ONE = np.uint64(0xBF58476D1CE4E5B9), np.uint64(1)


@njit(**OPTIONS)
def gather(words, starts, rows, places, found):  # type: ignore[no-untyped-def]
    """Copy the words of the documents `rows` to where `places` says that they begin in `found`."""
    for j in range(rows.shape[0]):
        begin, size = starts[rows[j]], starts[rows[j] + 1] - starts[rows[j]]
        for i in range(size):
            found[places[j] + i] = words[begin + i]


@njit(**OPTIONS)
def word_keys(words, starts, found):  # type: ignore[no-untyped-def]
    """Write a number for each document that is made of its words in any order."""
    for d in range(starts.shape[0] - 1):
        total = np.uint64(0)
        for i in range(starts[d], starts[d + 1]):
            mix = (np.uint64(words[i]) + _ONE) * _GOLDEN
            mix = (mix ^ (mix >> _29)) * _FACTOR
            total += mix ^ (mix >> _32)
        found[d] = total


@njit(**OPTIONS)
def count_words(words, found):  # type: ignore[no-untyped-def]
    """Add to `found` how often each word occurs."""
    for i in range(words.shape[0]):
        found[words[i]] += 1
