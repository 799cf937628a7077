"""Normal vectors restricted to balls.

Draws are by rejection from the better of two envelopes: the normal itself, and the uniform distribution in the ball
(bounded by the density at the ball's nearest point to the mean).
"""

from __future__ import annotations

import math
from typing import Any

import jax
import jax.numpy as jnp
from jax import Array

from orthodrome import special
from orthodrome.core.pytree import pytree
from orthodrome.densities.density import RejectionDensity, spread
from orthodrome.densities.uniform import UniformBall


@pytree
class BallTruncatedNormal(RejectionDensity):
    """A normal vector with covariance scale^2 I restricted to the ball |x| <= radius.

    Unnormalised, with respect to Lebesgue measure, -inf outside.

    mean, scale: mean vector and standard deviation before truncation
    radius: of the ball about the origin
    """

    mean: Array
    scale: Any = 1.0
    radius: Any = 1.0

    def logdensity(self, x: Array) -> Array:
        inside = jnp.sum(x**2, axis=-1) <= jnp.asarray(self.radius, x.dtype) ** 2
        return jnp.where(inside, self._log_normal(x), -jnp.inf)

    def envelope(self) -> Any:
        """Return whether the uniform envelope accepts more than the normal one (bound x volume against the whole mass),
        and the log of its bound."""
        n, dtype = self.mean.size, self.mean.dtype
        radius, scale = jnp.asarray(self.radius, dtype), jnp.asarray(self.scale, dtype)
        size = jnp.sqrt(jnp.sum(self.mean**2))
        highest = -(jnp.maximum(size - radius, 0) ** 2) / (2 * scale**2)
        log_volume = special.log_sphere_area(n, dtype) - math.log(n) + n * jnp.log(radius)
        return highest + log_volume < n * (math.log(2 * math.pi) / 2 + jnp.log(scale)), highest

    def propose(self, envelope: Any, key: Array, count: int) -> tuple[Array, Array]:
        use_uniform, highest = envelope
        normal, ball = jax.random.split(key)
        n, dtype = self.mean.size, self.mean.dtype
        free = spread(self.mean, (count,)) + jnp.asarray(self.scale, dtype) * jax.random.normal(
            normal, (count, n), dtype
        )
        within = jnp.sum(free**2, axis=-1) <= jnp.asarray(self.radius, dtype) ** 2
        even = UniformBall(n, self.radius, dtype).sample(ball, (count,))
        below = jnp.minimum(self._log_normal(even) - highest, 0)
        log_accept = jnp.where(use_uniform, below, jnp.log(within.astype(dtype)))
        return jnp.where(use_uniform, even, free), log_accept

    def _log_normal(self, x: Array) -> Array:
        z = (x - jnp.broadcast_to(self.mean, x.shape)) / jnp.asarray(self.scale, x.dtype)
        return -jnp.sum(z * z, axis=-1) / 2
