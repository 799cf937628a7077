"""The order in which a sweep visits tokens: by word, so that the row of a word is read from near for all its tokens.

Tokens of one word in one document stand one after the other in the document, and each draw changes the counts that the
next one reads. If they were visited one after the other, each would wait for the one before it. So all first tokens of
a word are visited before all second ones, and so on (turns; the last one takes the rest). A document's own order
depends on no other document, and where its equal words stand together not on the number of turns either: it is that of
its words, and within a word that of its tokens.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit

from orthodrome.kernels.elements import at, put
from orthodrome.kernels.generator import OPTIONS
from orthodrome.kernels.threads.blocks import over_blocks

TURNS, TURNS_ONCE = 4, 2
"""The turns of a word, in an order that is kept and in one that is used once: more of them take longer to find."""

_INLINE = OPTIONS | {"inline": "always"}


class Order(NamedTuple):
    """The order of the tokens of runs of documents: those from runs[r] to runs[r + 1] are in an order of their own.

    places: of each token its place in the order of its run; empty if every sweep is to find them anew
    """

    runs: np.ndarray
    places: np.ndarray


def token_order(words: Any, starts: Any, runs: np.ndarray, num_words: int) -> Order:
    """Return the order of all tokens."""
    order = Order(runs, np.empty(starts[-1], np.int32))
    over_blocks(_order_run, runs.shape[0] - 1, words, starts, order, num_words)
    return order


@njit(**OPTIONS)
def _order_run(run, thread, words, starts, order, size):  # type: ignore[no-untyped-def]
    begin, end = order.runs[run], order.runs[run + 1]
    by_turns(words, starts, begin, end, size, TURNS, order.places[starts[begin] : starts[end]])


@njit(**_INLINE)
def _next_turn(turn, word, before, turns):  # type: ignore[no-untyped-def]
    """Return the turn of a token, given that of the one before it; no branch, since none could be foreseen."""
    return min(turn + 1, turns - 1) * np.int64(word == before)


@njit(**OPTIONS)
def by_turns(words, starts, begin, end, size, turns, places):  # type: ignore[no-untyped-def]
    """Write the places of the tokens of the documents from `begin` to `end`; size: the number of words."""
    offsets, base = np.zeros(turns * size + 1, np.int32), starts[begin]
    for d in range(begin, end):
        before, turn = np.int64(-1), np.int64(0)
        for i in range(starts[d], starts[d + 1]):
            word = np.int64(at(words, i))
            turn, before = _next_turn(turn, word, before, turns), word
            later = turns * word + turn + 1
            put(offsets, later, at(offsets, later) + 1)
    for w in range(turns * size):
        offsets[w + 1] += offsets[w]
    for d in range(begin, end):
        before, turn = np.int64(-1), np.int64(0)
        for i in range(starts[d], starts[d + 1]):
            word = np.int64(at(words, i))
            turn, before = _next_turn(turn, word, before, turns), word
            own = turns * word + turn
            place = at(offsets, own)
            put(offsets, own, place + 1)
            put(places, i - base, place)


@njit(**OPTIONS)
def word_starts(words, starts, begin, end, size):  # type: ignore[no-untyped-def]
    """Return where the tokens of each of `size` words begin, when those of some documents are in the order of words."""
    offsets = np.zeros(size + 1, np.int32)
    for i in range(starts[begin], starts[end]):
        offsets[words[i] + 1] += np.int32(1)
    for w in range(size):
        offsets[w + 1] += offsets[w]
    return offsets
