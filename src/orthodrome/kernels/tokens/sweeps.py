"""Gibbs sweeps over topic assignments, given the topics: every draw exact, its cost that of the document's topics.

A token of word w in a document takes topic k with probability proportional to

    (alpha_k + n_k) phi_kw = alpha_k phi_kw + n_k phi_kw,

n_k counting the document's other tokens. The first term does not depend on the document: its running sums are made once
for each word of a block. The second is a sum over the few topics that the document has, sixteen at a time
(`kernels.lists`): added up lane by lane, so that the lane is drawn by the sums of the lanes, and then the row within
it. So the cost of a token grows with the topics of its document, not with K. Up to some hundred topics
`kernels.tokens.dense` is faster.

Documents are independent given phi, so those of a block are swept together, in the order of their words: the row of phi
of a word is then read from near for all its tokens, and so is the row of the counts. A document's own order is thus
that of its words, whoever else is in its block, and its random stream is named by (seed, step, document): assignments
depend neither on threads nor on blocks; counts are whole numbers, so their sums do not either.
"""

from __future__ import annotations

import numpy as np
from numba import get_thread_id, njit, prange

from orthodrome.kernels.generator import OPTIONS
from orthodrome.kernels.lanes import LANES, fused, load, splat, store
from orthodrome.kernels.lists import first_above, free_place, gathered, less_one, one_more, place_of
from orthodrome.kernels.scans import last, running_sums
from orthodrome.kernels.streams import mixed, stream_key
from orthodrome.kernels.tokens.order import sort_by_word

INLINE = OPTIONS | {"inline": "always"}
"""How functions of a token are compiled: an array that is an argument of a call costs two atomic instructions."""

_GOLDEN, _41, _23 = np.uint64(0x9E3779B97F4A7C15), np.uint64(41), np.uint64(23)
_UNIT23, _HALF, _ZERO, _ONE = np.float32(2.0**-23), np.float32(0.5), np.float32(0.0), np.float32(1.0)


@njit(**OPTIONS)
def _uniform(bits):  # type: ignore[no-untyped-def]
    """Return a number between 0 and 1, neither of them: the middle of one of 2^23 intervals."""
    return (np.float32(np.int32(bits >> _41)) + _HALF) * _UNIT23


@njit(**OPTIONS)
def _count(z, starts, begin, end, slots, firsts, rows, held, numbers):  # type: ignore[no-untyped-def]
    """Make the lists of the documents' topics; tokens with z = -1 have none; slots: -1 for each topic."""
    for d in range(begin, end):
        first, size = firsts[d - begin], 0
        for i in range(starts[d], starts[d + 1]):
            if z[i] >= 0:
                if slots[z[i]] < 0:
                    slots[z[i]], held[first + size // LANES, size % LANES] = size, z[i]
                    size += 1
                numbers[first + slots[z[i]] // LANES, slots[z[i]] % LANES] += _ONE
        for place in range(size):
            slots[held[first + place // LANES, place % LANES]] = -1
        rows[d - begin] = (size + LANES - 1) // LANES


@njit(**INLINE)
def _enter(rows, first, item, held, numbers):  # type: ignore[no-untyped-def]
    """Count one more of an item in the list of `rows` rows from `first` on; return how many rows the list has then."""
    place, free, r = -1, LANES * rows, 0
    while place < 0 and r < rows:
        lane, empty = place_of(load(held, first + r), item), free_place(load(numbers, first + r))
        place = r * LANES + lane if lane < LANES else -1
        free = min(free, r * LANES + empty if empty < LANES else free)
        r += 1
    place = free if place < 0 else place
    r, lane = place // LANES, place % LANES
    held[first + r, lane] = item
    store(numbers, first + r, one_more(load(numbers, first + r), lane))
    return max(rows, r + 1)


@njit(**INLINE)
def _draw_from_prior(bits, tall, count, columns, edges):  # type: ignore[no-untyped-def]
    """Draw a topic by alpha_k phi_kw: the lane, by the sums of lanes in `edges`, then by bisection the row."""
    u = _uniform(bits) * edges[1, LANES - 1]
    lane = min(first_above(load(edges, 1), load(columns, tall - 1), u), LANES - 1)
    u -= edges[1, lane - 1] if lane > 0 else _ZERO
    low, left = 0, tall  # the first row whose sum is above u, without branches that a processor would guess wrong
    while left > 1:
        half = left // 2
        low += half * np.int64(columns[low + half - 1, lane] <= u)
        left -= half
    topic = low * LANES + lane
    while topic >= count:  # rounding led into the padding
        topic -= LANES
    return np.int32(topic)


@njit(parallel=True, **OPTIONS)
def assign(seed, step, bounds, starts, names, words, z, topics, prior, sweeps, burn, counts, mixes):  # type: ignore[no-untyped-def]
    """Sweep all documents; add the assignments of the kept sweeps to `counts` and `mixes`.

    bounds: where blocks of documents begin; starts: where documents begin in `words` and `z`; names: the numbers that
    name the documents' streams; prior: alpha as rows of sixteen, with at least one zero behind it; topics: as many rows
    for each word, zero where the prior is; counts: (threads, words, K); mixes: (documents, K), or (documents, 0).
    """
    count, tall, wide = counts.shape[2], prior.shape[0], mixes.shape[1] > 0
    most = (count + LANES - 1) // LANES
    for block in prange(bounds.shape[0] - 1):
        begin, end = bounds[block], bounds[block + 1]
        base, size, thread = starts[begin], starts[end] - starts[begin], get_thread_id()
        firsts, rows = np.zeros(end - begin + 1, np.int64), np.zeros(end - begin, np.int64)
        keys = np.empty(end - begin, np.uint64)
        for d in range(begin, end):
            firsts[d - begin + 1] = firsts[d - begin] + min(most, (starts[d + 1] - starts[d] + LANES - 1) // LANES)
            own = stream_key(np.uint64(seed), np.uint64(step), np.uint64(names[d]))
            keys[d - begin] = own - np.uint64(2 * (starts[d] - base)) * _GOLDEN
        held, numbers = np.full((firsts[-1], LANES), count, np.int32), np.zeros((firsts[-1], LANES), np.float32)
        sums = np.empty((most, LANES), np.float32)
        columns, edges = np.empty((tall, LANES), np.float32), np.empty((2, LANES), np.float32)
        places, owners = np.empty(size, np.int32), np.empty(size, np.int32)
        sort_by_word(words, starts, begin, end, np.zeros(counts.shape[1] + 1, np.int32), places, owners)
        _count(z, starts, begin, end, np.full(count, -1, np.int32), firsts, rows, held, numbers)
        for turn in range(sweeps):
            w, mass = -1, _ZERO
            for j in range(size):
                i, d = base + places[j], owners[j]
                if words[i] != w:  # the running sums of alpha_k phi_kw, lane by lane
                    w = words[i]
                    lanes = splat(topics, 0.0)
                    for r in range(tall):
                        lanes = fused(load(prior, r), load(topics, w * tall + r), lanes)
                        store(columns, r, lanes)
                    lanes = running_sums(lanes)
                    store(edges, 1, lanes)
                    mass = last(lanes)
                first, length, old = firsts[d], rows[d], z[i]
                lanes = splat(topics, 0.0)
                for r in range(length):
                    topic = load(held, first + r)
                    number = less_one(load(numbers, first + r), topic, old)
                    store(numbers, first + r, number)
                    lanes = fused(number, gathered(topics, w * tall * LANES, topic), lanes)
                    store(sums, r, lanes)
                ends = running_sums(lanes)
                total, bits = last(ends), mixed(keys[d] + np.uint64(2 * places[j]) * _GOLDEN)
                u = _uniform(bits) * (total + mass)
                lane = first_above(ends, lanes, u) if u < total else LANES
                if lane < LANES:  # the row by the running sums within the lane, with random bits of its own
                    v, r = _uniform(bits << _23) * sums[length - 1, lane], 0
                    while sums[r, lane] <= v:
                        r += 1
                    new = held[first + r, lane]
                    store(numbers, first + r, one_more(load(numbers, first + r), lane))
                else:
                    bits = mixed(keys[d] + np.uint64(2 * places[j] + 1) * _GOLDEN)
                    new = _draw_from_prior(bits, tall, count, columns, edges)
                    rows[d] = _enter(length, first, new, held, numbers)
                z[i] = new
                if turn >= burn:
                    counts[thread, w, new] += 1
            for d in range(begin, end):
                keys[d - begin] += np.uint64(2 * (starts[d + 1] - starts[d])) * _GOLDEN
                if wide and turn >= burn:
                    for r in range(firsts[d - begin], firsts[d - begin] + rows[d - begin]):
                        for lane in range(LANES):
                            if numbers[r, lane] > _ZERO:
                                mixes[d, held[r, lane]] += numbers[r, lane]
