"""What the second-order samplers of flat space share: their state, fresh momenta, and the position's part of a step."""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import Array

from orthodrome.core import trees
from orthodrome.core.types import Memory, Tree


class MomentumState(NamedTuple):
    """A position, its momentum r, what the estimator remembers, and how many transitions led here."""

    position: Tree
    momentum: Tree
    memory: Memory
    transitions: Array


def first_momentum(key: Array | None, position: Tree) -> Tree:
    """Standard normals; at rest without a key."""
    return trees.scale(0.0, position) if key is None else trees.normal_like(key, position)


def refreshed(key: Array, every: int | None, count: Array, momentum: Tree, draw: Any) -> Tree:
    """A new momentum, draw(key), at every `every`-th transition (Algorithm 1: optionally, periodically)."""
    if every is None:
        return momentum
    return jax.lax.cond(count % every == 0, draw, lambda _: momentum, key)


def no_count() -> Array:
    """The count of a new state."""
    return jnp.zeros((), jnp.uint32)
