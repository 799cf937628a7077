"""Flat space: any real array, straight lines, Lebesgue measure."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
from jax import Array

from orthodrome.core.pytree import pytree
from orthodrome.linear import maps
from orthodrome.manifolds.manifold import Manifold


@pytree
class Euclidean(Manifold):
    """R^n for an array of any shape; densities with respect to Lebesgue measure."""

    flat = True
    point_ndim = 0

    def dimension(self, x: Array) -> int:
        return x.size

    def project(self, x: Array, u: Array) -> Array:
        return u

    def geodesic(self, x: Array, v: Array, t: Any) -> tuple[Array, Array]:
        return x + maps.apply(t, v), v

    def retract(self, x: Array) -> Array:
        return x

    def random_point(self, key: Array, like: Any) -> Array:
        return jax.random.normal(key, like.shape, like.dtype)

    def distance(self, x: Array) -> Array:
        return jnp.zeros((), x.dtype)

    def max_step(self, x: Array) -> float:
        return jnp.inf
