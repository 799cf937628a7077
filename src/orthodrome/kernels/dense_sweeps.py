"""Gibbs sweeps that examine all topics, for up to a few hundred of them: no tables, few branches, vector instructions.

A token of word w takes topic k with probability proportional to x_k = (alpha_k + n_k) phi_kw. Topics are laid out in
rows of sixteen. One pass of vector instructions adds the rows of x up to sixteen sums, one for each lane; a uniform
number chooses the lane, and within the lane the row. The control flow does not depend on the data, so the processor can
begin with the token of another document while this one's comparisons are in flight: eight documents advance side by
side. A token's own count is subtracted when the token before it has been drawn, because a vector that is read soon
after one of its numbers was written has to wait for it.
"""

from __future__ import annotations

import numpy as np
from numba import get_thread_id, njit, prange

from orthodrome.kernels.generator import OPTIONS
from orthodrome.kernels.lanes import LANES, fused, load, splat, store
from orthodrome.kernels.scans import count_up_to, last, prefetch, running_sums
from orthodrome.kernels.streams import mixed, stream_key

SIDE = 8
"""The number of documents that advance side by side."""

_BITS = 4  # of a lane's number
_GOLDEN, _40, _63 = np.uint64(0x9E3779B97F4A7C15), np.uint64(40), np.uint64(63)
_UNIT24 = np.float32(2.0**-24)


@njit(**OPTIONS)
def token(bits, count, rows, tall, topics, w, weights, sums, patterns, edges, side):  # type: ignore[no-untyped-def]
    """Draw a topic from 64 random bits.

    The word's probabilities are the `rows` rows of `topics` from w on, alpha + n those of `weights` from side * rows
    on. (Views of arrays would be shorter to write, but each costs two atomic instructions.) sums and edges are scratch,
    patterns the memory of sums as int32; tall is `rows` rounded up to a multiple of eight.
    """
    own = side * rows
    total = splat(topics, 0.0)
    for r in range(rows):
        total = fused(load(weights, own + r), load(topics, w + r), total)
        store(sums, side * tall + r, total)
    ends = running_sums(total)
    store(edges, 2 * side + 1, ends)
    u = np.float32(np.int32(bits >> _40)) * _UNIT24 * last(ends)
    lane = min(count_up_to(ends, splat(topics, u)), LANES - 1)
    flat = 2 * LANES * side + LANES - 1 + lane  # of the lane before; before the first one there is a zero
    u -= edges[flat >> _BITS, flat & (LANES - 1)]
    # How many sums are at most u, eight at a time. Floats that are not negative compare as whole numbers do, and the
    # sign of a difference is the answer: with comparisons the compiler would branch, and the processor guess wrong.
    limit, row, first = np.int64(np.float32(u).view(np.int32)) + 1, 0, 0
    while row == first and first < tall:
        at = side * tall + first
        row += _below(patterns, at, lane, limit) + _below(patterns, at + 1, lane, limit)
        row += _below(patterns, at + 2, lane, limit) + _below(patterns, at + 3, lane, limit)
        row += _below(patterns, at + 4, lane, limit) + _below(patterns, at + 5, lane, limit)
        row += _below(patterns, at + 6, lane, limit) + _below(patterns, at + 7, lane, limit)
        first += 8
    topic = row * LANES + lane
    while topic >= count:  # rounding led into the padding
        topic -= LANES
    return topic


@njit(**OPTIONS)
def _below(patterns, at, lane, limit):  # type: ignore[no-untyped-def]
    """Return 1 if a number is below the limit, else 0."""
    return np.int64(np.uint64(np.int64(patterns[at, lane]) - limit) >> _63)


@njit(**OPTIONS)
def _change(numbers, weights, prior, rows, side, topic, by):  # type: ignore[no-untyped-def]
    """Change a topic's count; its weight is recomputed from the count, so that rounding errors do not accumulate."""
    numbers[side, topic] += by
    weights[side * rows + (topic >> _BITS), topic & (LANES - 1)] = prior[topic] + np.float32(numbers[side, topic])


@njit(**OPTIONS)
def _expect(topics, w, rows):  # type: ignore[no-untyped-def]
    """Prefetch the probabilities of a word before they are needed."""
    for r in range(rows):
        prefetch(topics, w + r)


@njit(**OPTIONS)
def _begin(z, begin, end, numbers, weights, prior, rows, side):  # type: ignore[no-untyped-def]
    """Count the assignments of a document except that of its first token."""
    for k in range(rows * LANES):
        numbers[side, k] = 0
    for i in range(begin + 1, end):
        if z[i] >= 0:
            numbers[side, z[i]] += 1
    for k in range(rows * LANES):
        weights[side * rows + k // LANES, k % LANES] = prior[k] + np.float32(numbers[side, k])


@njit(parallel=True, **OPTIONS)
def assign_dense(seed, step, bounds, order, starts, names, words, z, topics, prior, sweeps, burn, counts, mixes):  # type: ignore[no-untyped-def]
    """Sweep all documents; add the assignments of the kept sweeps to `counts` and `mixes`.

    bounds: where blocks of documents begin in `order`; starts: where documents begin in `words` and `z`; names: the
    numbers that name the documents' streams; topics: (words x R, 16); prior: 16 R numbers; counts: (threads, words, K);
    mixes: (documents, K), or (documents, 0).
    """
    count, rows, wide = counts.shape[2], prior.shape[0] // LANES, mixes.shape[1]
    tall = 8 * ((rows + 7) // 8)
    for block in prange(bounds.shape[0] - 1):
        numbers, weights = np.empty((SIDE, rows * LANES), np.int32), np.empty((SIDE * rows, LANES), np.float32)
        sums, edges = np.full((SIDE * tall, LANES), np.inf, np.float32), np.zeros((2 * SIDE, LANES), np.float32)
        patterns = sums.view(np.int32)
        begins, sizes, keys = np.empty(SIDE, np.int64), np.empty(SIDE, np.int64), np.empty(SIDE, np.uint64)
        thread = get_thread_id()
        for first in range(bounds[block], bounds[block + 1], SIDE):
            side = min(SIDE, bounds[block + 1] - first)
            longest = 0
            for s in range(side):
                d = order[first + s]
                begins[s], sizes[s] = starts[d], starts[d + 1] - starts[d]
                keys[s] = stream_key(np.uint64(seed), np.uint64(step), np.uint64(names[d]))
                _begin(z, begins[s], begins[s] + sizes[s], numbers, weights, prior, rows, s)
                longest = max(longest, sizes[s])
            for turn in range(sweeps):
                for i in range(longest):
                    for s in range(side):
                        if i < sizes[s]:
                            at = begins[s] + i
                            bits = mixed(keys[s] + np.uint64(turn * sizes[s] + i) * _GOLDEN)
                            new = token(
                                bits, count, rows, tall, topics, words[at] * rows, weights, sums, patterns, edges, s
                            )
                            z[at] = new
                            _change(numbers, weights, prior, rows, s, new, 1)
                            if i + 1 < sizes[s]:
                                _expect(topics, words[at + 1] * rows, rows)
                                if z[at + 1] >= 0:
                                    _change(numbers, weights, prior, rows, s, z[at + 1], -1)
                for s in range(side):
                    if turn >= burn:
                        for i in range(begins[s], begins[s] + sizes[s]):
                            counts[thread, words[i], z[i]] += 1
                        for k in range(wide):
                            mixes[order[first + s], k] += numbers[s, k]
                    if turn + 1 < sweeps and sizes[s] > 0:
                        _change(numbers, weights, prior, rows, s, z[begins[s]], -1)
