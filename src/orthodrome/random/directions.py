"""Unit vectors: von Mises-Fisher draws (Ulrich 1984, Wood 1994), and the algebra around a mean direction.

The draw is found through its gap 1 - mean'x, not its cosine, which would lose its digits near the mean.
"""

from __future__ import annotations

import math
from typing import Any

import jax
import jax.numpy as jnp
from jax import Array

from orthodrome.random.rejection import positive_uniform, retry


def cosine_gap(key: Array, dimension: Any, concentration: Array) -> Array:
    """Draw 1 - mean'x for von Mises-Fisher x in R^dimension.

    The gap, not the cosine, keeps its digits near the mean. In one dimension it is 0 or 2.

    key: of JAX
    dimension: an int, or a traced number
    concentration: kappa, one draw for each element
    """
    if isinstance(dimension, int) and dimension == 3:
        return _cosine_gap_in_space(key, concentration)
    return _cosine_gap(key, jnp.asarray(dimension, concentration.dtype), concentration)


@jax.jit
def _cosine_gap(key: Array, dimension: Array, concentration: Array) -> Array:
    return retry(key, lambda k, kappa: _try_cosine_gap(k, dimension, kappa), concentration)


@jax.jit
def _cosine_gap_in_space(key: Array, concentration: Array) -> Array:
    """Draw the gap in three dimensions, where it is an exponential variable truncated at 2."""
    u = jax.random.uniform(key, concentration.shape, concentration.dtype)
    kappa = jnp.maximum(concentration, jnp.finfo(concentration.dtype).eps)
    return jnp.clip(-jnp.log1p(u * jnp.expm1(-2 * kappa)) / kappa, 0, 2)


def _try_cosine_gap(key: Array, dimension: Array, concentration: Array) -> tuple[Array, Array]:
    """Propose by Ulrich's envelope; return the gap and whether it is accepted.

    tan^2(angle / 2) = b y, with y the odds of a symmetric Beta variable.

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
    """Return the unit vector x with 1 - mean'x = gap, towards a unit vector `tangent` orthogonal to the mean."""
    return unit(mean * (1 - gap)[..., None] + tangent * jnp.sqrt(gap * (2 - gap))[..., None])


def unit(v: Array) -> Array:
    """Return v scaled to length one."""
    return v / jnp.maximum(jnp.sqrt(jnp.sum(v**2, axis=-1, keepdims=True)), jnp.finfo(v.dtype).tiny)


def unit_off(v: Array, frame: Array) -> Array:
    """Return the direction of v without its component in the frame (orthonormal columns).

    A second pass removes what the rounding of the first one left, which matters where v lies nearly in the frame.
    """
    for _ in range(2):
        v = unit(v - jnp.einsum("...nk,...k->...n", frame, jnp.einsum("...nk,...n->...k", frame, v)))
    return v


@jax.jit
def von_mises_fisher(key: Array, mean: Array, concentration: Array) -> Array:
    """Draw von Mises-Fisher vectors.

    key: of JAX
    mean: unit vectors along the last axis, one draw for each
    concentration: kappa, one number for each mean
    """
    radial, direction = jax.random.split(key)
    tangent = unit_off(jax.random.normal(direction, mean.shape, mean.dtype), mean[..., None])
    return step_from(mean, cosine_gap(radial, mean.shape[-1], concentration), tangent)
