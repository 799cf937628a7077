"""The unit sphere: great circles (Byrne & Girolami, section 4.2).

    P(x) u = u - x x'u,
    x(t) = x cos(a t) + (v / a) sin(a t),   v(t) = v cos(a t) - a x sin(a t),   a = |v|.

The rounding errors of the pair (x, v) are removed at every call, not now and then (a counter would break
reversibility), and inside the coefficients: with e = (x'x - 1) / 2 and b = x'v, both of the size of rounding, the flow
is applied to x (1 - e) and v - b x. So one pass over the arrays gives the three inner products and one pass the result.
"""

from __future__ import annotations

import math
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from orthodrome.core.pytree import pytree
from orthodrome.core.types import Reals
from orthodrome.manifolds.manifold import Manifold
from orthodrome.manifolds.speed import restoring_factor, steady_square


@pytree
class Sphere(Manifold):
    """Unit vectors along the last axis; densities with respect to the surface measure."""

    mirrored = True

    def dimension(self, x: Array) -> int:
        return x.size // x.shape[-1] * (x.shape[-1] - 1)

    def project(self, x: Array, u: Array) -> Array:
        return u - x * _inner(x, u)

    def geodesic(self, x: Array, v: Array, t: Any) -> tuple[Array, Array]:
        square, lean, shrink = _inner(v, v), _inner(x, v), 1.5 - 0.5 * _inner(x, x)
        wanted = steady_square(square)
        speed, factor = jnp.sqrt(wanted), restoring_factor(wanted, square)
        cos, sin = jnp.cos(speed * t), jnp.sin(speed * t)
        # sin(a t) / a is t at speed zero
        along = jnp.where(speed > 0, sin / jnp.where(speed > 0, speed, 1), t) * factor
        y = x * (cos * shrink - along * lean) + v * along
        w = v * (cos * factor) - x * (speed * sin * shrink + cos * lean)
        return y, w

    def retract(self, x: Array) -> Array:
        return x / jnp.sqrt(_inner(x, x))

    def random_point(self, key: Array, like: Any) -> Array:
        return self.retract(jax.random.normal(key, like.shape, like.dtype))

    def distance(self, x: Array) -> Array:
        return jnp.max(jnp.abs(jnp.sqrt(_inner(x, x)) - 1))

    def component(self, x: Array) -> Array:
        return jnp.ravel(x < 0).astype(jnp.int32) if x.shape[-1] == 1 else super().component(x)

    def into_component(self, x: Array, other: Array) -> Array:
        return other if x.shape[-1] == 1 else x

    def max_step(self, x: Array) -> float:
        return math.pi / 2 / math.sqrt(max(1, x.shape[-1] - 1))

    def log_volume_of_point(self, shape: tuple[int, ...]) -> float:
        return log_area(shape[0])

    @classmethod
    def summary(cls, draws: Reals) -> dict[str, Reals]:
        """Return the directional mean m = E x / |E x| and the mean resultant length |E x| (1: a point, 0: no
        direction)."""
        mean = draws.mean((0, 1), dtype=float)
        length = np.linalg.norm(mean, axis=-1, keepdims=True)
        direction = mean / np.maximum(length, np.finfo(float).tiny)
        return {"directional_mean": direction, "resultant_length": length[..., 0]}


def log_area(n: int) -> float:
    """Return the log of the area of the unit sphere of R^n, 2 pi^(n/2) / Gamma(n/2)."""
    return math.log(2) + n / 2 * math.log(math.pi) - math.lgamma(n / 2)


def _inner(x: Array, y: Array) -> Array:
    return jnp.sum(x * y, axis=-1, keepdims=True)
