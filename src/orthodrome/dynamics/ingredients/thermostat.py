"""The ingredients of the Nose-Hoover thermostat SGNHT, z = (x, r, xi).

    H = U + r.r / 2 + mass (d / 2) (xi - A)^2                                                (erratum 004-4)
    D = diag(0, A, 0),      Q = ((0, -I, 0), (I, 0, r / (mass d)), (0, -r' / (mass d), 0)).

With one thermostat per coordinate d is 1 and r / mass is a diagonal matrix. Coordinate i of friction A_i, A on
average, has the factor A_i / A in the columns and rows of xi.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
from jax import Array
from jax.flatten_util import ravel_pytree

from orthodrome.core.types import Tree
from orthodrome.dynamics.ingredients.contract import Ingredients, of_momentum, relative_steps, symplectic
from orthodrome.linear import leaves


def _rest(state: Any) -> tuple[Tree, Tree]:
    return state.momentum, state.thermostat


def _frictions(sampler: Any, x: Tree) -> tuple[Array, Array]:
    """Return the friction of each coordinate, and the mean A."""
    friction = leaves.one_if_none(sampler.friction)
    entries = zip(leaves.entries(friction, x), jax.tree.leaves(x), strict=True)
    each = jnp.concatenate([jnp.broadcast_to(c, leaf.shape).ravel() for c, leaf in entries])
    return each, leaves.mean_diagonal(friction, x)


def _energy(sampler: Any, z: Any) -> Array:
    r, xi = ravel_pytree(z[1])[0], ravel_pytree(z[2])[0]
    _, mean = _frictions(sampler, z[0])
    mass = jnp.asarray(sampler.thermostat_mass, r.dtype)
    return 0.5 * jnp.sum(r**2) + 0.5 * mass * (r.size / xi.size) * jnp.sum((xi - mean) ** 2)


def _diffusion(sampler: Any, z: Any) -> Array:
    each, _ = _frictions(sampler, z[0])
    return of_momentum(jnp.diag(each * relative_steps(sampler.step_size, z[0])), ravel_pytree(z[2])[0].size)


def _curl(sampler: Any, z: Any) -> Array:
    r, count = ravel_pytree(z[1])[0], ravel_pytree(z[2])[0].size
    t = relative_steps(sampler.step_size, z[0])
    each, mean = _frictions(sampler, z[0])
    pull = t * each / mean * r / jnp.asarray(sampler.thermostat_mass, r.dtype)
    columns = jnp.diag(pull) if count > 1 else pull[:, None] / r.size
    n, q = r.size, symplectic(jnp.diag(t), count)
    return q.at[n : 2 * n, 2 * n :].set(columns).at[2 * n :, n : 2 * n].set(-columns.T)


THERMOSTAT = Ingredients(_energy, _diffusion, _curl, _rest)
