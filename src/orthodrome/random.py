"""Exact draws, all elements at once: Gamma, Poisson, noncentral chi-square, frames, von Mises-Fisher.

Library generators run one rejection loop per element, which a vector machine executes at the pace of the unluckiest.
Here a rejection loop runs over the whole batch; after the first round only what was refused is gathered and tried again
(`retry`). Where all elements share one law the accepted proposals of each round are simply lined up (`stream`): n draws
at acceptance rate a cost n / a proposals. Both stop when all is filled, so the draws are exact. Each round calls the
generator once for all its uniforms: every further call would be compiled again.

Gamma draws come as logarithms: below shape 1, log G(s) = log G(s + 1) + log(U) / s is finite where G(s) underflows.
Marsaglia & Tsang (2000) for Gamma; Hormann (1993) for Poisson; Ulrich (1984) and Wood (1994) for von Mises-Fisher, with
the logs of their acceptance tests rearranged so that no large terms cancel.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jax import Array
from jax.scipy.special import erfinv, gammaln

_SMALL_RATE = 10.0


def retry(key: Array, attempt: Callable[..., tuple[Array, Array]], *parameters: Array) -> Array:
    """Draws of `attempt(key, *parameters) -> (value, accepted)`, one for each element of the parameters."""
    shape = parameters[0].shape
    flat = [p.reshape(-1) for p in parameters]
    size, few = flat[0].size, flat[0].size // 8 + 16
    first, key = jax.random.split(key)

    def body(carry: tuple[Array, Array, Array]) -> tuple[Array, Array, Array]:
        now, later = jax.random.split(carry[0])
        missing = jnp.nonzero(~carry[2], size=few, fill_value=size)[0]
        redrawn, good = attempt(now, *(p[jnp.minimum(missing, size - 1)] for p in flat))
        where = jnp.where(good, missing, size)
        return later, carry[1].at[where].set(redrawn, mode="drop"), carry[2].at[where].set(True, mode="drop")

    state = (key, *attempt(first, *flat))
    return jax.lax.while_loop(lambda carry: ~jnp.all(carry[2]), body, state)[1].reshape(shape)


def stream(key: Array, propose: Callable[[Array, int], tuple[Array, Array]], count: int) -> Array:
    """`count` accepted draws of `propose(key, n) -> (n values, n log acceptance probabilities)`."""
    batch = max(count, 16)
    like = jax.eval_shape(lambda k: propose(k, batch)[0], key)

    def body(carry: tuple[Array, Array, Array]) -> tuple[Array, Array, Array]:
        later, now, coin = jax.random.split(carry[0], 3)
        values, log_accept = propose(now, batch)
        accepted = jnp.log(positive_uniform(coin, (batch,), log_accept.dtype)) < log_accept
        slots = jnp.where(accepted, carry[1] + jnp.cumsum(accepted) - 1, count)
        return later, carry[1] + jnp.sum(accepted), carry[2].at[slots].set(values, mode="drop")

    state = (key, jnp.sum(jnp.zeros((0,), bool)), jnp.zeros((count, *like.shape[1:]), like.dtype))
    return jax.lax.while_loop(lambda carry: carry[1] < count, body, state)[2]


def positive_uniform(key: Array, shape: tuple[int, ...], dtype: Any) -> Array:
    """Uniform on (0, 1], so that its logarithm is finite."""
    return 1 - jax.random.uniform(key, shape, dtype)


def log_gamma(key: Array, concentration: Array) -> Array:
    """The logs of Gamma(concentration, 1) draws, one for each element."""
    tried, boosted = jax.random.split(key)
    low = concentration < 1
    d = jnp.where(low, concentration + 1, concentration) - 1 / 3
    s = retry(tried, _try_gamma, d)
    boost = jnp.log(positive_uniform(boosted, d.shape, d.dtype)) / concentration
    return jnp.log(d) + 3 * jnp.log1p(s) + jnp.where(low, boost, 0)


def _try_gamma(key: Array, d: Array) -> tuple[Array, Array]:
    """The draw is d (1 + s)^3 with s = normal / sqrt(9 d); log acceptance d [3 log(1 + s) - 3 s + 3 s^2 / 2 - s^3]."""
    u, coin = positive_uniform(key, (2, *d.shape), d.dtype)
    normal = math.sqrt(2) * erfinv(jnp.minimum(2 * u - 1, 1 - jnp.finfo(d.dtype).epsneg))
    s = jnp.maximum(normal / jnp.sqrt(9 * d), -1)
    near = jnp.abs(s) < 0.1
    t = jnp.where(near, s, 0)
    series = t**4 * (-3 / 4 + t * (3 / 5 + t * (-1 / 2 + t * (3 / 7 + t * (-3 / 8 + t / 3)))))
    return s, jnp.log(coin) < d * jnp.where(near, series, 3 * (jnp.log1p(s) - s + s * s / 2) - s**3)


def poisson(key: Array, rate: Array) -> Array:
    """Poisson counts in the dtype of the rate, at any rate >= 0."""
    small, large = jax.random.split(key)
    counted = _count_up(small, jnp.where(rate < _SMALL_RATE, rate, 0))
    return jnp.where(rate < _SMALL_RATE, counted, retry(large, _try_poisson, rate))


def _count_up(key: Array, rate: Array) -> Array:
    """Inversion of the distribution function, one term after the other: for small rates."""
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
    """Hormann's transformed rejection; where the rate is small the value is not used and is accepted at once."""
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
    """log of the Poisson probability; for many counts -rate h((k - rate) / rate) and Stirling: nothing cancels."""
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


def log_noncentral_chisquare(key: Array, degrees: Array, noncentrality: Array) -> Array:
    """The logs of noncentral chi-square draws, 2 Gamma(degrees / 2 + Poisson(noncentrality / 2)); any degrees > 0."""
    counts, gammas = jax.random.split(key)
    return math.log(2) + log_gamma(gammas, degrees / 2 + poisson(counts, noncentrality / 2))


def cosine_gap(key: Array, dimension: Any, concentration: Array) -> Array:
    """1 - mean'x of von Mises-Fisher draws x in R^dimension (an int, or a number under trace).

    The gap, not the cosine, keeps its digits near the mean. In one dimension it is 0 or 2."""
    if not isinstance(dimension, int) or dimension != 3:
        d = jnp.asarray(dimension, concentration.dtype)
        return retry(key, lambda k, kappa: _try_cosine_gap(k, d, kappa), concentration)
    u = jax.random.uniform(key, concentration.shape, concentration.dtype)
    kappa = jnp.maximum(concentration, jnp.finfo(concentration.dtype).eps)
    return jnp.clip(-jnp.log1p(u * jnp.expm1(-2 * kappa)) / kappa, 0, 2)


def _try_cosine_gap(key: Array, dimension: Array, concentration: Array) -> tuple[Array, Array]:
    """Ulrich's envelope: tan^2(angle / 2) = b y with y the odds of a symmetric Beta variable.

    The log acceptance is (d - 1)(log(1 + R) - R); the Beta variable is (1 + cos(2 pi V) sqrt(1 - U^(2 / (d - 2)))) / 2.
    """
    power, turn, coin = positive_uniform(key, (3, *concentration.shape), concentration.dtype)
    tiny = jnp.finfo(concentration.dtype).tiny
    m = dimension - 1
    b = m / jnp.maximum(2 * concentration + jnp.sqrt(4 * concentration**2 + m * m), tiny)
    rest = jnp.exp(2 * jnp.log(power) / jnp.maximum(dimension - 2, 1e-30))  # zero in two dimensions
    root = jnp.sqrt(-jnp.expm1(2 * jnp.log(power) / jnp.maximum(dimension - 2, 1e-30)))
    plus, minus = (rest / (1 + root) + 2 * root * f(math.pi * turn) ** 2 for f in (jnp.cos, jnp.sin))
    below = minus + b * plus
    excess = (plus - minus) / 2 * (1 - b) / below
    on_a_line = 2 * (turn < jax.nn.sigmoid(-2 * concentration)).astype(m.dtype)
    accepted = (jnp.log(coin) < m * (jnp.log1p(excess) - excess)) | (dimension < 2)
    return jnp.where(dimension < 2, on_a_line, 2 * b * plus / below), accepted


def step_from(mean: Array, gap: Array, tangent: Array) -> Array:
    """The unit vector with 1 - mean'x = gap in the direction of a unit vector orthogonal to the mean."""
    return unit(mean * (1 - gap)[..., None] + tangent * jnp.sqrt(gap * (2 - gap))[..., None])


def unit(v: Array) -> Array:
    """v at length one."""
    return v / jnp.maximum(jnp.sqrt(jnp.sum(v**2, axis=-1, keepdims=True)), jnp.finfo(v.dtype).tiny)


def unit_off(v: Array, frame: Array) -> Array:
    """The direction of v without its part in the frame (columns); the second pass removes what the first one's rounding
    left, which matters where v lies nearly in the frame."""
    for _ in range(2):
        v = unit(v - jnp.einsum("...nk,...k->...n", frame, jnp.einsum("...nk,...n->...k", frame, v)))
    return v


def von_mises_fisher(key: Array, mean: Array, concentration: Array) -> Array:
    """One draw for each mean direction (last axis) and concentration (one axis less)."""
    radial, direction = jax.random.split(key)
    tangent = unit_off(jax.random.normal(direction, mean.shape, mean.dtype), mean[..., None])
    return step_from(mean, cosine_gap(radial, mean.shape[-1], concentration), tangent)


def frame(key: Array, shape: tuple[int, ...], dtype: Any) -> Array:
    """Uniform (Haar) n x p matrices with orthonormal columns; the last two axes of the shape are n and p."""
    return orthonormal(jax.random.normal(key, shape, dtype))


def orthonormal(z: Array) -> Array:
    """The orthonormal factor of z = QR with a positive diagonal in R, without which QR of normals is not Haar."""
    q, r = jnp.linalg.qr(z)
    return q * jnp.where(jnp.diagonal(r, axis1=-2, axis2=-1) < 0, -1, 1).astype(z.dtype)[..., None, :]
