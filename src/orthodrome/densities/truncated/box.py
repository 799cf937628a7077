"""Normal variables restricted to boxes, element by element."""

from __future__ import annotations

import math
from typing import Any

import jax
import jax.numpy as jnp
from jax import Array

from orthodrome.core.pytree import pytree
from orthodrome.densities.density import Density, spread
from orthodrome.densities.truncated.interval import Interval, draw_offset, interval, log_mass


@pytree
class TruncatedNormal(Density):
    """Independent normal variables, each restricted to [lower, upper]: a box, element by element.

    `logdensity` is per element too: normalised, with respect to Lebesgue measure, -inf outside.

    mean, scale: mean and standard deviation before truncation
    lower, upper: the ends, which may be infinite
    """

    mean: Array
    scale: Any = 1.0
    lower: Any = -math.inf
    upper: Any = math.inf

    def logdensity(self, x: Array) -> Array:
        i = jax.tree.map(lambda v: jnp.broadcast_to(v, x.shape), self._interval())
        away = jnp.where(i.flip, i.upper - x, x - i.lower) / i.scale
        z = jnp.where(i.inside, (x - i.mean) / i.scale, away)
        value = -z * (jnp.where(i.inside, 0, i.near) + z / 2) - log_mass(i) - jnp.log(i.scale)
        return jnp.where((x >= i.lower) & (x <= i.upper), value, -jnp.inf)

    def sample(self, key: Array, shape: tuple[int, ...] = ()) -> Array:
        i = jax.tree.map(lambda v: spread(v, shape), self._interval())
        d = i.scale * draw_offset(key, i)
        x = jnp.where(i.inside, i.mean + d, jnp.where(i.flip, i.upper - d, i.lower + d))
        return jnp.clip(x, i.lower, i.upper)

    def _interval(self) -> Interval:
        mean = jnp.asarray(self.mean)
        scale, lower, upper = (jnp.asarray(v, mean.dtype) for v in (self.scale, self.lower, self.upper))
        shape = jnp.broadcast_shapes(mean.shape, scale.shape, lower.shape, upper.shape)
        return interval(*(jnp.broadcast_to(v, shape) for v in (mean, scale, lower, upper)))
