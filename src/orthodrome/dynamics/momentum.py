"""The state and the momenta of the second-order samplers of flat space."""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import Array

from orthodrome.core import trees
from orthodrome.core.types import Memory, Tree


class MomentumState(NamedTuple):
    """A position, its momentum r, the memory of the gradient estimator, and the number of transitions so far."""

    position: Tree
    momentum: Tree
    memory: Memory
    transitions: Array


def first_momentum(key: Array | None, position: Tree) -> Tree:
    """Draw a standard normal momentum; return zeros without a key."""
    return trees.scale(0.0, position) if key is None else trees.normal_like(key, position)


def refreshed(key: Array, every: int | None, count: Array, momentum: Tree, draw: Any) -> Tree:
    """Return a new momentum, draw(key), at every `every`-th transition, else the old one (Ma et al., Algorithm 1)."""
    if every is None:
        return momentum
    return jax.lax.cond(count % every == 0, draw, lambda _: momentum, key)


def no_count() -> Array:
    """Return the number of transitions of a new state."""
    return jnp.zeros((), jnp.uint32)
