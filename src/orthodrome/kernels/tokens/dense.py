"""Gibbs sweeps over topic assignments, given the topics, for few topics: all of them at once, and no branch on chance.

A token of word w in a document takes topic k with probability proportional to (alpha_k + n_k) phi_kw, n_k counting the
document's other tokens. Up to some hundred topics it is cheaper to form all of these products, sixteen at a time
(`kernels.tokens.choice`), than to look for the n_k that are not zero (`kernels.tokens.sweeps`): nothing is gathered,
and the processor has nothing to guess wrong. Instructions are saved: the number of rows of sixteen is a constant of the
compiled loop (`kernels.elements`), and alpha is read once for all tokens.

Rows of phi follow one another, so the processor fetches them by itself. Which count of its word a token is added to is
left to chance, though, and where other programs or threads fill the shared cache it comes from memory. Most tokens keep
their topic, so the count of the token's last topic is fetched ahead; a wrong guess costs an instruction.

Each step of a draw waits for the one before, so two tokens are drawn side by side, one of each half of a block's
documents. Each half has its tokens in the order of their words (`kernels.tokens.order`), so that a word's row of phi is
read from near; the shorter half is filled up with tokens of a document that does not exist. A document's own order and
its random stream depend on no other document, so no draw depends on threads, blocks or halves.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from orthodrome.kernels.elements import aligned_rows, at, put, rows_from
from orthodrome.kernels.generator import OPTIONS
from orthodrome.kernels.lanes import LANES, load, store
from orthodrome.kernels.lists import one_less, one_more
from orthodrome.kernels.scans import prefetch_to_write
from orthodrome.kernels.streams import mixed, stream_key
from orthodrome.kernels.tokens.choice import chosen, weighed
from orthodrome.kernels.tokens.halves import (
    FIELDS,
    OWNER,
    PLACE,
    TOPIC,
    WORD,
    end_of_sweep,
    enlist,
    half_order,
    write_back,
)

_INLINE = OPTIONS | {"inline": "always"}
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_AHEAD = 8
"""How many tokens ahead of a half's present one counts are fetched: 4 and 16 gain nearly as much."""


@njit(**_INLINE)
def _left(old, first, numbers):  # type: ignore[no-untyped-def]
    """Count a token of the document whose rows begin at `first` no longer."""
    if old >= 0:
        r = first + (old >> 4)
        store(numbers, r, one_less(load(numbers, r), old & 15))


@njit(**_INLINE)
def _took(topic, first, numbers):  # type: ignore[no-untyped-def]
    """Count a token of the document whose rows begin at `first`."""
    r = first + (topic >> 4)
    store(numbers, r, one_more(load(numbers, r), topic & 15))


@njit(**_INLINE)
def _counted(word, topic, counts, own, count, weight):  # type: ignore[no-untyped-def]
    """Add a token to the counts of words, which begin at element `own`."""
    place = own + word * count + topic
    put(counts, place, at(counts, place) + weight)


@njit(**_INLINE)
def _fetched(token, tokens, counts, own, count):  # type: ignore[no-untyped-def]
    """Fetch the count that a later token will most likely be added to; without a topic it is a neighbour's."""
    word, topic = np.int64(at(tokens, token + WORD)), np.int64(at(tokens, token + TOPIC))
    prefetch_to_write(counts, own + word * count + topic)


@njit(**OPTIONS)
def _sweep(tokens, far, numbers, keys, topics, prior, columns, rows, widest, counts, own, count, weight):  # type: ignore[no-untyped-def]
    """Draw all tokens of a block once, and count them with a weight; own: where the counts of this thread begin."""
    tall, alpha = len(rows), rows_from(prior, 0, rows)
    for j in range(far):
        a, b = j * FIELDS, (far + j) * FIELDS
        owner1, owner2 = np.int64(at(tokens, a + OWNER)), np.int64(at(tokens, b + OWNER))
        word1, word2 = np.int64(at(tokens, a + WORD)), np.int64(at(tokens, b + WORD))
        first1, first2 = owner1 * tall, owner2 * tall
        _left(np.int64(at(tokens, a + TOPIC)), first1, numbers)
        _left(np.int64(at(tokens, b + TOPIC)), first2, numbers)
        total1 = weighed(numbers, first1, topics, word1 * tall, alpha, columns, 0)
        total2 = weighed(numbers, first2, topics, word2 * tall, alpha, columns, tall)
        bits1 = mixed(at(keys, owner1) + np.uint64(at(tokens, a + PLACE)) * _GOLDEN)
        bits2 = mixed(at(keys, owner2) + np.uint64(at(tokens, b + PLACE)) * _GOLDEN)
        _fetched(a + _AHEAD * FIELDS, tokens, counts, own, count)
        _fetched(b + _AHEAD * FIELDS, tokens, counts, own, count)
        topic1 = chosen(bits1, total1, columns, 0, rows, widest)
        topic2 = chosen(bits2, total2, columns, tall, rows, widest)
        _took(topic1, first1, numbers)
        _took(topic2, first2, numbers)
        put(tokens, a + TOPIC, topic1)
        put(tokens, b + TOPIC, topic2)
        _counted(word1, topic1, counts, own, count, weight)
        _counted(word2, topic2, counts, own, count, weight)


@njit(**OPTIONS)
def _uncount(tokens, begin, end, counts, own, count, weight):  # type: ignore[no-untyped-def]
    """Take the tokens that do not exist out of the counts of words."""
    for j in range(begin, end):
        word, topic = np.int64(tokens[j, WORD]), np.int64(tokens[j, TOPIC])
        _counted(word, topic, counts, own, count, -weight)


@njit(**OPTIONS)
def sweep_block(  # type: ignore[no-untyped-def]
    b, thread, seed, step, order, starts, names, words, z, topics, prior, sweeps, burn, counts, mixes, rows
):
    """Sweep the documents of block number b; add the assignments of the kept sweeps to `counts` and `mixes`.

    order: its runs are the halves of blocks; starts: where documents begin in `words` and `z`; names: the numbers that
    name the documents' streams; prior: alpha as rows of sixteen, with zeros behind it; topics: as many rows for each
    word, zero where the prior is; counts: (threads, words, K); mixes: (documents, K), or (documents, 0); rows: how many
    rows of sixteen the prior has, as a height.
    """
    begin, middle, end = order.runs[2 * b], order.runs[2 * b + 1], order.runs[2 * b + 2]
    size, count, tall = counts.shape[1], counts.shape[2], len(rows)
    length1, length2 = starts[middle] - starts[begin], starts[end] - starts[middle]
    far, second = max(length1, length2), middle - begin + 1  # where the second half begins: its tokens and documents
    tokens, keys = np.zeros((2 * far + _AHEAD, FIELDS), np.int32), np.zeros(end - begin + 2, np.uint64)
    numbers, columns = aligned_rows((end - begin + 2) * tall), aligned_rows(2 * tall)
    tokens[length1:far, OWNER], tokens[far + length2 :, OWNER] = middle - begin, end - begin + 1
    numbers[(middle - begin) * tall, 0] += np.float32(far - length1)
    numbers[(end - begin + 1) * tall, 0] += np.float32(far - length2)
    places1 = half_order(words, starts, begin, middle, size, order)
    places2 = half_order(words, starts, middle, end, size, order)
    enlist(words, z, starts, begin, middle, places1, 0, 0, tokens, numbers, tall)
    enlist(words, z, starts, middle, end, places2, far, second * tall, tokens, numbers, tall)
    for d in range(begin, end):
        late = d >= middle
        own = stream_key(np.uint64(seed), np.uint64(step), np.uint64(names[d]))
        keys[d - begin + int(late)] = own - np.uint64(starts[d] - starts[middle if late else begin]) * _GOLDEN
    widest, counted, wide = min(count, LANES) - 1, thread * size * count, mixes.shape[1] > 0
    for turn in range(sweeps):
        weight = np.int32(turn >= burn)
        _sweep(tokens, far, numbers, keys, topics, prior, columns, rows, widest, counts, counted, count, weight)
        _uncount(tokens, length1, far, counts, counted, count, weight)
        _uncount(tokens, far + length2, 2 * far, counts, counted, count, weight)
        kept = wide and weight > 0
        end_of_sweep(starts, begin, middle, 0, tall, keys, numbers, mixes, kept)
        end_of_sweep(starts, middle, end, second, tall, keys, numbers, mixes, kept)
    write_back(tokens, 0, places1, z, starts[begin])
    write_back(tokens, far, places2, z, starts[middle])
