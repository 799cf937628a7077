"""Boxes: every coordinate is a one-dimensional ball, carried on a circle of its own (after Lan, Zhou & Shahbaba 2014).

    theta = middle + half x_1,   (x_1, x_2) on the unit circle,   dtheta = half |x_2| dphi,

and both half circles stand for the interval, so log_measure(x) = sum log(half |x_2| / 2) over the coordinates.
A point of user shape (..., D) is embedded as (..., D, 2).
"""

from __future__ import annotations

import math
from typing import Any

import jax
import jax.numpy as jnp
from jax import Array

from orthodrome.core.pytree import pytree
from orthodrome.manifolds.on_sphere import SPHERE, OnSphere


@pytree
class Box(OnSphere):
    """Vectors with lower <= theta <= upper; densities with respect to Lebesgue measure.

    lower, upper: one number or a vector each, both finite
    """

    lower: Any = 0.0
    upper: Any = 1.0

    def random_point(self, key: Array, like: Any) -> Array:
        return SPHERE.random_point(key, jax.ShapeDtypeStruct((*like.shape, 2), like.dtype))

    def to_user(self, x: Array) -> Array:
        middle, half = self._bounds(x[..., 0])
        return middle + half * x[..., 0]

    def from_user(self, p: Array) -> Array:
        middle, half = self._bounds(p)
        y = (p - middle) / half
        return jnp.stack([y, jnp.sqrt(jnp.maximum(1 - y * y, 0))], axis=-1)

    def walls(self, x: Array) -> Array:
        return jnp.stack([jnp.full_like(x[..., 0], jnp.inf), jnp.abs(x[..., 1])], axis=-1)

    def log_measure(self, x: Array) -> Array:
        _, half = self._bounds(x[..., 0])
        return jnp.sum(jnp.log(half * jnp.abs(x[..., 1]))) - half.size * math.log(2)

    def _bounds(self, like: Array) -> tuple[Array, Array]:
        lower, upper = (jnp.broadcast_to(jnp.asarray(b, like.dtype), like.shape) for b in (self.lower, self.upper))
        return (lower + upper) / 2, (upper - lower) / 2
