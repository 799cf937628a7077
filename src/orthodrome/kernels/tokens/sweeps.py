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

What is far away is asked for before it is needed: the lists of the documents of the next tokens, and the counts of a
word, which are added to when all its tokens are drawn. A token knows its place in its document's list, so that nothing
is searched for when it leaves; only a topic drawn from the prior is.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from orthodrome.kernels.elements import at, how_many_at_most, put
from orthodrome.kernels.generator import OPTIONS
from orthodrome.kernels.lanes import LANES, fused, load, splat, store
from orthodrome.kernels.lists import first_above, free_place, one_less, one_more, picked, place_of
from orthodrome.kernels.scans import last, prefetch, prefetch_to_write, running_sums
from orthodrome.kernels.streams import mixed, stream_key
from orthodrome.kernels.tokens.order import word_starts

INLINE = OPTIONS | {"inline": "always"}
"""How functions of a token are compiled: an array that is an argument of a call costs two atomic instructions."""

FIELDS = 4
"""Of a token and of a document so much is kept, in one row:"""
OWNER, SLOT, PLACE, TOPIC = range(FIELDS)
"""Of a token: its document, its place in the document's list (-1: none), its place in the block, its topic."""
FIRST, ROWS, KEY, TOKENS = range(FIELDS)
"""Of a document: the first row of its list, how many rows are in use, its random stream, its number of tokens."""
PART, EIGHTH = 64, 8
"""The rows of a part of the prior's running sums, and of an eighth of it; rows behind the last one are infinite."""
_AHEAD, _FETCHED = 3, 4
"""So many tokens ahead so many rows of the document's list are fetched."""

_GOLDEN, _41, _23 = np.uint64(0x9E3779B97F4A7C15), np.uint64(41), np.uint64(23)
_UNIT23, _HALF, _ZERO, _ONE = np.float32(2.0**-23), np.float32(0.5), np.float32(0.0), np.float32(1.0)


@njit(**OPTIONS)
def _uniform(bits):  # type: ignore[no-untyped-def]
    """Return a number between 0 and 1, neither of them: the middle of one of 2^23 intervals."""
    return (np.float32(np.int32(bits >> _41)) + _HALF) * _UNIT23


@njit(**OPTIONS)
def _documents(seed, step, names, starts, begin, end, most):  # type: ignore[no-untyped-def]
    """Return the documents of a block; behind them one that does not exist, whose first row is behind all lists."""
    documents = np.zeros((end - begin + 1, FIELDS), np.int64)
    for d in range(end - begin):
        length = starts[begin + d + 1] - starts[begin + d]
        own = stream_key(np.uint64(seed), np.uint64(step), np.uint64(names[begin + d]))
        documents[d, KEY] = np.int64(own - np.uint64(2 * (starts[begin + d] - starts[begin])) * _GOLDEN)
        documents[d, TOKENS] = length
        documents[d + 1, FIRST] = documents[d, FIRST] + min(most, (length + LANES - 1) // LANES)
    return documents


@njit(**OPTIONS)
def _enlist(words, z, starts, begin, end, ends, slots, documents, held, numbers):  # type: ignore[no-untyped-def]
    """Make the lists of the documents' topics, and return the tokens in the order of their words.

    ends: where each word's tokens begin, and afterwards where they end; slots: -1 for each topic. Tokens with z = -1
    are in no list. Behind the last token are some of the document that does not exist.
    """
    base = starts[begin]
    tokens = np.full((starts[end] - base + _AHEAD, FIELDS), end - begin, np.int32)
    for d in range(begin, end):
        first, size = documents[d - begin, FIRST], 0
        for i in range(starts[d], starts[d + 1]):
            slot = np.int32(-1)
            if z[i] >= 0:
                if slots[z[i]] < 0:
                    slots[z[i]], held[first + size // LANES, size % LANES] = size, z[i]
                    size += 1
                slot = slots[z[i]]
                numbers[first + slot // LANES, slot % LANES] += _ONE
            at = ends[words[i]]
            ends[words[i]] = at + np.int32(1)
            tokens[at, OWNER], tokens[at, SLOT], tokens[at, PLACE] = d - begin, slot, i - base
        for place in range(size):
            slots[held[first + place // LANES, place % LANES]] = -1
        documents[d - begin, ROWS] = (size + LANES - 1) // LANES
    return tokens


@njit(**INLINE)
def _place_for(rows, first, item, held, numbers):  # type: ignore[no-untyped-def]
    """Return the place of an item in the list of `rows` rows from `first` on, or if it is not there a free one."""
    place, free, r = -1, LANES * rows, 0
    while place < 0 and r < rows:
        lane, empty = place_of(load(held, first + r), item), free_place(load(numbers, first + r))
        place = r * LANES + lane if lane < LANES else -1
        free = min(free, r * LANES + empty if empty < LANES else free)
        r += 1
    return free if place < 0 else place


@njit(**INLINE)
def _draw_from_prior(bits, tall, count, columns, edges):  # type: ignore[no-untyped-def]
    """Draw a topic by alpha_k phi_kw: the lane, by the sums of lanes in `edges`, then the row."""
    u = _uniform(bits) * edges[1, LANES - 1]
    lane = min(first_above(load(edges, 1), load(columns, tall - 1), u), LANES - 1)
    u -= edges[1, lane - 1] if lane > 0 else _ZERO
    row = 0  # the first one whose sum is above u: by parts, by eighths of a part, and within an eighth
    while row + PART < tall and at(columns, (row + PART - 1) * LANES + lane) <= u:
        row += PART
    row += EIGHTH * how_many_at_most(columns, (row + EIGHTH - 1) * LANES + lane, EIGHTH * LANES, u)
    row += how_many_at_most(columns, row * LANES + lane, LANES, u)
    topic = row * LANES + lane
    while topic >= count:  # rounding led into the padding
        topic -= LANES
    return np.int32(topic)


@njit(**OPTIONS)
def _end_of_sweep(documents, held, numbers, mixes, begin, kept):  # type: ignore[no-untyped-def]
    """Move the streams of the documents on, and add their counts to `mixes`."""
    for d in range(documents.shape[0] - 1):
        documents[d, KEY] += np.int64(np.uint64(2 * documents[d, TOKENS]) * _GOLDEN)
        if kept:
            for r in range(documents[d, FIRST], documents[d, FIRST] + documents[d, ROWS]):
                for lane in range(LANES):
                    if numbers[r, lane] > _ZERO:
                        mixes[begin + d, held[r, lane]] += numbers[r, lane]


@njit(**OPTIONS)
def sweep_lists(b, thread, seed, step, bounds, starts, names, words, z, topics, prior, sweeps, burn, counts, mixes):  # type: ignore[no-untyped-def]
    """Sweep the documents of block number b; add the assignments of the kept sweeps to `counts` and `mixes`.

    bounds: where blocks of documents begin; starts: where documents begin in `words` and `z`; names: the numbers that
    name the documents' streams; prior: alpha as rows of sixteen, with at least one zero behind it; topics: as many rows
    for each word, zero where the prior is; counts: (threads, words, K); mixes: (documents, K), or (documents, 0).
    """
    count, tall, wide = counts.shape[2], prior.shape[0], mixes.shape[1] > 0
    most = (count + LANES - 1) // LANES
    begin, end = bounds[b], bounds[b + 1]
    documents = _documents(seed, step, names, starts, begin, end, most)
    height = documents[-1, FIRST] + _FETCHED
    held, numbers = np.full((height, LANES), count, np.int32), np.zeros((height, LANES), np.float32)
    ends, slots = word_starts(words, starts, begin, end, counts.shape[1]), np.full(count, -1, np.int32)
    tokens = _enlist(words, z, starts, begin, end, ends, slots, documents, held, numbers)
    sums = np.empty((most, LANES), np.float32)
    columns = np.full(((tall + PART - 1) // PART * PART, LANES), np.inf, np.float32)
    edges = np.empty((2, LANES), np.float32)
    for turn in range(sweeps):
        j, weight = 0, np.int32(turn >= burn)
        for w in range(counts.shape[1]):
            if j == ends[w]:
                continue
            lanes = splat(topics, 0.0)  # the running sums of alpha_k phi_kw, lane by lane
            for r in range(tall):
                lanes = fused(load(prior, r), load(topics, w * tall + r), lanes)
                store(columns, r, lanes)
            lanes = running_sums(lanes)
            store(edges, 1, lanes)
            mass, own, begun = last(lanes), (thread * counts.shape[1] + w) * count, j
            for j in range(begun, ends[w]):
                later = at(documents, FIELDS * at(tokens, FIELDS * (j + _AHEAD) + OWNER) + FIRST)
                for r in range(_FETCHED):
                    prefetch(held, later + r)
                    prefetch(numbers, later + r)
                token = FIELDS * j
                d, old = FIELDS * at(tokens, token + OWNER), np.int64(at(tokens, token + SLOT))
                first, rows = at(documents, d + FIRST), at(documents, d + ROWS)
                key = np.uint64(at(documents, d + KEY))
                key += np.uint64(2 * np.int64(at(tokens, token + PLACE))) * _GOLDEN
                if old >= 0:
                    r = first + (old >> 4)
                    store(numbers, r, one_less(load(numbers, r), old & 15))
                lanes = splat(topics, 0.0)
                for r in range(rows):
                    share = picked(topics, w * tall * LANES, held, first + r)
                    lanes = fused(load(numbers, first + r), share, lanes)
                    store(sums, r, lanes)
                sides = running_sums(lanes)
                total, bits, row = last(sides), mixed(key), 0
                u = _uniform(bits) * (total + mass)
                lane = first_above(sides, lanes, u) if u < total else LANES
                if lane < LANES:  # the row by the running sums within the lane, with random bits of its own
                    v = _uniform(bits << _23) * at(sums, (rows - 1) * LANES + lane)
                    for r in range(rows - 1):
                        row += int(at(sums, r * LANES + lane) <= v)
                else:
                    new = _draw_from_prior(mixed(key + _GOLDEN), tall, count, columns, edges)
                    place = _place_for(rows, first, new, held, numbers)
                    row, lane = place >> 4, place & 15
                    put(held, (first + row) * LANES + lane, new)
                    put(documents, d + ROWS, max(rows, row + 1))
                store(numbers, first + row, one_more(load(numbers, first + row), lane))
                topic = np.int64(at(held, (first + row) * LANES + lane))
                put(tokens, token + SLOT, row * LANES + lane)
                put(tokens, token + TOPIC, topic)
                prefetch_to_write(counts, own + topic)
            j = ends[w]
            for i in range(begun, j):
                counted = own + np.int64(at(tokens, FIELDS * i + TOPIC))
                put(counts, counted, at(counts, counted) + weight)
        _end_of_sweep(documents, held, numbers, mixes, begin, wide and weight > 0)
    for j in range(tokens.shape[0] - _AHEAD):
        z[starts[begin] + tokens[j, PLACE]] = tokens[j, TOPIC]
