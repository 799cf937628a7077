"""The positive orthant with walls that reflect.

A straight line that meets the wall x_i = 0 goes on as its mirror image, so elementwise

    x(t) = |x + t v|,     v(t) = v sign(x + t v),

which keeps the speed, composes and reverses exactly. Every element may have its own step size, but a step that mixes
elements (a dense metric) would not reflect in the right direction.

The law of a step gives the wall itself no probability, but rounding does: of some hundred million steps near 0 in
float32 a few end at exactly 0, where a density with a pole has no gradient and the chain could not go on. All that is
known then is that x + t v lies within the rounding error of x, so the step ends at a distance of that size.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
from jax import Array

from orthodrome.core.pytree import pytree
from orthodrome.manifolds.manifold import Manifold


@pytree
class Positive(Manifold):
    """Arrays of numbers >= 0; densities with respect to Lebesgue measure."""

    flat = True
    smooth = False
    point_ndim = 0

    def dimension(self, x: Array) -> int:
        return x.size

    def project(self, x: Array, u: Array) -> Array:
        return u

    def geodesic(self, x: Array, v: Array, t: Any) -> tuple[Array, Array]:
        moved = x + t * v
        rounding = jnp.finfo(moved.dtype).eps / 4 * x
        return jnp.where(moved == 0, rounding, jnp.abs(moved)), jnp.where(moved < 0, -v, v)

    def retract(self, x: Array) -> Array:
        return jnp.abs(x)

    def random_point(self, key: Array, like: Any) -> Array:
        return jnp.abs(jax.random.normal(key, like.shape, like.dtype))

    def distance(self, x: Array) -> Array:
        return jnp.max(jnp.maximum(-x, 0))

    def max_step(self, x: Array) -> float:
        return jnp.inf

    def walls(self, x: Array) -> Array:
        return x
