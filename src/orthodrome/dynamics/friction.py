"""The friction C of Langevin dynamics: its validity, its range, and the temperature that goes with it.

A friction is one entry for all leaves or one per leaf: a number, an array of the leaf's shape (a diagonal), or a
symmetric positive definite map, `Dense` or `LowRank`.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from orthodrome.core import lapack, trees
from orthodrome.core.types import Tree
from orthodrome.dynamics.words import own_temperature
from orthodrome.linear import leaves, maps
from orthodrome.linear.linear_map import Entry, is_map
from orthodrome.linear.linear_step import duration


def friction_range(friction: Any, units: Tree) -> tuple[Any, Any]:
    """Return the weakest and the strongest friction in the units of each leaf; None for both if it is not set."""
    if friction is None:
        return None, None
    pairs = zip(leaves.entries(friction, units), jax.tree.leaves(units), strict=True)
    rates = [jnp.ravel(maps.diagonal_values(c)) * jnp.ravel(u) for c, u in pairs]
    every = jnp.concatenate([rate.astype(trees.real_dtype(units)) for rate in rates])
    return jnp.min(every), jnp.max(every)


def friction_problem(friction: Any, matrix: bool = True) -> str | None:
    """Return why a friction is invalid, or None if it is valid; `matrix`: whether maps are allowed."""
    for c in jax.tree.leaves(friction, is_leaf=is_map):
        if not matrix and is_map(c):
            return "the thermostat is one number, and so must be the friction of a leaf (or of an element)"
        values = np.linalg.eigvalsh(np.asarray(c.dense())) if is_map(c) else np.asarray(c)
        if not np.all(np.isfinite(values)) or not np.all(values > 0):
            least = float(np.min(values))
            return f"friction has the value (or eigenvalue) {least:.3g}; it must be above 0 (None: learnt in warm-up)"
    return None


def expected_temperature(order: str, step_size: Any, friction: Any, position: Tree) -> Array:
    """Return the mean of v.v/m that a word itself has without a potential, over the numbers of the position."""
    parts = zip(
        leaves.entries(friction, position),
        leaves.entries(step_size, position),
        jax.tree.leaves(position),
        strict=True,
    )
    dtype = trees.real_dtype(position)
    sums = [jnp.mean(own_temperature(order, _rate(c, s, x))).astype(dtype) * x.size for c, s, x in parts]
    return sum(sums) / sum(x.size for x in jax.tree.leaves(position))


def noise_heat(step_size: Any, friction: Any, kicks: float, position: Tree) -> Tree | None:
    """Return h / (2 C k), by which the gradient's noise heats with k kicks in a step; None for matrices."""
    if leaves.any_map(step_size) or leaves.any_map(friction):
        return None
    h, c = leaves.spread(step_size, position), leaves.spread(friction, position)
    return jax.tree.map(lambda h, c: h / (2 * c * kicks), h, c)


def _rate(friction: Entry, h: Entry, like: Array) -> Array:
    """Return C h for each element, or its eigenvalues."""
    if is_map(friction):
        return lapack.eigvalsh(maps.dense(maps.budget(friction, duration(h)), like)) / 2
    return jnp.asarray(friction * duration(h))
