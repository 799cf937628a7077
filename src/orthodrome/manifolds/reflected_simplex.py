"""The flat simplex: straight lines in the plane sum p = 1 that reflect at the walls p_i = 0.

Byrne & Girolami, Appendix A, Algorithm 2, with errata 002-6 and 002-7. The line goes on until the first wall,

    tau = min over v_i < 0 of -x_i / v_i,

where x_j is set to exactly 0 (rounding could leave it below and hit the same wall for ever) and v is mirrored in the
wall's normal inside the plane, n_j = (e_j - 1/d) / sqrt(1 - 1/d):

    v - 2 n_j n_j'v:     v_j -> -v_j,     the others gain 2 v_j / (d - 1).

All copies share one loop; one that needs more than `max_hits` walls returns NaN (its reverse would need as many).
The plane's surface measure is sqrt(d) dp_1 ... dp_{d-1}, in all sqrt(d) / (d-1)!.
"""

from __future__ import annotations

import math
from typing import Any

import jax
import jax.numpy as jnp
from jax import Array

from orthodrome.core.pytree import pytree, static
from orthodrome.manifolds.speed import restoring_factor
from orthodrome.manifolds.weights import Weights

Carry = tuple[Array, Array, Array, Array]


@pytree
class ReflectedSimplex(Weights):
    """Probability vectors p >= 0 along the last axis; densities with respect to dp_1 ... dp_{d-1}.

    max_hits: the number of reflections in one step after which the move fails
    """

    smooth = False
    max_hits: int = static(default=10_000)

    def dimension(self, x: Array) -> int:
        return x.size // x.shape[-1] * (x.shape[-1] - 1)

    def project(self, x: Array, u: Array) -> Array:
        return u - jnp.mean(u, axis=-1, keepdims=True)

    def geodesic(self, x: Array, v: Array, t: Any) -> tuple[Array, Array]:
        time = jnp.broadcast_to(jnp.asarray(t, x.dtype), (*x.shape[:-1], 1))
        direction = jnp.where(time < 0, -1, 1).astype(x.dtype)
        y, w, left = self._run(x, direction * v, jnp.abs(time))
        y, w = self.retract(y), direction * self.project(y, w)
        failed = left > 0
        return jnp.where(failed, jnp.nan, y), jnp.where(failed, jnp.nan, w * _regained(v, w))

    def retract(self, x: Array) -> Array:
        inside = jnp.maximum(x, 0)
        return inside / jnp.sum(inside, axis=-1, keepdims=True)

    def random_point(self, key: Array, like: Any) -> Array:
        return self.retract(jax.random.exponential(key, like.shape, like.dtype))

    def distance(self, x: Array) -> Array:
        return jnp.maximum(jnp.max(jnp.abs(jnp.sum(x, axis=-1) - 1)), jnp.max(-x))

    def max_step(self, x: Array) -> float:
        return jnp.inf

    def walls(self, x: Array) -> Array:
        return x

    def log_measure(self, x: Array) -> Array | float:
        return -0.5 * math.log(x.shape[-1]) * (x.size // x.shape[-1])

    def log_volume_of_point(self, shape: tuple[int, ...]) -> float:
        return math.log(shape[0]) / 2 - math.lgamma(shape[0])

    def _run(self, x: Array, v: Array, time: Array) -> tuple[Array, Array, Array]:
        def unfinished(carry: Carry) -> Array:
            return jnp.any(carry[2] > 0) & (carry[3] < self.max_hits)

        def advance(carry: Carry) -> Carry:
            return (*_to_next_wall(*carry[:3]), carry[3] + 1)

        return jax.lax.while_loop(unfinished, advance, (x, v, time, jnp.zeros((), jnp.int32)))[:3]


def _to_next_wall(x: Array, v: Array, left: Array) -> tuple[Array, Array, Array]:
    waits = jnp.where(v < 0, x / jnp.where(v < 0, -v, 1), jnp.inf)
    wait, wall = jnp.min(waits, axis=-1, keepdims=True), jnp.argmin(waits, axis=-1)
    hit = wait < left
    at_wall = hit & (jax.lax.broadcasted_iota(wall.dtype, x.shape, x.ndim - 1) == wall[..., None])
    moved = jnp.where(at_wall, 0, jnp.maximum(x + jnp.minimum(wait, left) * v, 0))
    into = jnp.sum(jnp.where(at_wall, v, 0), axis=-1, keepdims=True)
    return moved, jnp.where(at_wall, -v, v + into * (2 / max(1, x.shape[-1] - 1))), jnp.where(hit, left - wait, 0)


def _regained(v: Array, w: Array) -> Array:
    return restoring_factor(jnp.sum(v * v, axis=-1, keepdims=True), jnp.sum(w * w, axis=-1, keepdims=True))
