"""Link functions of binary data: log F(z) and its slope together, stable at any argument.

    probit   F = Phi:  slope phi / Phi, which is -z + 1/(-z) - ... far to the left (erratum 002-16: no overflow)
    logit    F = 1 / (1 + exp(-z)):  slope 1 - F

Both are needed at every leapfrog step for every pair of a network, so they share what they compute: as one function
with its own derivative, a gradient costs one pass.
"""

from __future__ import annotations

import math
from typing import Any

import jax
import jax.numpy as jnp
from jax import Array
from jax.scipy.special import erfc

FAR = 5.0
"""Below minus this, the tail of the normal law by a continued fraction."""
TERMS = 12


def probit(z: Array) -> tuple[Array, Array]:
    """log Phi(z) and phi(z) / Phi(z)."""
    near = jnp.maximum(z, -FAR)
    cdf = erfc(-near / math.sqrt(2)) / 2
    density = jnp.exp(-near * near / 2) / math.sqrt(2 * math.pi)
    far = jnp.maximum(-z, FAR)
    slope = far
    for k in range(TERMS, 0, -1):
        slope = far + k / slope  # phi / Phi(-a) = a + 1 / (a + 2 / (a + 3 / ...))
    left = -far * far / 2 - math.log(2 * math.pi) / 2 - jnp.log(slope)
    return jnp.where(z < -FAR, left, jnp.log(cdf)), jnp.where(z < -FAR, slope, density / cdf)


def logit(z: Array) -> tuple[Array, Array]:
    """log of the logistic function, and its slope."""
    return jax.nn.log_sigmoid(z), jax.nn.sigmoid(-z)


LINKS = {"probit": probit, "logit": logit}


def _value(link: str, z: Array) -> Array:
    return LINKS[link](z)[0]


log_cdf = jax.custom_jvp(_value, nondiff_argnums=(0,))


@log_cdf.defjvp
def _log_cdf_jvp(link: str, primals: Any, tangents: Any) -> tuple[Array, Array]:
    value, slope = LINKS[link](primals[0])
    return value, slope * tangents[0]
