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

from orthodrome.special.erfcx import erfcx


def probit(z: Array) -> tuple[Array, Array]:
    """Return log Phi(z) and phi(z) / Phi(z); with a = |z| / sqrt(2), Phi(-|z|) = exp(-a^2) erfcx(a) / 2."""
    left, square = z < 0, z * z / 2
    mills, density = erfcx(jnp.abs(z) / math.sqrt(2)) / 2, jnp.exp(-square)
    cdf = jnp.where(left, mills, 1 - density * mills)  # without its factor exp(-z^2 / 2) on the left
    value = jnp.log(cdf) - jnp.where(left, square, 0)
    return value, jnp.where(left, 1, density) / (math.sqrt(2 * math.pi) * cdf)


def logit(z: Array) -> tuple[Array, Array]:
    """Return the log of the logistic function, and its slope."""
    return jax.nn.log_sigmoid(z), jax.nn.sigmoid(-z)


LINKS = {"probit": probit, "logit": logit}


def _value(link: str, z: Array) -> Array:
    return LINKS[link](z)[0]


log_cdf = jax.custom_jvp(_value, nondiff_argnums=(0,))


@log_cdf.defjvp
def _log_cdf_jvp(link: str, primals: Any, tangents: Any) -> tuple[Array, Array]:
    value, slope = LINKS[link](primals[0])
    return value, slope * tangents[0]
