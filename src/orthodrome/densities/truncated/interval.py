"""Normal distributions restricted to intervals: draws and masses.

Draws are by inversion, without cancellation however far, narrow or wide the intervals are. On one side of the mean let
a >= 0 be the nearer end, in standard units, and d >= 0 the way from it. With Q(x) = 1 - Phi(x) = phi(x) m(x), m Mills'
ratio, a draw solves

    fall(a, d) = e,    fall(a, d) = log Q(a) - log Q(a + d) = d (a + d / 2) + log[m(a) / m(a + d)]
                                  = -log(1 - M(a, d) / m(a)),    M(a, d) = int_0^d exp(-a t - t^2 / 2) dt;

the second form, M by Gauss's quadrature, keeps all digits where the first one cancels (small d). log Q is concave, so
Newton's method from the right falls monotonically on the root, and d <= 2 e / (a + sqrt(a^2 + 2 e)) because m
decreases. The draw is the nearer end plus d in the user's units: a mean far away costs no digits. An interval that
contains the mean is measured from there: Phi - 1/2 = erf(x / sqrt(2)) / 2 is uniform, and Phi itself in the tails.
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
