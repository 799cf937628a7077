"""Whether pairs of nodes are among those that are written down: a table of buckets, looked up all at once.

A pair i < j lies in the bucket

    b(i, j) = (MIX i mod 2^B)  xor  h(j),      2^B at least the number of nodes,

of which h(j) is the upper part of a product with a random-looking constant, and only j is stored there. MIX is odd, so
MIX i mod 2^B tells i, and the bucket and j together tell the pair: the answer is exact. Buckets are about as many as a
half of the pairs; the fullest one says how many places each has. A look-up is one gather of these few neighbouring
numbers, whatever the degree of a node; bisection among a node's pairs would take one gather for every halving.
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


class Listed(NamedTuple):
    """The table (2^B, width) of the second nodes of pairs i < j, -1 where a bucket has room."""

    table: Array


def listed(pairs: NDArray[Any], nodes: int) -> Listed:
    """Write down pairs i < j, each once, of numbers below `nodes`."""
    bits = max(nodes - 1, len(pairs) // PER_BUCKET, 1).bit_length()
    buckets = np.asarray(_bucket(pairs[:, 0].astype(np.uint32), pairs[:, 1].astype(np.uint32), bits), np.int64)
    order = np.argsort(buckets, kind="stable")
    buckets, second = buckets[order], pairs[order, 1]
    place = np.arange(len(buckets)) - np.searchsorted(buckets, buckets)
    table = np.full((2**bits, int(place.max(initial=0)) + 1), -1, np.int32)
    table[buckets, place] = second
    return Listed(jnp.asarray(table))


def is_listed(known: Listed, i: Array, j: Array) -> Array:
    """Return whether each pair i < j is listed."""
    bits = known.table.shape[0].bit_length() - 1
    bucket = _bucket(i.astype(jnp.uint32), j.astype(jnp.uint32), bits).astype(jnp.int32)
    return jnp.any(known.table[bucket] == j[:, None].astype(jnp.int32), axis=1)


def _bucket(i: Any, j: Any, bits: int) -> Any:
    """Return b(i, j) of 32-bit numbers, of NumPy's or of JAX's arrays."""
    mixed = j * np.uint32(SPREAD)
    mixed = (mixed ^ (mixed >> np.uint32(15))) * np.uint32(MIX)
    return (i * np.uint32(MIX) & np.uint32(2**bits - 1)) ^ (mixed >> np.uint32(32 - bits))
