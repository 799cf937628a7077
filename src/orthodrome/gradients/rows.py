"""Which rows make a minibatch: drawn from the key, at a cost that depends on the batch and not on the data.

Without replacement, independent rows are drawn and sorted; each that equals its neighbour is drawn again, until all
differ. What is drawn never depends on a row's number, only on which draws coincide, so every set of rows is as likely
as any other if rows are. A batch of more than half of the rows is the beginning of a permutation, which then costs no
more than the batch itself.

A row number is the upper half of the product of 32 random bits with the number of rows, which takes a quarter of the
time of JAX's `randint`. Some rows are then more likely than others by N 2^-32 of themselves: it is done up to 2^20
rows, where that is 2^-12, a shift of the posterior by some 2^-12 of its standard deviation.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jax import Array

from orthodrome.core.types import Tree

FEW_ROWS = 2**20
"""Up to so many rows the multiplication of random bits is used: its relative bias is then at most 2^-12."""


def draw_rows(key: Array, num_rows: int, count: int, replace: bool) -> Array:
    """Draw `count` row numbers below `num_rows`; without replacement they are distinct, in an arbitrary order."""
    if replace:
        return _below(key, num_rows, count)
    if count == num_rows:
        return jnp.arange(num_rows)
    if 2 * count > num_rows:
        return jax.random.permutation(key, num_rows)[:count]
    return _distinct(key, num_rows, count)


def take_rows(data: Tree, rows: Array) -> Tree:
    """Return these rows of every array."""
    return jax.tree.map(lambda leaf: jnp.take(leaf, rows, axis=0, mode="clip"), data)


def _distinct(key: Array, num_rows: int, count: int) -> Array:
    def twins(rows: Array) -> Array:
        return jnp.concatenate([jnp.zeros((1,), bool), rows[1:] == rows[:-1]])

    def redraw(carry: tuple[Array, Array]) -> tuple[Array, Array]:
        key, rows = carry
        key, now = jax.random.split(key)
        return key, jnp.sort(jnp.where(twins(rows), _below(now, num_rows, count), rows))

    key, now = jax.random.split(key)
    first = jnp.sort(_below(now, num_rows, count))
    return jax.lax.while_loop(lambda carry: jnp.any(twins(carry[1])), redraw, (key, first))[1]


def _below(key: Array, num_rows: int, count: int) -> Array:
    """Draw uniform whole numbers below `num_rows`."""
    if num_rows > FEW_ROWS:
        return jax.random.randint(key, (count,), 0, num_rows)
    return upper_product(jax.random.bits(key, (count,), jnp.uint32), num_rows).astype(jnp.int32)


def upper_product(bits: Array, factor: int | Array) -> Array:
    """Return the upper 32 bits of the products of 32-bit numbers, by halves of 16 bits."""
    mask, high, low = jnp.uint32(0xFFFF), jnp.uint32(factor >> 16), jnp.uint32(factor & 0xFFFF)
    b1, b0 = bits >> 16, bits & mask
    middle: Array = b1 * low + (b0 * low >> 16)
    other = b0 * high + (middle & mask)
    total: Array = b1 * high + (middle >> 16) + (other >> 16)
    return total
