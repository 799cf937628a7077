"""Exact Gamma, Poisson and noncentral chi-square draws, one for each element of the parameters.

Gamma draws come as logarithms: below shape 1, log G(s) = log G(s + 1) + log(U) / s is finite where G(s) underflows.
Marsaglia & Tsang (2000) for Gamma; Hormann (1993) for Poisson; with the logs of their acceptance tests rearranged so
that no large terms cancel.
"""

from __future__ import annotations

import math

import jax
import jax.numpy as jnp
from jax import Array
from jax.scipy.special import erfinv, gammaln

from orthodrome.random.rejection import positive_uniform, retry

_SMALL_RATE = 10.0
"""Hormann's method holds from this rate on; below it, inversion takes some ten terms."""


@jax.jit
def log_gamma(key: Array, concentration: Array) -> Array:
    """Draw the logs of Gamma(concentration, 1) variables, one for each element."""
    tried, boosted = jax.random.split(key)
    low = concentration < 1
    d = jnp.where(low, concentration + 1, concentration) - 1 / 3
    s = retry(tried, _try_gamma, d)
    boost = jnp.log(positive_uniform(boosted, d.shape, d.dtype)) / concentration
    return jnp.log(d) + 3 * jnp.log1p(s) + jnp.where(low, boost, 0)


def _try_gamma(key: Array, d: Array) -> tuple[Array, Array]:
    """Propose s of the draw d (1 + s)^3, s = normal / sqrt(9 d); return it and whether it is accepted.

    The log acceptance probability is d [3 log(1 + s) - 3 s + 3 s^2 / 2 - s^3].
    """
    u, coin = positive_uniform(key, (2, *d.shape), d.dtype)
    normal = math.sqrt(2) * erfinv(jnp.minimum(2 * u - 1, 1 - jnp.finfo(d.dtype).epsneg))
    s = jnp.maximum(normal / jnp.sqrt(9 * d), -1)
    near = jnp.abs(s) < 0.1
    t = jnp.where(near, s, 0)
    series = t**4 * (-3 / 4 + t * (3 / 5 + t * (-1 / 2 + t * (3 / 7 + t * (-3 / 8 + t / 3)))))
    return s, jnp.log(coin) < d * jnp.where(near, series, 3 * (jnp.log1p(s) - s + s * s / 2) - s**3)


@jax.jit
def poisson(key: Array, rate: Array) -> Array:
    """Draw Poisson counts in the dtype of the rate, at any rate >= 0."""
    small, large = jax.random.split(key)
    counted = _count_up(small, jnp.where(rate < _SMALL_RATE, rate, 0))
    return jnp.where(rate < _SMALL_RATE, counted, retry(large, _try_poisson, rate))


def _count_up(key: Array, rate: Array) -> Array:
    """Draw Poisson counts by inversion of the distribution function, term by term: for small rates."""
    u = jax.random.uniform(key, rate.shape, rate.dtype)

    def body(carry: tuple[Array, Array, Array, Array]) -> tuple[Array, Array, Array, Array]:
        k, term, total, count = carry
        return k + 1, term * rate / (k + 1), total + term, count + (u >= total + term).astype(u.dtype)

    def more(carry: tuple[Array, Array, Array, Array]) -> Array:
        return jnp.any((u >= carry[2]) & ((carry[1] > 0) & (carry[0] < 60)))

    zero = jnp.zeros((), rate.dtype)
    start = (zero, jnp.exp(-rate), jnp.zeros_like(rate), jnp.zeros_like(rate))
    return jax.lax.while_loop(more, body, start)[3]


def _try_poisson(key: Array, rate: Array) -> tuple[Array, Array]:
    """Propose by Hormann's transformed rejection; where the rate is small the value is unused and accepted at once."""
    side, coin = positive_uniform(key, (2, *rate.shape), rate.dtype)
    lam = jnp.maximum(rate, _SMALL_RATE)
    b = 0.931 + 2.53 * jnp.sqrt(lam)
    a = 0.02483 * b - 0.059
    u = side - 0.5
    us = jnp.maximum(0.5 - jnp.abs(u), jnp.finfo(lam.dtype).eps)
    k = jnp.floor((2 * a / us + b) * u + lam + 0.43)
    # 1 % above Hormann's constant, which at rates near 10 and 30 is exceeded by half a per cent
    log_hat = jnp.log(1.01 * (1.1239 + 1.1328 / (b - 3.4)) / (a / us**2 + b))
    accepted = (k >= 0) & (jnp.log(coin) < _log_poisson(jnp.maximum(k, 0), lam) - log_hat)
    return k, accepted | (rate < _SMALL_RATE)


def _log_poisson(k: Array, rate: Array) -> Array:
    """Return the log Poisson probability; at large k -rate h((k - rate) / rate) and Stirling, so nothing cancels."""
    many = jnp.maximum(k, 16)
    e = (many - rate) / rate
    near = jnp.abs(e) < 0.03
    t = jnp.where(near, e, 0)
    h = jnp.where(
        near, t * t * (1 / 2 - t * (1 / 6 - t * (1 / 12 - t * (1 / 20 - t / 30)))), (1 + e) * jnp.log1p(e) - e
    )
    large = -rate * h - jnp.log(2 * math.pi * many) / 2 - 1 / (12 * many) + 1 / (360 * many**3)
    few = jnp.minimum(k, 16)
    return jnp.where(k < 16, few * jnp.log(rate) - rate - gammaln(few + 1), large)


@jax.jit
def log_noncentral_chisquare(key: Array, degrees: Array, noncentrality: Array) -> Array:
    """Draw the logs of noncentral chi-square variables, 2 Gamma(degrees / 2 + Poisson(noncentrality / 2))."""
    counts, gammas = jax.random.split(key)
    return math.log(2) + log_gamma(gammas, degrees / 2 + poisson(counts, noncentrality / 2))
