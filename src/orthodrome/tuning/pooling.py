"""Averages over chains and devices whose last bit does not depend on how the devices are connected.

An all-reduce adds the numbers of three or more devices in the order of its transport, which is one between the devices
of a process and another between processes. So the means of the devices are gathered and added in the order of the
devices: a warm-up on four processes learns what it learns on one process with four devices, bit for bit.
"""

from __future__ import annotations

from typing import Any, TypeVar

import jax
import jax.numpy as jnp
from jax import Array
from jax.flatten_util import ravel_pytree

T = TypeVar("T")


def pooled_mean(tree: T, pool: tuple[str, ...], mapped: str = "chains") -> T:
    """Return the means over the axes of a pool: the mapped one of the chains of a device, and axes of devices.

    tree: an array or a tree of them, which crosses as one: devices wait for each other once
    """
    for axis in pool:
        tree = jax.lax.pmean(tree, axis) if axis == mapped else _in_order(tree, axis)
    return tree


def averaged_where(which: Any, tree: T, axes: tuple[str, ...]) -> T:
    """Return a tree with those of its parts averaged over devices that `which` has, where the others are None."""
    averaged: T = jax.tree.map(
        lambda new, old: old if new is None else new, pooled_mean(which, axes), tree, is_leaf=lambda x: x is None
    )
    return averaged


def _in_order(tree: T, axis: str) -> T:
    flat, unravel = ravel_pytree(tree)
    every = jax.lax.all_gather(flat, axis)
    mean: Array = jax.lax.div(jnp.sum(every, axis=0, dtype=every.dtype), jnp.asarray(every.shape[0], every.dtype))
    averaged: T = unravel(mean)
    return averaged
