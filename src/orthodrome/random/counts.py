"""Exact Gamma, Poisson, binomial and noncentral chi-square draws, one for each element of the parameters.

Gamma draws come as logarithms: below shape 1, log G(s) = log G(s + 1) + log(U) / s is finite where G(s) underflows.
Marsaglia & Tsang (2000) for Gamma; Hormann (1993) for Poisson and binomial counts; with the logs of their acceptance
tests rearranged so that no large terms cancel (for the binomial: Loader 2000).
"""

from __future__ import annotations

import math

import jax
import jax.numpy as jnp
from jax import Array
from jax.scipy.special import erfinv, gammaln

from orthodrome.random.rejection import positive_uniform, retry

_SMALL_RATE = 10.0
"""Hormann's methods hold from this mean on; below it, inversion takes some ten terms."""


@jax.jit
def log_gamma(key: Array, concentration: Array) -> Array:
    """Draw the logs of Gamma(concentration, 1) variables, one for each element.

    key: of JAX
    concentration: the shapes, above 0
    """
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
    """Draw Poisson counts in the dtype of the rate.

    key: of JAX
    rate: the means, >= 0, at any size
    """
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
    large = -_deviance(many, rate) - jnp.log(2 * math.pi * many) / 2 - 1 / (12 * many) + 1 / (360 * many**3)
    few = jnp.minimum(k, 16)
    return jnp.where(k < 16, few * jnp.log(rate) - rate - gammaln(few + 1), large)


def _deviance(k: Array, mean: Array) -> Array:
    """Return k log(k / mean) - k + mean, for k > 0, without cancellation."""
    e = (k - mean) / mean
    near = jnp.abs(e) < 0.03
    t = jnp.where(near, e, 0)
    series = t * t * (1 / 2 - t * (1 / 6 - t * (1 / 12 - t * (1 / 20 - t / 30))))
    return mean * jnp.where(near, series, (1 + e) * jnp.log1p(e) - e)


@jax.jit
def binomial(key: Array, count: Array, share: Array) -> Array:
    """Draw binomial counts in the dtype of the share.

    key: of JAX
    count: the numbers of trials, whole and up to 65,536
    share: the probabilities, from 0 to 1/2
    """
    small, large = jax.random.split(key)
    few = count * share < _SMALL_RATE
    counted = _count_successes(small, jnp.where(few, count, 0), share)
    return jnp.where(few, counted, retry(large, _try_binomial, count, share))


def _count_successes(key: Array, count: Array, share: Array) -> Array:
    """Draw binomial counts by inversion of the distribution function, term by term: for small means."""
    u, odds = jax.random.uniform(key, share.shape, share.dtype), share / (1 - share)

    def body(carry: tuple[Array, Array, Array, Array]) -> tuple[Array, Array, Array, Array]:
        k, term, total, drawn = carry
        more = term * odds * jnp.maximum(count - k, 0) / (k + 1)
        return k + 1, more, total + term, drawn + (u >= total + term).astype(u.dtype)

    def unfinished(carry: tuple[Array, Array, Array, Array]) -> Array:
        return jnp.any((u >= carry[2]) & ((carry[1] > 0) & (carry[0] < 60)))

    zero = jnp.zeros((), share.dtype)
    start = (zero, jnp.exp(count * jnp.log1p(-share)), jnp.zeros_like(share), jnp.zeros_like(share))
    return jnp.minimum(jax.lax.while_loop(unfinished, body, start)[3], count)


def _try_binomial(key: Array, count: Array, share: Array) -> tuple[Array, Array]:
    """Propose by Hormann's transformed rejection; where the mean is small the value is unused and accepted at once."""
    side, coin = positive_uniform(key, (2, *share.shape), share.dtype)
    unused = count * share < _SMALL_RATE
    n, p = jnp.where(unused, 4 * _SMALL_RATE, count), jnp.where(unused, 0.5, share)
    spread = jnp.sqrt(n * p * (1 - p))
    b = 1.15 + 2.53 * spread
    a = -0.0873 + 0.0248 * b + 0.01 * p
    u = side - 0.5
    us = jnp.maximum(0.5 - jnp.abs(u), jnp.finfo(p.dtype).eps)
    k = jnp.floor((2 * a / us + b) * u + n * p + 0.5)
    inside = (k >= 0) & (k <= n)
    log_ratio = _log_binomial(jnp.clip(k, 0, n), n, p) - _log_binomial(jnp.floor((n + 1) * p), n, p)
    hat = 1.01 * (2.83 + 5.1 / b) * spread / (a / us**2 + b)  # 1 % above Hormann's constant, for safety
    return k, (inside & (jnp.log(coin * hat) < log_ratio)) | unused


def _log_binomial(k: Array, n: Array, p: Array) -> Array:
    """Return the log binomial probability by deviances from the mean and Stirling's series (Loader 2000)."""
    error = lambda x: 1 / (12 * x) - 1 / (360 * x**3) + 1 / (1260 * x**5)
    x, y = jnp.maximum(k, 1), jnp.maximum(n - k, 1)
    inner = error(n) - error(x) - error(y) - _deviance(x, n * p) - _deviance(y, n * (1 - p))
    inner = inner + 0.5 * jnp.log(n / (2 * math.pi * x * y))
    return jnp.where(k < 1, n * jnp.log1p(-p), jnp.where(k > n - 1, n * jnp.log(p), inner))


@jax.jit
def log_noncentral_chisquare(key: Array, degrees: Array, noncentrality: Array) -> Array:
    """Draw the logs of noncentral chi-square variables, 2 Gamma(degrees / 2 + Poisson(noncentrality / 2)).

    key: of JAX
    degrees: the degrees of freedom, above 0
    noncentrality: the noncentrality parameters, >= 0
    """
    counts, gammas = jax.random.split(key)
    return math.log(2) + log_gamma(gammas, degrees / 2 + poisson(counts, noncentrality / 2))
