"""Whether pairs of nodes are among those that are written down: a table of buckets, looked up all at once.

A pair i < j lies in the bucket

    b(i, j) = (MIX i mod 2^B)  xor  h(j),      2^B at least the number of nodes,

of which h(j) is the upper part of a product with a random-looking constant, and only j is stored there. MIX is odd, so
MIX i mod 2^B tells i, and the bucket and j together tell the pair: the answer is exact. Buckets are about as many as a
half of the pairs; the fullest one says how many places each has. A look-up is one gather of these few neighbouring
numbers, whatever the degree of a node; bisection among a node's pairs would take one gather for every halving.

The table of a large network is larger than the processor's cache, and nearly all pairs that are asked for are not in
it. So a filter is asked first: an array of bits, a tenth of the table's size, of which every listed pair has set one by
another hash. A pair whose bit is not set is not listed, and is looked up in the first bucket, which is always at hand;
only the others, some tenth, go to their own bucket in memory. The answer stays exact.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np
from jax import Array
from numpy.typing import NDArray

MIX, SPREAD = 0x9E3779B1, 0x85EBCA6B
"""Odd constants without structure (of the golden ratio, and of MurmurHash3)."""
PER_BUCKET = 2
"""The largest mean number of pairs in a bucket."""
BITS_PER_PAIR = 8
"""The smallest number of bits of the filter for each listed pair: of other pairs at most one in so many passes it."""
WORD = 5
"""The binary logarithm of the number of bits in a word of the filter."""


class Listed(NamedTuple):
    """The table (2^B, width) of the second nodes of pairs i < j, the largest number of its kind where a bucket has
    room, and the words of bits of the filter before it."""

    table: Array
    filter: Array


def listed(pairs: NDArray[Any], nodes: int) -> Listed:
    """Write down pairs i < j, each once, of numbers below `nodes`."""
    bits = max(nodes - 1, len(pairs) // PER_BUCKET, 1).bit_length()
    buckets = np.asarray(_bucket(pairs[:, 0].astype(np.uint32), pairs[:, 1].astype(np.uint32), bits), np.int64)
    order = np.argsort(buckets, kind="stable")
    buckets, second = buckets[order], pairs[order, 1]
    place = np.arange(len(buckets)) - np.searchsorted(buckets, buckets)
    kind = narrow(nodes)
    table = np.full((2**bits, int(place.max(initial=0)) + 1), np.iinfo(kind).max, kind)
    table[buckets, place] = second
    passing = np.zeros(2 ** max(WORD, (BITS_PER_PAIR * len(pairs)).bit_length()), np.uint8)
    passing[_bit(pairs[:, 0].astype(np.uint32), pairs[:, 1].astype(np.uint32), len(passing))] = 1
    words = np.packbits(passing, bitorder="little").view("<u4").astype(np.uint32)
    return Listed(jnp.asarray(table), jnp.asarray(words))


def narrow(nodes: int) -> type[np.uint16] | type[np.int32]:
    """Return the shortest kind of whole numbers that has the nodes and one number more: less memory, fewer misses."""
    return np.uint16 if nodes <= np.iinfo(np.uint16).max else np.int32


def is_listed(known: Listed, i: Array, j: Array) -> Array:
    """Return whether each pair i < j is listed."""
    one, two, bits = i.astype(jnp.uint32), j.astype(jnp.uint32), known.table.shape[0].bit_length() - 1
    bit = _bit(one, two, known.filter.shape[0] << WORD)
    passes = known.filter[(bit >> WORD).astype(jnp.int32)] >> (bit & np.uint32(2**WORD - 1)) & np.uint32(1) == 1
    bucket = jnp.where(passes, _bucket(one, two, bits), 0).astype(jnp.int32)
    return passes & jnp.any(known.table[bucket] == j[:, None].astype(known.table.dtype), axis=1)


def _bucket(i: Any, j: Any, bits: int) -> Any:
    """Return b(i, j) of 32-bit numbers, of NumPy's or of JAX's arrays."""
    mixed = j * np.uint32(SPREAD)
    mixed = (mixed ^ (mixed >> np.uint32(15))) * np.uint32(MIX)
    return (i * np.uint32(MIX) & np.uint32(2**bits - 1)) ^ (mixed >> np.uint32(32 - bits))


def _bit(i: Any, j: Any, size: int) -> Any:
    """Return the bit of the filter, of a number `size` of them that is a power of two, of 32-bit numbers."""
    mixed = (i * np.uint32(SPREAD)) ^ (j * np.uint32(MIX))
    mixed = (mixed ^ (mixed >> np.uint32(16))) * np.uint32(SPREAD)
    return (mixed ^ (mixed >> np.uint32(15))) & np.uint32(size - 1)
