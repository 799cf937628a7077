"""Half of the documents of a block: its tokens in the order of their words, before and after the sweeps over them."""

from __future__ import annotations

import numpy as np
from numba import njit

from orthodrome.kernels.elements import at, put
from orthodrome.kernels.generator import OPTIONS
from orthodrome.kernels.lanes import LANES
from orthodrome.kernels.tokens.order import TURNS_ONCE, by_turns

OWNER, WORD, PLACE, TOPIC, FIELDS = range(5)
"""Of a token: its document, its word, its place from the first one of the half on, its topic (-1: none)."""

_GOLDEN, _ONE = np.uint64(0x9E3779B97F4A7C15), np.float32(1.0)


@njit(**OPTIONS)
def half_order(words, starts, begin, end, size, order):  # type: ignore[no-untyped-def]
    """Return the places of the tokens of a half: a part of those that are known, or found now."""
    if order.places.shape[0] > 0:
        return order.places[starts[begin] : starts[end]]
    places = np.empty(starts[end] - starts[begin], np.int32)
    by_turns(words, starts, begin, end, size, TURNS_ONCE, places)
    return places


@njit(**OPTIONS)
def enlist(words, z, starts, begin, end, places, far, begun, tokens, numbers, tall):  # type: ignore[no-untyped-def]
    """Write the tokens of some documents, in their order, from token `far` on, and count their topics.

    begun: the first row of the half in `numbers`; its last row is that of the document that does not exist.
    """
    base = starts[begin]
    for d in range(begin, end):
        own = (begun + (d - begin) * tall) * LANES
        for i in range(starts[d], starts[d + 1]):
            k, record = np.int64(at(z, i)), (far + np.int64(at(places, i - base))) * FIELDS
            put(tokens, record + OWNER, begun // tall + d - begin)
            put(tokens, record + WORD, at(words, i))
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
def write_back(tokens, far, places, z, base):  # type: ignore[no-untyped-def]
    """Write the topics of the tokens of a half back; base: where it begins in `z`."""
    for i in range(places.shape[0]):
        put(z, base + i, at(tokens, (far + np.int64(at(places, i))) * FIELDS + TOPIC))
