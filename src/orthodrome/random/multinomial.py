"""Multinomial counts by halving: exact, for many categories and many vectors of weights at once.

The categories are the leaves of a binary tree. The count of a node is split between its two children by

    left ~ Binomial(count, weight(left) / weight(node)),

so that log2(d) rounds of independent binomials give the multinomial law. The weights of nodes are sums, never
differences, and the lighter child is the one that is drawn: a category of weight 1e-30 beside one of weight 1 costs
nothing in accuracy.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jax import Array

from orthodrome.random.counts import binomial


@jax.jit
def multinomial(key: Array, counts: Array, weights: Array) -> Array:
    """Draw how many of `counts` (...,) independent choices fall on each category of `weights` (..., d).

    key: of JAX
    counts: whole numbers up to 65,536, in the dtype of the weights
    weights: numbers >= 0, not all zero, of any sum
    """
    size = weights.shape[-1]
    width = 1 << max(1, (size - 1).bit_length())
    padded = jnp.concatenate([weights, jnp.zeros((*weights.shape[:-1], width - size), weights.dtype)], axis=-1)
    lighter, is_left = _shares(padded)
    first = jnp.zeros_like(padded).at[..., 0].set(counts)

    def level(number: Array, found: Array) -> Array:
        return _halve(jax.random.fold_in(key, number), found, lighter[number], is_left[number])

    return jax.lax.fori_loop(0, lighter.shape[0], level, first)[..., :size]


def _halve(key: Array, counts: Array, share: Array, is_left: Array) -> Array:
    """Split the count of every node of one level; nodes beyond the level have no count."""
    above = counts[..., : counts.shape[-1] // 2]
    drawn = binomial(key, above, share)
    left = jnp.where(is_left, drawn, above - drawn)
    return jnp.stack([left, above - left], axis=-1).reshape(counts.shape)


def _shares(weights: Array) -> tuple[Array, Array]:
    """Return the share of the lighter child of every node, level by level from the root, and whether it is the left."""
    half, found = weights.shape[-1] // 2, []
    while weights.shape[-1] > 1:
        left, right = weights[..., 0::2], weights[..., 1::2]
        weights, light = left + right, jnp.minimum(left, right)
        share = jnp.where(weights > 0, light / jnp.where(weights > 0, weights, 1), 0)
        fill = [(0, 0)] * (share.ndim - 1) + [(0, half - share.shape[-1])]
        found.append((jnp.pad(share, fill), jnp.pad(left <= right, fill)))
    return jnp.stack([s for s, _ in found[::-1]]), jnp.stack([b for _, b in found[::-1]])
