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
from numba import get_num_threads, get_thread_id, njit, prange

from orthodrome.kernels.alias import draw
from orthodrome.kernels.generator import OPTIONS, source, word

_UNIT64 = np.float32(2.0**-64)


@njit(**OPTIONS)
def enter(z, slots, held, numbers):  # type: ignore[no-untyped-def]
    """Count a document's topics: held[j] is the j-th of them, numbers[j] its tokens, slots[k] the place of topic k or -1.

    Tokens with z = -1 have no topic yet. Return how many topics there are.
    """
    size = 0
    for i in range(z.shape[0]):
        k = z[i]
        if k >= 0:
            j = slots[k]
            if j < 0:
                j, slots[k], held[size], numbers[size] = size, size, k, 0.0
                size += 1
            numbers[j] += 1.0
    return size


@njit(**OPTIONS)
def leave(size, slots, held):  # type: ignore[no-untyped-def]
    """Forget a document's topics."""
    for j in range(size):
        slots[held[j]] = -1


@njit(**OPTIONS)
def sweep(stream, words, z, topics, tables, masses, size, slots, held, numbers, sums):  # type: ignore[no-untyped-def]
    """Draw each of a document's assignments once, in order; return how many topics the document has then."""
    for i in range(words.shape[0]):
        w, old = words[i], z[i]
        row = topics[w]
        if old >= 0:
            numbers[slots[old]] -= 1.0
        total = np.float32(0.0)
        for j in range(size):
            total += numbers[j] * row[held[j]]
            sums[j] = total
        u = np.float32(word(stream)) * _UNIT64 * (total + masses[w])
        if u < total:
            j = 0
            while sums[j] <= u:
                j += 1
            new = held[j]
        else:
            new = draw(tables[w], word(stream))
            j = slots[new]
            if j < 0:
                j, slots[new], held[size], numbers[size] = size, size, new, 0.0
                size += 1
        numbers[j] += 1.0
        z[i] = new
        if old >= 0 and numbers[slots[old]] == 0.0:
            size = _drop(slots[old], size, slots, held, numbers)
    return size


@njit(**OPTIONS)
def _drop(j, size, slots, held, numbers):  # type: ignore[no-untyped-def]
    """Take a topic without tokens out of the list; the last one takes its place."""
    slots[held[j]] = -1
    size -= 1
    if j < size:
        held[j], numbers[j] = held[size], numbers[size]
        slots[held[j]] = j
    return size


@njit(parallel=True, **OPTIONS)
def assign(seed, step, bounds, starts, names, words, z, topics, tables, masses, sweeps, burn, counts, mixes):  # type: ignore[no-untyped-def]
    """Sweep all documents; add the assignments of the kept sweeps to `counts` and `mixes`.

    bounds: where blocks of documents begin; starts: where documents begin in `words` and `z`; names: the numbers that
    name the documents' streams; counts: (threads, words, topics) whole numbers; mixes: (documents, topics), or no rows.
    """
    count = topics.shape[1]
    for block in prange(bounds.shape[0] - 1):
        slots, held = np.full(count, -1, np.int32), np.empty(count + 1, np.int32)
        numbers, sums = np.empty(count + 1, np.float32), np.empty(count + 1, np.float32)
        thread = get_thread_id()
        for d in range(bounds[block], bounds[block + 1]):
            own, mine = words[starts[d] : starts[d + 1]], z[starts[d] : starts[d + 1]]
            stream = source(seed, step, names[d])
            size = enter(mine, slots, held, numbers)
            for s in range(sweeps):
                size = sweep(stream, own, mine, topics, tables, masses, size, slots, held, numbers, sums)
                if s >= burn:
                    for i in range(own.shape[0]):
                        counts[thread, own[i], mine[i]] += 1
                    if mixes.shape[0] > 0:
                        for j in range(size):
                            mixes[d, held[j]] += numbers[j]
            leave(size, slots, held)
