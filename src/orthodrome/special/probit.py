"""The normal distribution function and its slope, in logs, stable at any argument.

On the far left 1 - Phi(a) = phi(a) / (a + 1 / (a + 2 / (a + 3 / (a + ..)))) (Laplace's continued fraction).
"""

from __future__ import annotations

import math
from typing import Any

import jax
import jax.numpy as jnp
from jax import Array
from jax.scipy.special import erfc

_FAR, _FRACTIONS = 3.0, 60


def _mills_tail(a: Array) -> Array:
    """Return 1 / (a + 2 / (a + 3 / (a + ..))) for a >= 3: the inverse Mills ratio minus a (Laplace's fraction)."""
    a = jnp.maximum(a, _FAR)
    return 1 / jax.lax.fori_loop(0, _FRACTIONS, lambda i, tail: a + (_FRACTIONS + 1 - i).astype(a.dtype) / tail, a)


def log_mills(a: Array) -> Array:
    """Return the log Mills ratio, log[(1 - Phi(a)) / phi(a)], for a >= 0."""
    near = jnp.minimum(a, _FAR)
    return jnp.where(
        a > _FAR,
        -jnp.log(a + _mills_tail(a)),
        jnp.log(erfc(near / math.sqrt(2)) * math.sqrt(math.pi / 2)) + near**2 / 2,
    )


def _hazard_excess(x: Array) -> Array:
    """Return phi(x) / Phi(x) + x, which is small far on the left."""
    near = jnp.maximum(x, -_FAR)
    density = jnp.exp(-near * near / 2) / math.sqrt(2 * math.pi)
    return jnp.where(x < -_FAR, _mills_tail(-x), near + density / (erfc(-near / math.sqrt(2)) / 2))


@jax.custom_jvp
def normal_hazard(x: Array) -> Array:
    """Return phi(x) / Phi(x), the derivative of `log_normal_cdf`, at any argument."""
    far = jnp.where(x < -_FAR, -x + _hazard_excess(x), 0)
    near = jnp.maximum(x, -_FAR)
    return jnp.where(
        x < -_FAR, far, jnp.exp(-near * near / 2) / math.sqrt(2 * math.pi) / (erfc(-near / math.sqrt(2)) / 2)
    )


@jax.custom_jvp
def log_normal_cdf(x: Array) -> Array:
    """Return log Phi(x), the log probability of a standard normal below x, at any argument."""
    left = -x * x / 2 - math.log(2 * math.pi) / 2 + log_mills(jnp.abs(x))
    return jnp.where(x < 0, left, jnp.log1p(-erfc(jnp.maximum(x, 0) / math.sqrt(2)) / 2))


@normal_hazard.defjvp
def _normal_hazard_jvp(primals: Any, tangents: Any) -> tuple[Array, Array]:
    hazard = normal_hazard(primals[0])
    return hazard, -hazard * _hazard_excess(primals[0]) * tangents[0]


@log_normal_cdf.defjvp
def _log_normal_cdf_jvp(primals: Any, tangents: Any) -> tuple[Array, Array]:
    return log_normal_cdf(primals[0]), normal_hazard(primals[0]) * tangents[0]
