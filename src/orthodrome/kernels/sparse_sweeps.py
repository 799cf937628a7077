"""Gibbs sweeps over the topic assignments of documents, given the topics: every draw exact from its conditional.

A token of word w in a document takes topic k with probability proportional to

    (alpha_k + n_k) phi_kw = alpha_k phi_kw + n_k phi_kw,

n_k counting the document's other tokens. The first term does not depend on the document: its sum over k and an alias
table are made once for each word. The second is a sum over the few topics that the document has. So the cost of a token
grows with the topics of its document, not with K. A document is swept as often as asked before the next one is touched,
while its words' rows of phi are in the cache. Its random stream is named by (seed, step, document): the assignments do
not depend on the number of threads; counts are whole numbers, so their sums do not either.
"""

from __future__ import annotations

import numpy as np
from numba import get_thread_id, njit, prange

from orthodrome.kernels.alias import draw
from orthodrome.kernels.generator import OPTIONS
from orthodrome.kernels.streams import mixed, stream_key

_GOLDEN, _40, _TWO = np.uint64(0x9E3779B97F4A7C15), np.uint64(40), np.uint64(2)
_UNIT24, _ZERO, _ONE = np.float32(2.0**-24), np.float32(0.0), np.float32(1.0)


@njit(**OPTIONS)
def enter(z, begin, end, slots, held, numbers):  # type: ignore[no-untyped-def]
    """Count a document's topics: held[j] is the j-th, numbers[j] its tokens, slots[k] the place of topic k or -1.

    Tokens with z = -1 have no topic yet. Return how many topics there are.
    """
    size = 0
    for i in range(begin, end):
        k = z[i]
        if k >= 0:
            if slots[k] < 0:
                slots[k], held[size], numbers[size] = size, k, _ZERO
                size += 1
            numbers[slots[k]] += _ONE
    return size


@njit(**OPTIONS)
def leave(size, slots, held):  # type: ignore[no-untyped-def]
    """Clear a document's topics from `slots`."""
    for j in range(size):
        slots[held[j]] = -1


@njit(**OPTIONS)
def sweep(key, begin, end, words, z, topics, tables, masses, size, slots, held, numbers, sums):  # type: ignore[no-untyped-def]
    """Draw each of a document's assignments once, in order; return how many topics the document has then.

    The i-th token uses the random words 2 i and 2 i + 1 of the key.
    """
    for i in range(begin, end):
        w, old = words[i], z[i]
        if old >= 0:
            numbers[slots[old]] -= _ONE
        total = _ZERO
        for j in range(size):
            total += numbers[j] * topics[w, held[j]]
            sums[j] = total
        bits = mixed(key + _TWO * np.uint64(i - begin) * _GOLDEN)
        u = np.float32(np.int32(bits >> _40)) * _UNIT24 * (total + masses[w])
        if u < total:
            j = 0
            while sums[j] <= u:
                j += 1
            new = held[j]
        else:
            new = np.int32(draw(tables, w, mixed(key + (_TWO * np.uint64(i - begin) + np.uint64(1)) * _GOLDEN)))
            j = slots[new]
            if j < 0:
                j, slots[new], held[size], numbers[size] = size, size, new, _ZERO
                size += 1
        numbers[j] += _ONE
        z[i] = new
        if old >= 0 and numbers[slots[old]] == _ZERO:
            size = _drop(slots[old], size, slots, held, numbers)
    return size


@njit(**OPTIONS)
def _drop(j, size, slots, held, numbers):  # type: ignore[no-untyped-def]
    """Remove a topic without tokens from the list; the last one takes its place."""
    slots[held[j]] = -1
    size -= 1
    if j < size:
        held[j], numbers[j] = held[size], numbers[size]
        slots[held[j]] = j
    return size


@njit(parallel=True, **OPTIONS)
def assign_sparse(seed, step, bounds, starts, names, words, z, topics, tables, masses, sweeps, burn, counts, mixes):  # type: ignore[no-untyped-def]
    """Sweep all documents; add the assignments of the kept sweeps to `counts` and `mixes`.

    bounds: where blocks of documents begin; starts: where documents begin in `words` and `z`; names: the numbers that
    name the documents' streams; topics: (words, K); counts: (threads, words, K); mixes: (documents, K or 0).
    """
    count, wide = topics.shape[1], mixes.shape[1] > 0
    for block in prange(bounds.shape[0] - 1):
        slots, held = np.full(count, -1, np.int32), np.empty(count + 1, np.int32)
        numbers, sums = np.empty(count + 1, np.float32), np.empty(count + 1, np.float32)
        thread = get_thread_id()
        for d in range(bounds[block], bounds[block + 1]):
            begin, end = starts[d], starts[d + 1]
            key = stream_key(np.uint64(seed), np.uint64(step), np.uint64(names[d]))
            size = enter(z, begin, end, slots, held, numbers)
            for turn in range(sweeps):
                own = key + np.uint64(2 * turn * (end - begin)) * _GOLDEN
                size = sweep(own, begin, end, words, z, topics, tables, masses, size, slots, held, numbers, sums)
                if turn >= burn:
                    for i in range(begin, end):
                        counts[thread, words[i], z[i]] += 1
                    for j in range(size if wide else 0):
                        mixes[d, held[j]] += numbers[j]
            leave(size, slots, held)
