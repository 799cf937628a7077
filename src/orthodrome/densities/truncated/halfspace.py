"""Normal vectors restricted to half-spaces: intervals along one direction, measured from the plane."""

from __future__ import annotations

import math
from typing import Any

import jax
import jax.numpy as jnp
from jax import Array

from orthodrome import special
from orthodrome.core.pytree import pytree
from orthodrome.densities.density import Density, spread
from orthodrome.densities.truncated.interval import draw_offset, interval


@pytree
class HalfspaceTruncatedNormal(Density):
    """A normal vector with covariance scale^2 I restricted to the half-space normal'x >= offset.

    Normalised, with respect to Lebesgue measure, -inf outside.

    mean, scale: mean vector and standard deviation before truncation
    normal: a unit vector
    offset: one number
    """

    mean: Array
    scale: Any
    normal: Array
    offset: Any

    def logdensity(self, x: Array) -> Array:
        scale, bound = self._scale(), self._bound()
        z = (x - jnp.broadcast_to(self.mean, x.shape)) / scale
        across = z - (z @ self.normal)[..., None] * jnp.broadcast_to(self.normal, x.shape)
        away = (x @ self.normal - jnp.asarray(self.offset, x.dtype)) / scale
        constant = self.mean.size * (math.log(2 * math.pi) / 2 + jnp.log(scale))
        # with the mean outside both squares are large, so phi(bound + away) / Q(bound) is computed at once
        far = -away * (jnp.maximum(bound, 0) + away / 2) - special.log_mills(jnp.maximum(bound, 0))
        near = -((away + bound) ** 2) / 2 - special.log_normal_cdf(-bound)
        along = jnp.where(bound > 0, far + math.log(2 * math.pi) / 2, near)
        return jnp.where(away >= 0, along - jnp.sum(across**2, axis=-1) / 2 - constant, -jnp.inf)

    def sample(self, key: Array, shape: tuple[int, ...] = ()) -> Array:
        along, across = jax.random.split(key)
        z = jax.random.normal(across, (*shape, self.mean.size), self.mean.dtype)
        scale, bound, offset = self._scale(), self._bound(), jnp.asarray(self.offset, self.mean.dtype)
        law = interval(self.mean @ self.normal, scale, offset, jnp.full_like(offset, jnp.inf))
        d = draw_offset(along, jax.tree.map(lambda v: spread(v, shape), law))
        # the mean, or its nearest point on the plane if it is outside
        base = self.mean + jnp.where(bound > 0, bound * scale, 0) * self.normal
        normal = spread(self.normal, shape)
        across = z - (z @ self.normal)[..., None] * normal  # taken first, so that d keeps its digits
        return spread(base, shape) + scale * (across + d[..., None] * normal)

    def _scale(self) -> Array:
        return jnp.asarray(self.scale, self.mean.dtype)

    def _bound(self) -> Array:
        return (jnp.asarray(self.offset, self.mean.dtype) - self.mean @ self.normal) / self._scale()
