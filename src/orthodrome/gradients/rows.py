"""Which rows make a minibatch: drawn from the key, at a cost that depends on the batch and not on the data.

Without replacement, independent rows are drawn and sorted; each that equals its neighbour is drawn again, until all
differ. What is drawn never depends on a row's number, only on which draws coincide, so every set of rows is exactly
equally likely. A batch of more than half of the rows is the beginning of a permutation, which then costs no more than
the batch itself.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
from jax import Array

Tree = Any


def draw_rows(key: Array, num_rows: int, count: int, replace: bool) -> Array:
    """`count` row numbers below `num_rows`; without replacement they are distinct, in no order that means anything."""
    if replace:
        return jax.random.randint(key, (count,), 0, num_rows)
    if count == num_rows:
        return jnp.arange(num_rows)
    if 2 * count > num_rows:
        return jax.random.permutation(key, num_rows)[:count]
    return _distinct(key, num_rows, count)


def take_rows(data: Tree, rows: Array) -> Tree:
    """These rows of every array."""
    return jax.tree.map(lambda leaf: jnp.take(leaf, rows, axis=0, mode="clip"), data)


def _distinct(key: Array, num_rows: int, count: int) -> Array:
    def draw(key: Array) -> Array:
        return jax.random.randint(key, (count,), 0, num_rows)

    def twins(rows: Array) -> Array:
        return jnp.concatenate([jnp.zeros((1,), bool), rows[1:] == rows[:-1]])

    def redraw(carry: tuple[Array, Array]) -> tuple[Array, Array]:
        key, rows = carry
        key, now = jax.random.split(key)
        return key, jnp.sort(jnp.where(twins(rows), draw(now), rows))

    key, now = jax.random.split(key)
    return jax.lax.while_loop(lambda carry: jnp.any(twins(carry[1])), redraw, (key, jnp.sort(draw(now))))[1]
