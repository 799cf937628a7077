"""Gibbs sweeps over topic assignments, given the topics, for few topics: all of them at once, and no branch on chance.

A token of word w in a document takes topic k with probability proportional to (alpha_k + n_k) phi_kw, n_k counting the
document's other tokens. Up to some hundred topics it is cheaper to form all of these products, sixteen at a time
(`kernels.tokens.choice`), than to look for the n_k that are not zero (`kernels.tokens.sweeps`): nothing is gathered,
and the processor has nothing to guess wrong. Memory is not the limit (measured), so instructions are saved: the number
of rows of sixteen is a constant of the compiled loop (`kernels.elements`), and alpha is read once for all tokens.

Each step of a draw waits for the one before, so two tokens are drawn side by side, one of each half of a block's
documents. Each half has its tokens in the order of their words, so that a word's row of phi is read from near; the
shorter half is filled up with tokens of a document that does not exist. The order of a document's tokens and its
stream are as in `kernels.tokens.sweeps`, so no draw depends on threads, blocks or halves.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from orthodrome.kernels.elements import aligned_rows, at, put, rows_from
from orthodrome.kernels.generator import OPTIONS
from orthodrome.kernels.lanes import LANES, load, store
from orthodrome.kernels.lists import one_less, one_more
from orthodrome.kernels.scans import prefetch, prefetch_to_write
from orthodrome.kernels.streams import mixed, stream_key
from orthodrome.kernels.tokens.choice import chosen, weighed
from orthodrome.kernels.tokens.halves import FIELDS, OWNER, PLACE, TOPIC, WORD, end_of_sweep, enlist, write_back

_INLINE = OPTIONS | {"inline": "always"}
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_AHEAD, _LATER = 2, 8
"""So many tokens ahead documents are fetched; and so many later a token is counted, when its count is near."""


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
def _counted(tokens, record, counts, own, count, weight):  # type: ignore[no-untyped-def]
    """Add a token to the counts of words, which begin at element `own`."""
    place = own + np.int64(at(tokens, record + WORD)) * count + np.int64(at(tokens, record + TOPIC))
    put(counts, place, at(counts, place) + weight)


@njit(**OPTIONS)
def _sweep(tokens, far, numbers, keys, topics, prior, columns, rows, widest, counts, own, count, weight):  # type: ignore[no-untyped-def]
    """Draw all tokens of a block once, and count them with a weight; own: where the counts of this thread begin."""
    tall, alpha, lag = len(rows), rows_from(prior, 0, rows), np.int64(_LATER * FIELDS)
    for j in range(far):
        a, b = j * FIELDS, (far + _AHEAD + j) * FIELDS
        owner1, owner2 = np.int64(at(tokens, a + OWNER)), np.int64(at(tokens, b + OWNER))
        word1, word2 = np.int64(at(tokens, a + WORD)), np.int64(at(tokens, b + WORD))
        first1, first2 = owner1 * tall, owner2 * tall
        _left(np.int64(at(tokens, a + TOPIC)), first1, numbers)
        _left(np.int64(at(tokens, b + TOPIC)), first2, numbers)
        total1 = weighed(numbers, first1, topics, word1 * tall, alpha, columns, 0)
        total2 = weighed(numbers, first2, topics, word2 * tall, alpha, columns, tall)
        later1 = np.int64(at(tokens, a + FIELDS * _AHEAD + OWNER)) * tall
        later2 = np.int64(at(tokens, b + FIELDS * _AHEAD + OWNER)) * tall
        for r in range(tall):
            prefetch(numbers, later1 + r)
            prefetch(numbers, later2 + r)
        bits1 = mixed(at(keys, owner1) + np.uint64(at(tokens, a + PLACE)) * _GOLDEN)
        bits2 = mixed(at(keys, owner2) + np.uint64(at(tokens, b + PLACE)) * _GOLDEN)
        topic1 = chosen(bits1, total1, columns, 0, rows, widest)
        topic2 = chosen(bits2, total2, columns, tall, rows, widest)
        _took(topic1, first1, numbers)
        _took(topic2, first2, numbers)
        put(tokens, a + TOPIC, topic1)
        put(tokens, b + TOPIC, topic2)
        prefetch_to_write(counts, own + word1 * count + topic1)
        prefetch_to_write(counts, own + word2 * count + topic2)
        if j >= _LATER:
            _counted(tokens, a - lag, counts, own, count, weight)
            _counted(tokens, b - lag, counts, own, count, weight)
    for j in range(max(0, far - _LATER), far):
        _counted(tokens, j * FIELDS, counts, own, count, weight)
        _counted(tokens, (far + _AHEAD + j) * FIELDS, counts, own, count, weight)


@njit(**OPTIONS)
def _uncount(tokens, begin, end, counts, own, count, weight):  # type: ignore[no-untyped-def]
    """Take the tokens that do not exist out of the counts of words."""
    for j in range(begin, end):
        _counted(tokens, j * FIELDS, counts, own, count, -weight)


@njit(**OPTIONS)
def sweep_block(  # type: ignore[no-untyped-def]
    b, thread, seed, step, bounds, starts, names, words, z, topics, prior, sweeps, burn, counts, mixes, rows
):
    """Sweep the documents of block number b; add the assignments of the kept sweeps to `counts` and `mixes`.

    bounds: where blocks of documents begin; starts: where documents begin in `words` and `z`; names: the numbers that
    name the documents' streams; prior: alpha as rows of sixteen, with zeros behind it; topics: as many rows for each
    word, zero where the prior is; counts: (threads, words, K); mixes: (documents, K), or (documents, 0); rows: how many
    rows of sixteen the prior has, as a height.
    """
    begin, end = bounds[b], bounds[b + 1]
    size, count, tall = counts.shape[1], counts.shape[2], len(rows)
    middle = begin + np.searchsorted(starts[begin:end], (starts[begin] + starts[end]) // 2)
    length1, length2 = starts[middle] - starts[begin], starts[end] - starts[middle]
    far, second = max(length1, length2), middle - begin + 1  # where the second half begins: its tokens and documents
    half = far + _AHEAD
    tokens, keys = np.zeros((2 * half, FIELDS), np.int32), np.zeros(end - begin + 2, np.uint64)
    numbers, columns = aligned_rows((end - begin + 2) * tall), aligned_rows(2 * tall)
    tokens[length1:half, OWNER], tokens[half + length2 :, OWNER] = middle - begin, end - begin + 1
    numbers[(middle - begin) * tall, 0] += np.float32(far - length1)
    numbers[(end - begin + 1) * tall, 0] += np.float32(far - length2)
    enlist(words, starts, begin, middle, z, size, 0, 0, tokens, numbers, tall)
    enlist(words, starts, middle, end, z, size, half, second * tall, tokens, numbers, tall)
    for d in range(begin, end):
        late = d >= middle
        own = stream_key(np.uint64(seed), np.uint64(step), np.uint64(names[d]))
        keys[d - begin + int(late)] = own - np.uint64(starts[d] - starts[middle if late else begin]) * _GOLDEN
    widest, counted, wide = min(count, LANES) - 1, thread * size * count, mixes.shape[1] > 0
    for turn in range(sweeps):
        weight = np.int32(turn >= burn)
        _sweep(tokens, far, numbers, keys, topics, prior, columns, rows, widest, counts, counted, count, weight)
        _uncount(tokens, length1, far, counts, counted, count, weight)
        _uncount(tokens, half + length2, half + far, counts, counted, count, weight)
        kept = wide and weight > 0
        end_of_sweep(starts, begin, middle, 0, tall, keys, numbers, mixes, kept)
        end_of_sweep(starts, middle, end, second, tall, keys, numbers, mixes, kept)
    write_back(tokens, 0, length1, z, starts[begin])
    write_back(tokens, half, half + length2, z, starts[middle])
