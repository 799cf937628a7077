"""The ingredients of second-order Langevin dynamics, z = (x, r).

SGHMC     H = U + r' M^-1 r / 2,    D = diag(0, C),       Q = ((0, -I), (I, 0))
SGRHMC    H = U + r.r / 2,          D = diag(0, S'S),     Q = ((0, -S), (S', 0)),    S S' = G^-1(x)
"""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
from jax import Array
from jax.flatten_util import ravel_pytree

from orthodrome.core import trees
from orthodrome.core.types import Tree
from orthodrome.dynamics.ingredients.contract import (
    Ingredients,
    of_momentum,
    over_leaves,
    relative_steps,
    stretched,
    symplectic,
)
from orthodrome.dynamics.ingredients.langevin import inverse_at
from orthodrome.linear import leaves, maps


def of_hmc(refresh_every: int | None) -> Ingredients:
    """Return the ingredients of SGHMC."""
    return Ingredients(_kinetic, _friction, _flat_curl, _momentum, refresh_every)


def of_riemannian_hmc(refresh_every: int | None) -> Ingredients:
    """Return the ingredients of SGRHMC."""
    return Ingredients(_unit_kinetic, _metric_friction, _metric_curl, _momentum, refresh_every)


def _momentum(state: Any) -> tuple[Tree]:
    return (state.momentum,)


def _kinetic(sampler: Any, z: Any) -> Array:
    mass = leaves.spread(leaves.one_if_none(sampler.mass), z[0])
    return 0.5 * trees.dot(z[1], leaves.over(maps.solve, mass, z[1]))


def _friction(sampler: Any, z: Any) -> Array:
    friction = over_leaves(leaves.one_if_none(sampler.friction), z[0])
    return of_momentum(stretched(friction, relative_steps(sampler.step_size, z[0])))


def _flat_curl(sampler: Any, z: Any) -> Array:
    return symplectic(jnp.diag(relative_steps(sampler.step_size, z[0])))


def _unit_kinetic(sampler: Any, z: Any) -> Array:
    return 0.5 * jnp.sum(ravel_pytree(z[1])[0] ** 2)


def _root(sampler: Any, z: Any) -> tuple[Array, Array]:
    """Return S and t; a leaf has one step, so that S and T commute."""
    root = over_leaves(leaves.over(maps.smooth_root, inverse_at(sampler, z[0])), z[0])
    return root, relative_steps(sampler.step_size, z[0])


def _metric_friction(sampler: Any, z: Any) -> Array:
    root, t = _root(sampler, z)
    return of_momentum(root.T @ (t[:, None] * root))


def _metric_curl(sampler: Any, z: Any) -> Array:
    root, t = _root(sampler, z)
    return symplectic(t[:, None] * root)
