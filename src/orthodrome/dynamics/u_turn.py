"""When a trajectory turns back, measured in the embedding.

On any embedded manifold dx/dt = v, so the sum of the velocities along a trajectory is its chord, x_right - x_left,
exactly. The span from a left to a right state turns when moving either end further outward would shorten the chord:

    turns  =  c . v_left <= 0  or  c . v_right <= 0,        c = x_right - x_left in the units of the step.

A tree of 2^k leaves is tested on its whole span and on the two spans that reach across its middle (start of the
left half to start of the right half; end of the left half to end of the right half): the spans that are tested then
grow by at most a factor 2, so that a closed orbit, which turns on one half of its period, cannot slip through
between two of them. The test depends only on the states of the subtree and is symmetric under reversal of time.

`Checkpoints` keeps what is needed to test every aligned subtree while its leaves arrive one by one, in O(log)
memory: leaf n (even) starts the subtrees whose leaves share its leading bits, and is kept in slot popcount(n),
where it stays until those are complete; a leaf that ends a left half of size 2^k is kept in slot k.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import Array

from orthodrome.core import trees
from orthodrome.core.types import Tree
from orthodrome.linear import leaves, maps


class End(NamedTuple):
    """One end of a span: a position and its velocity."""

    position: Tree
    velocity: Tree


class Checkpoints(NamedTuple):
    """The states that later tests need: starts of subtrees, and ends of left halves, by slot."""

    starts: End
    ends: End


def turns(h: Tree, left: End, right: End, forward: Any = True) -> Array:
    """Return whether the span between two states turns back; `forward` False: `left` is the later one in time."""
    chord = leaves.over(maps.solve, h, trees.subtract(right.position, left.position))
    sign = jnp.where(forward, 1, -1)
    return (sign * trees.dot(chord, left.velocity) <= 0) | (sign * trees.dot(chord, right.velocity) <= 0)


def empty(like: End, max_depth: int) -> Checkpoints:
    """Return empty slots for trees of up to 2^max_depth leaves."""
    slots = jax.tree.map(lambda leaf: jnp.zeros((max(1, max_depth), *leaf.shape), leaf.dtype), like)
    return Checkpoints(slots, slots)


def turns_anywhere(h: Tree, kept: Checkpoints, leaf: Array, end: End, forward: Array) -> Array:
    """Return whether any aligned subtree that leaf number `leaf` completes turns back."""
    complete = trailing_ones(leaf)

    def check(carry: tuple[Array, Array]) -> tuple[Array, Array]:
        level, _ = carry
        slot = jax.lax.population_count(leaf >> level).astype(jnp.int32)
        start, right_start = _take(kept.starts, slot), _take(kept.starts, slot + 1)
        left_end = _take(kept.ends, level.astype(jnp.int32) - 1)
        across = turns(h, start, right_start, forward) | turns(h, left_end, end, forward)
        # of two leaves both spans across the middle are the whole one, and slot + 1 is not theirs
        return level + 1, turns(h, start, end, forward) | (across & (level > 1))

    def go_on(carry: tuple[Array, Array]) -> Array:
        level, turned = carry
        return (level <= complete) & ~turned

    return jax.lax.while_loop(go_on, check, (jnp.ones_like(leaf), jnp.zeros((), bool)))[1]


def keep(kept: Checkpoints, leaf: Array, end: End) -> Checkpoints:
    """Put leaf number `leaf` into the slots that will need it."""
    slot = jax.lax.population_count(leaf).astype(jnp.int32)
    starts = trees.where(leaf % 2 == 0, _put(kept.starts, slot, end), kept.starts)
    return Checkpoints(starts, _put(kept.ends, trailing_ones(leaf).astype(jnp.int32), end))


def first(kept: Checkpoints) -> End:
    """Return the first leaf."""
    return _take(kept.starts, jnp.zeros((), jnp.int32))


def trailing_ones(n: Array) -> Array:
    """Return the number k of trailing one bits: leaf n completes subtrees of 2, 4, ..., 2^k leaves."""
    return jax.lax.population_count(n & ~(n + 1))


def _take(slots: End, i: Array) -> End:
    return jax.tree.map(lambda leaf: jax.lax.dynamic_index_in_dim(leaf, i, keepdims=False), slots)


def _put(slots: End, i: Array, end: End) -> End:
    """Put an end into slot i by a choice in every slot: with an i for each chain, an update would be a scatter, which
    takes longer than the choice in the few slots that there are."""

    def put(leaf: Array, new: Array) -> Array:
        here = jnp.arange(leaf.shape[0], dtype=i.dtype) == i
        return jnp.where(here.reshape(-1, *[1] * new.ndim), new[None], leaf)

    return jax.tree.map(put, slots, end)
