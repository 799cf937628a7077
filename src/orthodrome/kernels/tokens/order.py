"""The tokens of a block of documents in the order of their words, so that the row of a word is read from near."""

from __future__ import annotations

import numpy as np
from numba import njit

from orthodrome.kernels.generator import OPTIONS


@njit(**OPTIONS)
def sort_by_word(words, starts, begin, end, offsets, places, owners):  # type: ignore[no-untyped-def]
    """Write the tokens of some documents in the order of their words, and where each word's tokens end in `offsets`.

    offsets: zeros, one more than there are words; places: of the tokens, from the first one of the block on; owners:
    their documents, from the first one of the block on.
    """
    base = starts[begin]
    for i in range(base, starts[end]):
        offsets[words[i] + 1] += np.int32(1)
    for w in range(offsets.shape[0] - 1):
        offsets[w + 1] += offsets[w]
    for d in range(begin, end):
        for i in range(starts[d], starts[d + 1]):
            at = offsets[words[i]]
            offsets[words[i]] = at + np.int32(1)
            places[at], owners[at] = np.int32(i - base), np.int32(d - begin)
