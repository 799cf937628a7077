"""Chains over devices for the methods in plain JAX, NumPyro and BlackJAX: a compiled program per layout.

A layout is how many devices share the four chains: 2 (two chains each, vmapped) or 4 (one each, on two cores; chains of
different lengths then do not wait for each other).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec

NUM_CHAINS = 4


def over_chains(function: Callable[..., Any], devices: int) -> Callable[..., Any]:
    """f(chain's own arguments, shared) -> f(stacked arguments, shared), compiled, on the first `devices` devices."""
    mesh = Mesh(np.array(jax.devices()[:devices]), ("devices",))
    chains, shared = PartitionSpec("devices"), PartitionSpec()
    many = jax.vmap(function, in_axes=(0, None))
    program = jax.jit(jax.shard_map(many, mesh=mesh, in_specs=(chains, shared), out_specs=chains, check_vma=False))
    placement = NamedSharding(mesh, chains), NamedSharding(mesh, shared)
    return lambda *arguments: program(*jax.device_put(arguments, placement))


def chain_keys(seed: int, phase: int) -> jax.Array:
    """One key per chain."""
    return jax.random.split(jax.random.fold_in(jax.random.key(seed), phase), NUM_CHAINS)
