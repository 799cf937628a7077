"""The tokens of a block of documents in the order of their words, so that the row of a word is read from near."""

from __future__ import annotations

import numpy as np
from numba import njit

from orthodrome.kernels.generator import OPTIONS


@njit(**OPTIONS)
def word_starts(words, starts, begin, end, size):  # type: ignore[no-untyped-def]
    """Return where the tokens of each of `size` words begin, when those of some documents are in the order of words."""
    offsets = np.zeros(size + 1, np.int32)
    for i in range(starts[begin], starts[end]):
        offsets[words[i] + 1] += np.int32(1)
    for w in range(size):
        offsets[w + 1] += offsets[w]
    return offsets


@njit(**OPTIONS)
def sort_by_word(words, starts, begin, end, offsets, places, owners):  # type: ignore[no-untyped-def]
    """Write the tokens of some documents in the order of their words.

    offsets: where each word's tokens begin, and afterwards where they end; places: of the tokens, from the first one of
    the block on; owners: their documents, from the first one of the block on.
    """
    base = starts[begin]
    for d in range(begin, end):
        for i in range(starts[d], starts[d + 1]):
            at = offsets[words[i]]
            offsets[words[i]] = at + np.int32(1)
            places[at], owners[at] = np.int32(i - base), np.int32(d - begin)
