"""The dynamics (5) and (6) of Liu, Zhu & Song (2016) in coordinates q of a manifold, x = chart(q) with M = dx/dq.

With G = M'M, the metric that the embedding induces, U(q) + log|G| / 2 is -log pi_H(x), so that

    SGGMC     z = (q, p):       H = -log pi_H(x) + p' G^-1 p / 2,    D = diag(0, M'C M),    Q = ((0, -I), (I, 0))
    gSGNHT    z = (q, p, xi):   H as above + mass (m / 2) (xi - C)^2,    D = diag(0, C G, 0),
                                Q = ((0, -I, 0), (I, 0, p / (mass m)), (0, -p' / (mass m), 0)).

With a thermostat for each ambient coordinate see `dynamics.thermostats`. The samplers follow these on the manifold
itself, along geodesics; the recipe is of flat space and needs coordinates. All of the data is in H.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jax import Array
from jax.flatten_util import ravel_pytree

from orthodrome.core.types import Tree
from orthodrome.dynamics.ingredients.contract import Ingredients, of_momentum, over_leaves, symplectic

Chart = Callable[[Array], Any]
"""A map q -> x from a vector of coordinates to the embedded position."""


def of_geodesics(chart: Chart) -> Ingredients:
    """Return the ingredients of SGGMC in coordinates."""

    def diffusion(sampler: Any, z: Any) -> Array:
        jacobian = _jacobian(chart, z[0])
        return of_momentum(jacobian.T @ over_leaves(sampler.friction, chart(z[0])) @ jacobian)

    def rest(state: Any) -> tuple[Array]:
        return (state.velocity,)

    return Ingredients(
        lambda sampler, z: _energy(sampler, chart, z),
        diffusion,
        lambda sampler, z: symplectic(jnp.eye(z[0].size, dtype=z[0].dtype)),
        rest,
    )


def of_geodesic_thermostat(chart: Chart, per_coordinate: bool = False) -> Ingredients:
    """Return the ingredients of gSGNHT in coordinates, with one thermostat or one per ambient coordinate."""

    def energy(sampler: Any, z: Any) -> Array:
        xi = ravel_pytree(z[2])[0]
        weight = 1 if per_coordinate else z[0].size
        mass, friction = (jnp.asarray(a, xi.dtype) for a in (sampler.thermostat_mass, sampler.friction))
        own = 0.5 * mass * weight * jnp.sum((xi - friction) ** 2)
        return _energy(sampler, chart, z) + own

    def diffusion(sampler: Any, z: Any) -> Array:
        jacobian = _jacobian(chart, z[0])
        friction = jnp.asarray(sampler.friction, jacobian.dtype)
        return of_momentum(friction * jacobian.T @ jacobian, ravel_pytree(z[2])[0].size)

    def curl(sampler: Any, z: Any) -> Array:
        n, jacobian = z[0].size, _jacobian(chart, z[0])
        velocity = jacobian @ jnp.linalg.solve(jacobian.T @ jacobian, z[1])
        mass = jnp.asarray(sampler.thermostat_mass, velocity.dtype)
        pull = (jacobian.T * velocity[None, :] if per_coordinate else z[1][:, None] / n) / mass
        q = symplectic(jnp.eye(n, dtype=pull.dtype), pull.shape[1])
        return q.at[n : 2 * n, 2 * n :].set(pull).at[2 * n :, n : 2 * n].set(-pull.T)

    return Ingredients(energy, diffusion, curl, lambda state: (state.velocity, state.thermostat))


def momentum(chart: Chart, q: Array, v: Tree) -> Array:
    """Return p = M'v, the momentum of a velocity of the embedding."""
    return _jacobian(chart, q).T @ ravel_pytree(v)[0]


def _jacobian(chart: Chart, q: Array) -> Array:
    """Return M = dx/dq over the ravelled x."""
    return jax.jacfwd(lambda q: ravel_pytree(chart(q))[0])(q)


def _energy(sampler: Any, chart: Chart, z: Any) -> Array:
    """Return -log pi_H(x) + p' G^-1 p / 2."""
    jacobian = _jacobian(chart, z[0])
    kinetic = 0.5 * z[1] @ jnp.linalg.solve(jacobian.T @ jacobian, z[1])
    return kinetic - sampler.gradient.target.embedded_logdensity(chart(z[0]))
