"""Gibbs sweeps over topic assignments, given the topics, for few topics: all of them at once, and no branch on chance.

A token of word w in a document takes topic k with probability proportional to

    (alpha_k + n_k) phi_kw = alpha_k phi_kw + n_k phi_kw,

n_k counting the document's other tokens. Up to some hundred topics it is cheaper to form all of these products, sixteen
at a time, than to look for those that are not zero (`kernels.tokens.sweeps`): nothing is gathered, and the processor
has nothing to guess wrong. Topic k stands in row k // 16 and lane k % 16. The products are added up row by row, lane by
lane; the lane is drawn by the sums of the lanes, and then the row by the running sums within the lane, with random bits
of its own.

What limits the speed is that each step of a draw waits for the one before. So two tokens of the word are drawn side by
side, one of each half of a block's documents. A half that has no more tokens of the word draws for a document that does
not exist. The order of a document's tokens and its stream are as in `kernels.tokens.sweeps`, so no draw depends on
threads, blocks or halves.
"""

from __future__ import annotations

import numpy as np
from numba import get_thread_id, njit, prange

from orthodrome.kernels.generator import OPTIONS
from orthodrome.kernels.lanes import LANES, fused, load, splat, store
from orthodrome.kernels.lists import first_above, one_less, one_more
from orthodrome.kernels.scans import last, prefetch, prefetch_to_write, running_sums
from orthodrome.kernels.streams import mixed, stream_key
from orthodrome.kernels.tokens.order import sort_by_word, word_starts

_INLINE = OPTIONS | {"inline": "always"}
_GOLDEN, _41, _18, _LOW = np.uint64(0x9E3779B97F4A7C15), np.uint64(41), np.uint64(18), np.uint64(2**23 - 1)
_UNIT23, _HALF, _ONE = np.float32(2.0**-23), np.float32(0.5), np.float32(1.0)
_AHEAD = 2
"""So many pairs of tokens ahead the counts of documents are fetched."""


@njit(**OPTIONS)
def _unit(bits):  # type: ignore[no-untyped-def]
    """Return the middle of one of 2^23 intervals of (0, 1); its product with a float32 is less than that."""
    return (np.float32(np.int32(bits)) + _HALF) * _UNIT23


@njit(**OPTIONS)
def _half(seed, step, names, starts, begin, end, words, z, size, tall):  # type: ignore[no-untyped-def]
    """Return the arrays of some documents: where words end, tokens by word, their topics, streams, counts of topics.

    Behind the last document is one that does not exist, with one token of topic 0, behind the last token.
    """
    base, count, length = starts[begin], end - begin, starts[end] - starts[begin]
    ends, keys = word_starts(words, starts, begin, end, size), np.zeros(count + 1, np.uint64)
    places, owners = np.zeros(length + _AHEAD + 1, np.int32), np.full(length + _AHEAD + 1, count, np.int32)
    topic_of, numbers = np.zeros(length + 1, np.int32), np.zeros(((count + 1) * tall, LANES), np.float32)
    sort_by_word(words, starts, begin, end, ends, places, owners)
    for d in range(begin, end):
        own = stream_key(np.uint64(seed), np.uint64(step), np.uint64(names[d]))
        keys[d - begin] = own - np.uint64(starts[d] - base) * _GOLDEN
        for i in range(starts[d], starts[d + 1]):
            if z[i] >= 0:
                numbers[(d - begin) * tall + z[i] // LANES, z[i] % LANES] += _ONE
    for j in range(length):
        topic_of[j] = z[base + places[j]]
    numbers[count * tall, 0] = _ONE
    return ends, places, owners, topic_of, keys, numbers


@njit(**OPTIONS)
def _end_of_sweep(starts, begin, end, tall, keys, numbers, mixes, kept):  # type: ignore[no-untyped-def]
    """Move the streams of some documents on, and add their counts to `mixes`."""
    for d in range(begin, end):
        keys[d - begin] += np.uint64(starts[d + 1] - starts[d]) * _GOLDEN
        if kept:
            for k in range(mixes.shape[1]):
                mixes[d, k] += numbers[(d - begin) * tall + k // LANES, k % LANES]


@njit(**_INLINE)
def _taken_away(old, first, numbers):  # type: ignore[no-untyped-def]
    """Count a token of the document whose rows begin at `first` no longer."""
    if old >= 0:
        r = first + old // LANES
        store(numbers, r, one_less(load(numbers, r), old % LANES))


@njit(**_INLINE)
def _drawn(bits, total, columns, tall, widest):  # type: ignore[no-untyped-def]
    """Return the row and the lane that random bits choose; total: the last row of the running sums `columns`."""
    sums = running_sums(total)
    lane = min(first_above(sums, total, _unit(bits >> _41) * last(sums)), widest)
    v = _unit((bits >> _18) & _LOW) * columns[tall - 1, lane]
    row = 0
    for r in range(tall - 1):
        row += int(columns[r, lane] <= v)
    return row, lane


@njit(parallel=True, **OPTIONS)
def assign_dense(seed, step, bounds, starts, names, words, z, topics, prior, sweeps, burn, counts, mixes):  # type: ignore[no-untyped-def]
    """Sweep all documents; add the assignments of the kept sweeps to `counts` and `mixes`.

    bounds: where blocks of documents begin; starts: where documents begin in `words` and `z`; names: the numbers that
    name the documents' streams; prior: alpha as rows of sixteen, with zeros behind it; topics: as many rows for each
    word, zero where the prior is; counts: (threads, words, K); mixes: (documents, K), or (documents, 0).
    """
    count, apart, wide = counts.shape[2], prior.shape[0], mixes.shape[1] > 0
    tall, widest = (count + LANES - 1) // LANES, min(count, LANES) - 1
    for block in prange(bounds.shape[0] - 1):
        begin, end, thread = bounds[block], bounds[block + 1], get_thread_id()
        middle = begin + np.searchsorted(starts[begin:end], (starts[begin] + starts[end]) // 2)
        one = _half(seed, step, names, starts, begin, middle, words, z, counts.shape[1], tall)
        two = _half(seed, step, names, starts, middle, end, words, z, counts.shape[1], tall)
        ends1, places1, owners1, topics1, keys1, numbers1 = one
        ends2, places2, owners2, topics2, keys2, numbers2 = two
        none1, none2 = starts[middle] - starts[begin], starts[end] - starts[middle]
        plain = np.empty((tall, LANES), np.float32)
        columns1, columns2 = np.empty((tall, LANES), np.float32), np.empty((tall, LANES), np.float32)
        for turn in range(sweeps):
            i, j, weight = np.int64(0), np.int64(0), np.int32(turn >= burn)
            for w in range(counts.shape[1]):
                if i == ends1[w] and j == ends2[w]:
                    continue
                begun1, begun2 = i, j
                for r in range(tall):
                    prefetch_to_write(counts, (thread * counts.shape[1] + w) * count + r * LANES)
                    store(plain, r, load(prior, r) * load(topics, w * apart + r))
                while i < ends1[w] or j < ends2[w]:
                    real1, real2 = i < ends1[w], j < ends2[w]
                    a, b = i if real1 else none1, j if real2 else none2
                    first1, first2 = np.int64(owners1[a]) * tall, np.int64(owners2[b]) * tall
                    later1, later2 = np.int64(owners1[i + _AHEAD]) * tall, np.int64(owners2[j + _AHEAD]) * tall
                    _taken_away(np.int64(topics1[a]), first1, numbers1)
                    _taken_away(np.int64(topics2[b]), first2, numbers2)
                    total1, total2 = splat(topics, 0.0), splat(topics, 0.0)
                    for r in range(tall):
                        share, least = load(topics, w * apart + r), load(plain, r)
                        total1 = total1 + fused(load(numbers1, first1 + r), share, least)
                        total2 = total2 + fused(load(numbers2, first2 + r), share, least)
                        store(columns1, r, total1)
                        store(columns2, r, total2)
                        prefetch(numbers1, later1 + r)
                        prefetch(numbers2, later2 + r)
                    bits1 = mixed(keys1[owners1[a]] + np.uint64(places1[a]) * _GOLDEN)
                    bits2 = mixed(keys2[owners2[b]] + np.uint64(places2[b]) * _GOLDEN)
                    row1, lane1 = _drawn(bits1, total1, columns1, tall, widest)
                    row2, lane2 = _drawn(bits2, total2, columns2, tall, widest)
                    store(numbers1, first1 + row1, one_more(load(numbers1, first1 + row1), lane1))
                    store(numbers2, first2 + row2, one_more(load(numbers2, first2 + row2), lane2))
                    topics1[a], topics2[b] = row1 * LANES + lane1, row2 * LANES + lane2
                    i, j = i + int(real1), j + int(real2)
                for a in range(begun1, i):  # not before: a draw would wait for counts that are far away
                    counts[thread, w, topics1[a]] += weight
                for b in range(begun2, j):
                    counts[thread, w, topics2[b]] += weight
            _end_of_sweep(starts, begin, middle, tall, keys1, numbers1, mixes, wide and weight > 0)
            _end_of_sweep(starts, middle, end, tall, keys2, numbers2, mixes, wide and weight > 0)
        for place in range(none1):
            z[starts[begin] + places1[place]] = topics1[place]
        for place in range(none2):
            z[starts[middle] + places2[place]] = topics2[place]
