"""Averages over chains and devices whose last bit does not depend on how the devices are connected.

An all-reduce adds the numbers of three or more devices in the order of its transport, which is one between the devices
of a process and another between processes. So the means of the devices are gathered and added in the order of the
devices: a warm-up on four processes learns what it learns on one process with four devices, bit for bit.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jax import Array


def pooled_mean(x: Array, pool: tuple[str, ...], mapped: str = "chains") -> Array:
    """Return the mean over the axes of a pool: the mapped one of the chains of a device, and axes of devices."""
    for axis in pool:
        x = jax.lax.pmean(x, axis) if axis == mapped else _in_order(x, axis)
    return x


def _in_order(x: Array, axis: str) -> Array:
    every = jax.lax.all_gather(x, axis)
    return jax.lax.div(jnp.sum(every, axis=0, dtype=every.dtype), jnp.asarray(every.shape[0], every.dtype))
