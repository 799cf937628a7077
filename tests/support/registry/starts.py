"""What the contract tests step on: small trees of parameters, with a few points on the manifold.

No law is tested here, so a `Law` of this file has points in place of exact draws. Two leaves are enough: every leaf
draws random numbers, which are most of what the compiler works at.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from jax.flatten_util import ravel_pytree

from orthodrome.manifolds import Euclidean, LogPositive, Positive, Product, Simplex, Sphere, Stiefel
from support.registry.law import Law


def nested(p: Any) -> Array:
    return p["a"][0][0, 0] - jnp.sum(p["b"]["c"])


def two_leaves(p: dict[str, Array]) -> Array:
    return -0.5 * jnp.sum(p["a"] ** 2) - jnp.sum(p["b"])


def frame(p: Array) -> Array:
    return 2 * p[0, 0] + p[1, 1] - p[2, 0]


def nested_points(rng: np.random.Generator, n: int) -> Any:
    directions = rng.normal(size=(n, 2, 2))
    directions /= np.linalg.norm(directions, axis=-1, keepdims=True)
    return {"a": (directions,), "b": {"c": rng.gamma(3.0, size=(n, 2, 1))}}


def two_points(rng: np.random.Generator, n: int) -> dict[str, np.ndarray]:
    return {"a": rng.normal(size=(n, 2, 2)), "b": 0.5 + rng.random(size=(n, 1))}


def weights_and_rates(rng: np.random.Generator, n: int) -> dict[str, np.ndarray]:
    return {"a": rng.dirichlet(np.full(3, 2.0), size=(n, 2)), "b": 0.5 + rng.random(size=(n, 2))}


def weights_alone(rng: np.random.Generator, n: int) -> dict[str, np.ndarray]:
    return {"a": rng.dirichlet(np.full(3, 2.0), size=(n, 2)), "b": rng.dirichlet(np.full(2, 2.0), size=n)}


def frames(rng: np.random.Generator, n: int) -> np.ndarray:
    return np.linalg.qr(rng.normal(size=(n, 4, 2)))[0]


def networks(rng: np.random.Generator, n: int) -> dict[str, np.ndarray]:
    return {"frame": frames(rng, n), "eigenvalues": rng.normal(size=(n, 2)), "intercept": rng.normal(size=n)}


def bending(x: Any) -> Any:
    """An inverse metric that depends on the position."""
    return jax.tree.map(lambda a: 1 + 0.1 * a * a, x)


def bending_metric(x: Any) -> Array:
    """A diagonal metric over the ravelled position."""
    return 1 + 0.1 * ravel_pytree(x)[0] ** 2


def start(manifold: Any, logdensity: Any, points: Any) -> Law:
    return Law(
        manifold,
        logdensity,
        points,
        step=0.1,
        num_steps=2,
        walk=0.3,
        max_depth=2,
        metric=bending_metric,
        inverse_metric=bending,
    )


STARTS: dict[str, Law] = {
    "curved tree": start(lambda: Product({"a": (Sphere(),), "b": {"c": Positive()}}), nested, nested_points),
    "walled tree": start(lambda: Product({"a": Euclidean(), "b": Positive()}), two_leaves, two_points),
    "smooth tree": start(lambda: Product({"a": Euclidean(), "b": LogPositive()}), two_leaves, two_points),
    "weights tree": start(lambda: Product({"a": Simplex(), "b": Positive()}), two_leaves, weights_and_rates),
    "weights alone": start(lambda: Product({"a": Simplex(), "b": Simplex()}), two_leaves, weights_alone),
    "frame": start(Stiefel, frame, frames),
    "network": start(Stiefel, None, networks),
}
