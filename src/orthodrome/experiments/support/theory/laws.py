"""The law, the metric and the charts on which the theorems are looked at: nothing about them is symmetric."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from orthodrome.gradients.full import FullGradient
from orthodrome.manifolds import Euclidean, Sphere
from orthodrome.targets import Target

POINTS = 20
"""How many points z an equation is looked at."""


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


def points(seed: int) -> dict[str, Any]:
    """Return points of a position, a momentum, a thermostat, and polar angles away from the poles."""
    rng = np.random.default_rng(seed)
    x, r, xi = rng.normal(size=(POINTS, 2)), rng.normal(size=(POINTS, 2)), rng.normal(size=POINTS) + 1
    return {"x": x, "r": r, "xi": xi, "q": np.stack([rng.uniform(0.5, 2.5, POINTS), rng.uniform(0, 6, POINTS)], 1)}


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
