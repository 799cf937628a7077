"""The law, the metric and the charts on which the theorems are looked at: nothing about them is symmetric."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from orthodrome.gradients.full import FullGradient
from orthodrome.manifolds import Euclidean, Sphere
from orthodrome.targets import Posterior, Target

POINTS, ROWS = 20, 12
"""How many points z an equation is looked at, and how many rows of data a metric is made from."""


def potential(x: Array) -> Array:
    """Return U of two numbers, neither Gaussian nor symmetric."""
    return jnp.sum(x**4) / 4 + jnp.sum(x**2) / 2 + 0.3 * x[0] * x[1] - 0.5 * x[0]


def root(x: Array) -> Array:
    """Return the diagonal of G^(-1/2), which depends on both numbers."""
    return jnp.stack([1 + 0.5 * jnp.sin(x[0] + 0.5 * x[1]), 1 + 0.3 * x[1] ** 2 + 0.2 * x[0] ** 2])


def inverse(x: Array) -> Array:
    """Return the diagonal of G^-1."""
    return root(x) ** 2


def angles(q: Array) -> Array:
    """Return the point of the sphere with these polar angles."""
    return jnp.stack([jnp.sin(q[0]) * jnp.cos(q[1]), jnp.sin(q[0]) * jnp.sin(q[1]), jnp.cos(q[0])])


def flat() -> FullGradient:
    """Return the exact gradient of -U."""
    return FullGradient(Target(Euclidean(), lambda x: -potential(x)))


def round_() -> FullGradient:
    """Return the exact gradient of a law on the sphere."""
    return FullGradient(Target(Sphere(), lambda x: 2 * x[0] - x[2] + x[0] * x[1]))


def logistic(seed: int) -> Posterior:
    """Return a logistic regression of ROWS rows on two numbers each, whose information is a metric."""
    rng = np.random.default_rng([seed, 1])
    rows = np.column_stack([rng.normal(size=(ROWS, 2)), rng.integers(0, 2, ROWS)])

    def loglikelihood(w: Array, row: Array) -> Array:
        slope = row[:2] @ w
        return row[2] * slope - jnp.logaddexp(0.0, slope)

    return Posterior(Euclidean(), lambda w: -jnp.sum(w**2) / 2, loglikelihood, rows)


def points(seed: int) -> dict[str, Any]:
    """Return points of a position, a momentum, a thermostat, thermostats of three coordinates, and polar angles away
    from the poles."""
    rng = np.random.default_rng(seed)
    x, r, xi = rng.normal(size=(POINTS, 2)), rng.normal(size=(POINTS, 2)), rng.normal(size=POINTS) + 1
    q = np.stack([rng.uniform(0.5, 2.5, POINTS), rng.uniform(0, 6, POINTS)], 1)
    return {"x": x, "r": r, "xi": xi, "q": q, "each": rng.normal(size=(POINTS, 3)) + 1}


def joint(z: Any) -> Array:
    """Return -H = -U - r.r / 2, and with a thermostat -(d / 2) (xi - A)^2 for A = FRICTION (erratum 004-4)."""
    x, r, *rest = z
    value = -potential(x) - jnp.sum(r * r) / 2
    return value - r.size / 2 * (rest[0] - FRICTION) ** 2 if rest else value


FRICTION = 0.9
"""C of SGHMC, and A of SGNHT."""


def slope(x: Array) -> Array:
    """Return grad U."""
    return jax.grad(potential)(x)
