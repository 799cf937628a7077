"""Half of the documents of a block: its tokens in the order of their words, before and after the sweeps over them."""

from __future__ import annotations

import numpy as np
from numba import njit

from orthodrome.kernels.elements import at, put
from orthodrome.kernels.generator import OPTIONS
from orthodrome.kernels.lanes import LANES
from orthodrome.kernels.tokens.order import word_starts

OWNER, WORD, PLACE, TOPIC, FIELDS = range(5)
"""Of a token: its document, its word, its place from the first one of the half on, its topic (-1: none)."""

_GOLDEN, _ONE = np.uint64(0x9E3779B97F4A7C15), np.float32(1.0)


@njit(**OPTIONS)
def enlist(words, starts, begin, end, z, size, far, begun, tokens, numbers, tall):  # type: ignore[no-untyped-def]
    """Write the tokens of some documents, in the order of their words, from token `far` on, and count their topics.

    begun: the first row of the half in `numbers`; its last row is that of the document that does not exist.
    """
    base, offsets = starts[begin], word_starts(words, starts, begin, end, size)
    for d in range(begin, end):
        own = (begun + (d - begin) * tall) * LANES
        for i in range(starts[d], starts[d + 1]):
            w, k = np.int64(words[i]), np.int64(z[i])
            j = np.int64(at(offsets, w))
            put(offsets, w, j + 1)
            record = (far + j) * FIELDS
            put(tokens, record + OWNER, begun // tall + d - begin)
            put(tokens, record + WORD, w)
            put(tokens, record + PLACE, i - base)
            put(tokens, record + TOPIC, k)
            if k >= 0:
                put(numbers, own + k, at(numbers, own + k) + _ONE)


@njit(**OPTIONS)
def end_of_sweep(starts, begin, end, first, tall, keys, numbers, mixes, kept):  # type: ignore[no-untyped-def]
    """Move the streams of some documents on, and add their counts to `mixes`; first: the number of the first one."""
    for d in range(begin, end):
        keys[first + d - begin] += np.uint64(starts[d + 1] - starts[d]) * _GOLDEN
        if kept:
            own = (first + d - begin) * tall * LANES
            for k in range(mixes.shape[1]):
                mixes[d, k] += at(numbers, own + k)


@njit(**OPTIONS)
def write_back(tokens, begin, end, z, base):  # type: ignore[no-untyped-def]
    """Write the topics of tokens back."""
    for j in range(begin, end):
        z[base + tokens[j, PLACE]] = tokens[j, TOPIC]
