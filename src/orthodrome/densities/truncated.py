"""Normal laws restricted to boxes, half-spaces and balls.

**Intervals**: inversion, without cancellation however far, narrow or wide they are. On one side of the mean let a >= 0
be the nearer end, in standard units, and d >= 0 the way from it. With Q(x) = 1 - Phi(x) = phi(x) m(x), m Mills' ratio,
a draw solves

    fall(a, d) = e,    fall(a, d) = log Q(a) - log Q(a + d) = d (a + d / 2) + log[m(a) / m(a + d)]
                                  = -log(1 - M(a, d) / m(a)),    M(a, d) = int_0^d exp(-a t - t^2 / 2) dt;

the second form, M by Gauss's quadrature, keeps all digits where the first one cancels (small d). log Q is concave, so
Newton's method from the right falls monotonically on the root, and d <= 2 e / (a + sqrt(a^2 + 2 e)) because m
decreases. The draw is the nearer end plus d in the user's units: a mean far away costs no digits. An interval that
contains the mean is measured from there: Phi - 1/2 = erf(x / sqrt(2)) / 2 is uniform, and Phi itself in the tails.

**Half-spaces** are intervals along one direction, measured from their plane. **Balls**: rejection from the better of
two envelopes, the normal itself and the uniform law in the ball (bounded by the density at the ball's nearest point to
the mean).
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from jax.scipy.special import erf, erfinv

from orthodrome import random, special
from orthodrome.core.pytree import pytree
from orthodrome.densities.density import Density, RejectionDensity, spread
from orthodrome.densities.uniform import UniformBall


class Interval(NamedTuple):
    """Normal distributions restricted to intervals: the parameters, and the ends in standard units.

    near: the distance from the mean to the nearer end, for an interval on one side of the mean
    flip: whether that end is the upper one
    inside: whether the mean is inside the interval
    """

    mean: Array
    scale: Array
    lower: Array
    upper: Array
    near: Array
    flip: Array
    inside: Array


def interval(mean: Array, scale: Array, lower: Array, upper: Array) -> Interval:
    """Return an `Interval` with the fields that follow from its ends."""
    flip, inside = upper <= mean, (lower < mean) & (mean < upper)
    near = jnp.where(inside, 0, jnp.where(flip, mean - upper, lower - mean) / scale)
    return Interval(mean, scale, lower, upper, near.astype(mean.dtype), flip, inside)


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


@jax.jit
def draw_offset(key: Array, i: Interval) -> Array:
    """Draw the signed distance from the mean if it is inside, otherwise that from the nearer end, in standard units."""
    u = random.positive_uniform(key, i.near.shape, i.near.dtype)
    # 1 - Q(near + d) / Q(near) is uniform up to the far end
    drop = -jnp.log1p((1 - u) * jnp.expm1(-_log_tail_fall(i.near, (i.upper - i.lower) / i.scale)))
    a, b = ((end - i.mean) / i.scale for end in (i.lower, i.upper))
    return jnp.where(i.inside, _draw_about_mean(u, a, b), _solve_tail(i.near, drop))


def _draw_about_mean(u: Array, a: Array, b: Array) -> Array:
    """Return x with Phi(x) = (1 - u) Phi(a) + u Phi(b), for a < 0 < b."""
    middle = (1 - u) * _half_erf(a) + u * _half_erf(b)  # Phi(x) - 1/2
    close = jnp.abs(middle) < 0.25
    log_tail = jnp.minimum(_log_mixture(u, a, b), _log_mixture(1 - u, -b, -a))
    far = _solve_tail(jnp.zeros_like(a), jnp.maximum(-math.log(2) - log_tail, 0)) * jnp.sign(middle)
    return jnp.where(close, math.sqrt(2) * erfinv(jnp.where(close, 2 * middle, 0)), far)


def log_mass(i: Interval) -> Array:
    """Return the log of the integral of exp(-z^2 / 2) over each interval, relative to its nearer end if the mean is
    outside."""
    a, b = ((end - i.mean) / i.scale for end in (i.lower, i.upper))
    a, b = jnp.minimum(a, 0), jnp.maximum(b, 0)
    outside = jnp.exp(special.log_normal_cdf(a)) + jnp.exp(special.log_normal_cdf(-b))
    inside = jnp.where(i.inside, _half_erf(b) - _half_erf(a), 1)  # keeps its digits where `outside` is nearly 1
    about = jnp.where(outside < 0.5, jnp.log1p(-jnp.minimum(outside, 0.5)), jnp.log(inside)) + math.log(2 * math.pi) / 2
    fall = _log_tail_fall(i.near, (i.upper - i.lower) / i.scale)
    return jnp.where(i.inside, about, special.log_mills(i.near) + jnp.log(-jnp.expm1(-fall)))


def _half_erf(x: Array) -> Array:
    """Return Phi(x) - 1/2."""
    return erf(x / math.sqrt(2)) / 2


def _log_mixture(u: Array, a: Array, b: Array) -> Array:
    """Return log[(1 - u) Phi(a) + u Phi(b)]."""
    return jnp.logaddexp(jnp.log1p(-u) + special.log_normal_cdf(a), jnp.log(u) + special.log_normal_cdf(b))


def _log_tail_fall(a: Array, d: Array) -> Array:
    """Return log Q(a) - log Q(a + d) for a, d >= 0; infinite at d = inf."""
    exponent = d * (a + d / 2)
    near, far = exponent < 1, jnp.isinf(d)
    short = jnp.where(near, d, 0)
    small = -jnp.log1p(-_mass(a, short) / jnp.exp(special.log_mills(a)))
    d = jnp.where(far | near, 1, d)
    large = d * (a + d / 2) + special.log_mills(a) - special.log_mills(a + d)
    return jnp.where(far, jnp.inf, jnp.where(near, small, large))


def _mass(a: Array, d: Array) -> Array:
    """Return int_0^d exp(-a t - t^2 / 2) dt where the exponent stays below 1: eight Gauss points give all digits."""
    nodes, weights = np.polynomial.legendre.leggauss(8)
    t = [d * ((1 + node) / 2) for node in nodes.tolist()]
    return d * sum(w / 2 * jnp.exp(-s * (a + s / 2)) for s, w in zip(t, weights.tolist(), strict=True))


def _solve_tail(a: Array, drop: Array) -> Array:
    """Return d >= 0 with log Q(a) - log Q(a + d) = drop, by Newton's method from the right."""
    step = jnp.minimum(drop / special.normal_hazard(-a), 2 * drop / (a + jnp.sqrt(a * a + 2 * drop)))

    def body(_: Any, d: Array) -> Array:
        return jnp.maximum(d - (_log_tail_fall(a, d) - drop) / special.normal_hazard(-a - d), 0)

    return jax.lax.fori_loop(0, 8, body, jnp.where(drop > 0, step, 0))
