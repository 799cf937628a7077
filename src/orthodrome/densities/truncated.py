"""Normal laws restricted to boxes, half-spaces and balls.

**Intervals**: inversion, stable in the tails. With Q(x) = 1 - Phi(x) = phi(x) m(x), m Mills' ratio, a draw above
a >= 0 solves

    log Q(x) = log Q(a) - e,    that is    (x^2 - a^2) / 2 - log[m(x) / m(a)] = e,

where the large parts of the two logs are gone. log Q is concave, so Newton's method from the right falls monotonically
on the root, and x <= sqrt(a^2 + 2 e) because m decreases. An interval on one side of the mean uses a = its nearer end;
one that contains the mean is cut there, a = 0.

**Half-spaces** are intervals along one direction. **Balls**: rejection from the better of two envelopes, the normal
itself and the uniform law in the ball (bounded by the density at the ball's nearest point to the mean).
"""

from __future__ import annotations

import math
from typing import Any

import jax
import jax.numpy as jnp
from jax import Array

from orthodrome import random, special
from orthodrome.core.pytree import pytree
from orthodrome.densities.density import Density, RejectionDensity, spread
from orthodrome.densities.uniform import UniformBall


@pytree
class TruncatedNormal(Density):
    """Independent normals, each within [lower, upper] (which may be infinite): a box, element by element.

    One number per element; `logdensity` is per element too, with respect to Lebesgue measure, normalised, -inf outside.
    """

    mean: Array
    scale: Any = 1.0
    lower: Any = -math.inf
    upper: Any = math.inf

    def logdensity(self, x: Array) -> Array:
        mean, scale, a, b = (jnp.broadcast_to(v, x.shape) for v in self._parameters())
        z = (x - mean) / scale
        value = -z * z / 2 - math.log(2 * math.pi) / 2 - jnp.log(scale) - log_normal_interval(a, b)
        return jnp.where((z >= a) & (z <= b), value, -jnp.inf)

    def sample(self, key: Array, shape: tuple[int, ...] = ()) -> Array:
        mean, scale, a, b = (spread(v, shape) for v in self._parameters())
        return mean + scale * truncated_standard_normal(key, a, b)

    def _parameters(self) -> tuple[Array, Array, Array, Array]:
        mean = jnp.asarray(self.mean)
        scale, lower, upper = (jnp.asarray(v, mean.dtype) for v in (self.scale, self.lower, self.upper))
        shape = jnp.broadcast_shapes(mean.shape, scale.shape, lower.shape, upper.shape)
        mean, scale, lower, upper = (jnp.broadcast_to(v, shape) for v in (mean, scale, lower, upper))
        return mean, scale, (lower - mean) / scale, (upper - mean) / scale


@pytree
class HalfspaceTruncatedNormal(Density):
    """A normal vector with covariance scale^2 I where normal'x >= offset (`normal` a unit vector).

    Density with respect to Lebesgue measure, normalised, -inf outside.
    """

    mean: Array
    scale: Any
    normal: Array
    offset: Any

    def logdensity(self, x: Array) -> Array:
        z = (x - jnp.broadcast_to(self.mean, x.shape)) / self._scale()
        constant = self.mean.size * (math.log(2 * math.pi) / 2 + jnp.log(self._scale()))
        value = -jnp.sum(z * z, axis=-1) / 2 - constant - special.log_normal_cdf(-self._bound())
        return jnp.where(x @ self.normal >= jnp.asarray(self.offset, x.dtype), value, -jnp.inf)

    def sample(self, key: Array, shape: tuple[int, ...] = ()) -> Array:
        along, across = jax.random.split(key)
        z = jax.random.normal(across, (*shape, self.mean.size), self.mean.dtype)
        bound = spread(self._bound(), shape)
        height = truncated_standard_normal(along, bound, jnp.full_like(bound, jnp.inf)) - z @ self.normal
        return spread(self.mean, shape) + self._scale() * (z + height[..., None] * spread(self.normal, shape))

    def _scale(self) -> Array:
        return jnp.asarray(self.scale, self.mean.dtype)

    def _bound(self) -> Array:
        return (jnp.asarray(self.offset, self.mean.dtype) - self.mean @ self.normal) / self._scale()


@pytree
class BallTruncatedNormal(RejectionDensity):
    """A normal vector with covariance scale^2 I within the ball |x| <= radius.

    Density with respect to Lebesgue measure, unnormalised, -inf outside.
    """

    mean: Array
    scale: Any = 1.0
    radius: Any = 1.0

    def logdensity(self, x: Array) -> Array:
        inside = jnp.sum(x**2, axis=-1) <= jnp.asarray(self.radius, x.dtype) ** 2
        return jnp.where(inside, self._log_normal(x), -jnp.inf)

    def envelope(self) -> Any:
        """Whether the uniform law has less mass to spare than the normal: bound x volume against the whole mass."""
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


@jax.jit
def truncated_standard_normal(key: Array, lower: Array, upper: Array) -> Array:
    """Standard normals within [lower, upper], by inversion."""
    u = random.positive_uniform(key, lower.shape, lower.dtype)
    flip = upper <= 0
    a, b = jnp.where(flip, -upper, lower), jnp.where(flip, -lower, upper)
    one_side = a >= 0
    near = jnp.maximum(a, 0)
    # above `near` on one side: Q(x) / Q(near) = 1 - (1 - u)(1 - Q(b) / Q(near)), u = 1 being the near end
    fall = -jnp.log1p((1 - u) * jnp.expm1(-_log_tail_fall(near, jnp.maximum(b, near))))
    # about the mean: whichever tail the point is in, measured from zero, where Q = 1/2
    below, above = _log_mixture(u, a, b), _log_mixture(1 - u, -b, -a)
    left = below < above
    drop = jnp.where(one_side, fall, jnp.maximum(-math.log(2) - jnp.minimum(below, above), 0))
    x = _solve_tail(near, drop) * jnp.where(left & ~one_side, -1, 1).astype(u.dtype)
    return jnp.clip(jnp.where(flip, -x, x), lower, upper)


def log_normal_interval(lower: Array, upper: Array) -> Array:
    """log[Phi(upper) - Phi(lower)], without cancellation in the tails."""
    flip = upper <= 0
    a, b = jnp.where(flip, -upper, lower), jnp.where(flip, -lower, upper)
    near = jnp.maximum(a, 0)
    tail = special.log_normal_cdf(-near) + jnp.log(-jnp.expm1(-_log_tail_fall(near, jnp.maximum(b, near))))
    outside = jnp.exp(special.log_normal_cdf(jnp.minimum(a, 0))) + jnp.exp(special.log_normal_cdf(-jnp.maximum(b, 0)))
    return jnp.where(a >= 0, tail, jnp.log1p(-outside))


def _log_mixture(u: Array, a: Array, b: Array) -> Array:
    """log[(1 - u) Phi(a) + u Phi(b)]."""
    return jnp.logaddexp(jnp.log1p(-u) + special.log_normal_cdf(a), jnp.log(u) + special.log_normal_cdf(b))


def _log_tail_fall(a: Array, x: Array) -> Array:
    """log Q(a) - log Q(x) for x >= a >= 0; infinite at x = inf."""
    far = jnp.isinf(x)
    x = jnp.where(far, a, x)
    fall = (x - a) * ((x + a) / 2) + special.log_mills(a) - special.log_mills(x)
    return jnp.where(far, jnp.inf, jnp.maximum(fall, 0))


def _solve_tail(a: Array, drop: Array) -> Array:
    """x >= a >= 0 with log Q(a) - log Q(x) = drop, by Newton from the right."""
    step = jnp.minimum(drop / special.normal_hazard(-a), 2 * drop / (a + jnp.sqrt(a * a + 2 * drop)))

    def body(_: Any, x: Array) -> Array:
        return jnp.maximum(x - (_log_tail_fall(a, x) - drop) / special.normal_hazard(-x), a)

    return jax.lax.fori_loop(0, 8, body, a + jnp.where(drop > 0, step, 0))
