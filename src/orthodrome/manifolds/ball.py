"""Norm balls carried on the sphere one dimension up (Lan, Zhou & Shahbaba 2014, "Spherical HMC for constrained
targets").

A point of the unit ball is lifted by one coordinate, x = (beta, +-sqrt(1 - |beta|^2)), so the wall becomes an equator
that trajectories cross. For the q-norm the ball is first made round by |beta_i| = |y_i|^{q/2}. With theta = center +
radius y,

    dtheta = radius^D dy,   dy = prod_i (2/q) |beta_i|^{2/q - 1} dbeta,   dbeta = |x_{D+1}| dS(x)

and both hemispheres stand for the ball, so that

    log_measure(x) = D log(radius 2/q) + (2/q - 1) sum_i log|beta_i| + log|x_{D+1}| - log 2.

For q > 2 the density on the sphere has poles at beta_i = 0; the cube (q infinite) is `Box`.
"""

from __future__ import annotations

import math
from typing import Any

import jax
import jax.numpy as jnp
from jax import Array

from orthodrome.core.pytree import pytree, static
from orthodrome.manifolds.on_sphere import SPHERE, OnSphere


@pytree
class Ball(OnSphere):
    """Vectors with |theta - center| <= radius in the q-norm; densities with respect to Lebesgue measure.

    radius: one number
    center: one number or a vector
    norm: q
    """

    radius: Any = 1.0
    center: Any = 0.0
    norm: float = static(default=2.0)

    def random_point(self, key: Array, like: Any) -> Array:
        shape = (*like.shape[:-1], like.shape[-1] + 1)
        return SPHERE.random_point(key, jax.ShapeDtypeStruct(shape, like.dtype))

    def to_user(self, x: Array) -> Array:
        beta = x[..., :-1]
        y = beta if self.norm == 2 else jnp.sign(beta) * jnp.abs(beta) ** (2 / self.norm)
        return _spread(self.center, y) + jnp.asarray(self.radius, y.dtype) * y

    def from_user(self, p: Array) -> Array:
        y = (p - _spread(self.center, p)) / jnp.asarray(self.radius, p.dtype)
        beta = y if self.norm == 2 else jnp.sign(y) * jnp.abs(y) ** (self.norm / 2)
        height = jnp.sqrt(jnp.maximum(1 - jnp.sum(beta * beta, axis=-1, keepdims=True), 0))
        return jnp.concatenate([beta, height], axis=-1)

    def walls(self, x: Array) -> Array:
        beta, height = jnp.abs(x[..., :-1]), jnp.abs(x[..., -1:])
        return jnp.concatenate([jnp.full_like(beta, jnp.inf) if self.norm == 2 else beta, height], axis=-1)

    def log_measure(self, x: Array) -> Array:
        beta, height = x[..., :-1], x[..., -1]
        constant = beta.size * jnp.log(2 / self.norm * jnp.asarray(self.radius, x.dtype)) - height.size * math.log(2)
        bent = 0.0 if self.norm == 2 else (2 / self.norm - 1) * jnp.sum(jnp.log(jnp.abs(beta)))
        return jnp.sum(jnp.log(jnp.abs(height))) + bent + constant


def _spread(value: Any, like: Array) -> Array:
    return jnp.broadcast_to(jnp.asarray(value, like.dtype), like.shape)
