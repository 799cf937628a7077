"""Exact draws, all elements at once: Gamma, Poisson, noncentral chi-square, frames, von Mises-Fisher.

Library generators run one rejection loop per element, which a vector machine executes at the pace of the unluckiest.
Here a rejection loop runs over the whole batch; after the first round only what was refused is gathered and tried again
(`retry`). Where all elements share one law the accepted proposals of each round are simply lined up (`stream`): n draws
at acceptance rate a cost n / a proposals. Both run until all is filled, so the draws are exact. Each round calls the
generator once for all its uniforms, as every further call would be compiled again.

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

SMALLEST_RATE, ENOUGH_PROPOSALS = 1e-4, 65_536
_SMALL_RATE = 10.0

Propose = Callable[[Array, int], tuple[Array, Array]]


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


def stream(key: Array, propose: Propose, count: int, least: int = 0) -> tuple[Array, Array]:
    """`count` accepted draws of `propose(key, n) -> (n values, n log acceptance probabilities)`; the mean probability.

    At least `least` proposals are made. The stream gives up, its missing draws NaN, when after 65,536 proposals the
    mean probability is below 1e-4.
    """
    batch = max(count, 64)
    like = jax.eval_shape(lambda k: propose(k, batch)[0], key)

    def more(carry: Any) -> Array:
        _, rounds, filled, rate, _ = carry
        hopeless = (rounds * batch >= ENOUGH_PROPOSALS) & (rate < SMALLEST_RATE)
        return ((filled < count) | (rounds * batch < least)) & ~hopeless

    def body(carry: Any) -> Any:
        key, rounds, filled, rate, draws = carry
        later, now, coin = jax.random.split(key, 3)
        values, log_accept = propose(now, batch)
        accepted = jnp.log(positive_uniform(coin, (batch,), log_accept.dtype)) < log_accept
        slots = jnp.where(accepted, filled + jnp.cumsum(accepted) - 1, count)
        rate = rate + (jnp.mean(jnp.exp(log_accept)) - rate) / (rounds + 1).astype(rate.dtype)
        return later, rounds + 1, filled + jnp.sum(accepted), rate, draws.at[slots].set(values, mode="drop")

    empty = jnp.full((count, *like.shape[1:]), jnp.nan, like.dtype)
    none = jnp.sum(jnp.zeros((0,), bool))
    state = (key, none, none, jnp.zeros((), like.dtype), empty)
    _, _, _, rate, draws = jax.lax.while_loop(more, body, state)
    return draws, rate


def positive_uniform(key: Array, shape: tuple[int, ...], dtype: Any) -> Array:
    """Uniform on (0, 1], so that its logarithm is finite."""
    return 1 - jax.random.uniform(key, shape, dtype)


@jax.jit
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


@jax.jit
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


@jax.jit
def log_noncentral_chisquare(key: Array, degrees: Array, noncentrality: Array) -> Array:
    """The logs of noncentral chi-square draws, 2 Gamma(degrees / 2 + Poisson(noncentrality / 2)); any degrees > 0."""
    counts, gammas = jax.random.split(key)
    return math.log(2) + log_gamma(gammas, degrees / 2 + poisson(counts, noncentrality / 2))


def cosine_gap(key: Array, dimension: Any, concentration: Array) -> Array:
    """1 - mean'x of von Mises-Fisher draws x in R^dimension (an int, or a number under trace).

    The gap, not the cosine, keeps its digits near the mean. In one dimension it is 0 or 2."""
    if isinstance(dimension, int) and dimension == 3:
        return _cosine_gap_in_space(key, concentration)
    return _cosine_gap(key, jnp.asarray(dimension, concentration.dtype), concentration)


@jax.jit
def _cosine_gap(key: Array, dimension: Array, concentration: Array) -> Array:
    return retry(key, lambda k, kappa: _try_cosine_gap(k, dimension, kappa), concentration)


@jax.jit
def _cosine_gap_in_space(key: Array, concentration: Array) -> Array:
    """In three dimensions the gap is an exponential cut at 2."""
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


@jax.jit
def von_mises_fisher(key: Array, mean: Array, concentration: Array) -> Array:
    """One draw for each mean direction (last axis) and concentration (one axis less)."""
    radial, direction = jax.random.split(key)
    tangent = unit_off(jax.random.normal(direction, mean.shape, mean.dtype), mean[..., None])
    return step_from(mean, cosine_gap(radial, mean.shape[-1], concentration), tangent)


def frame(key: Array, shape: tuple[int, ...], dtype: Any) -> Array:
    """Uniform (Haar) n x p matrices with orthonormal columns; the last two axes of the shape are n and p."""
    return orthonormal(jax.random.normal(key, shape, dtype))[0]


def orthonormal(z: Array) -> tuple[Array, Array]:
    """Q and log det R of z = QR with a positive diagonal in R, without which Q of normals would not be uniform.

    Column by column over the whole batch, not by LAPACK: its batched calls inside a compiled loop have been seen to
    wait for one another forever on a machine with two cores.
    """

    def body(carry: tuple[Array, Array], column: tuple[Array, Array]) -> tuple[tuple[Array, Array], None]:
        (q, log_det), (v, j) = carry, column
        new = unit_off(v, q)
        return (q.at[..., j].set(new), log_det + jnp.log(jnp.sum(new * v, axis=-1))), None

    start = (jnp.zeros_like(z), jnp.zeros(z.shape[:-2], z.dtype))
    return jax.lax.scan(body, start, (jnp.moveaxis(z, -1, 0), jnp.arange(z.shape[-1])))[0]


def orientation(q: Array) -> Array:
    """The determinant, 1 or -1, of orthogonal matrices: the parity of the reflections that make them the identity."""
    n = q.shape[-1]

    def body(carry: tuple[Array, Array], j: Array) -> tuple[tuple[Array, Array], None]:
        rest, sign = carry
        v = rest[..., j] - jnp.broadcast_to(jax.nn.one_hot(j, n, dtype=q.dtype), q.shape[:-1])
        size = jnp.sum(v**2, axis=-1)
        there = size < jnp.finfo(q.dtype).eps  # this column is in place: no reflection
        shift = jnp.einsum("...i,...ij->...j", v, rest) * jnp.where(there, 0, 2 / jnp.maximum(size, 1e-30))[..., None]
        return (rest - v[..., None] * shift[..., None, :], jnp.where(there, sign, -sign)), None

    return jax.lax.scan(body, (q, jnp.ones(q.shape[:-2], q.dtype)), jnp.arange(n))[0][1]
