"""Exponential draws with full relative precision at both ends, in any dtype.

-log(1 - U) with a float32 uniform U moves in steps of 1e-7 near zero and ends at 16.6. Both matter where an exponential
is divided by a tiny shape or compared with a tiny rate. Here a fair coin chooses between (0, log 2) and (log 2, inf);
on either side the distance W of the uniform number from its end, W < 1/2, has steps of 2^-65.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
from jax import Array


def exponential(key: Array, shape: tuple[int, ...], dtype: Any) -> Array:
    """Draw independent exponential numbers of rate 1."""
    high, low = jax.random.bits(key, (2, *shape), jnp.uint32)
    below = (low >> 1).astype(dtype) * 2.0**-64 + 2.0**-66
    w = jnp.minimum(high.astype(dtype) * 2.0**-33 + below, 0.5)
    return jnp.where(low & 1 == 0, -jnp.log(w), -jnp.log1p(-w))
