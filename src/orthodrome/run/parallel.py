"""Where chains run: the only file that knows about meshes, shardings and placement.

Chains are independent, so they are split over a mesh with one axis, "devices", and every device runs its own loop: no
device waits for another while drawing. In warm-up, `Adapted` may pool over ("chains", "devices").

A CPU is one device to JAX however many cores it has, and a loop over small arrays keeps one core busy: `use_cores(n)`
makes n devices of it. That must happen before JAX's first operation.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from orthodrome.core.machine import usable_cores
from orthodrome.errors import BadInput, OrthodromeError

AXIS = "devices"


def use_cores(n: int | None = None) -> int:
    """Let JAX see n CPU devices (all cores by default) so that chains run side by side; returns how many there are."""
    wanted = usable_cores() if n is None else n
    if wanted < 1:
        raise BadInput(f"use_cores({n}): the number of cores must be at least 1")
    try:
        jax.config.update("jax_num_cpu_devices", wanted)
    except RuntimeError as error:
        if len(jax.devices("cpu")) == wanted:
            return wanted
        raise OrthodromeError(
            f"use_cores({wanted}) came after JAX's first operation, which fixed {len(jax.devices('cpu'))} device(s); "
            "call it right after the imports (in a notebook: restart the kernel, then call it first), "
            f"or set the environment variable JAX_NUM_CPU_DEVICES={wanted} before Python starts"
        ) from error
    return wanted


def chain_mesh(num_chains: int, mesh: Mesh | None = None) -> Mesh | None:
    """Return the mesh of the chains: the most devices whose number divides that of the chains; None for one device."""
    devices = np.ravel(mesh.devices) if mesh is not None else np.asarray(jax.local_devices())
    count = max(k for k in range(1, len(devices) + 1) if num_chains % k == 0)
    return Mesh(devices[:count], (AXIS,)) if count > 1 else None


def num_devices(mesh: Mesh | None) -> int:
    """Return the number of devices of a mesh."""
    return 1 if mesh is None else mesh.size


def idle_devices(num_chains: int, mesh: Mesh | None = None) -> int:
    """Return how many devices stay idle because the number of chains is not a multiple of theirs."""
    available = len(jax.local_devices()) if mesh is None else mesh.size
    return available - num_devices(chain_mesh(num_chains, mesh))


def split_chains(function: Callable[..., Any], mesh: Mesh | None, split: tuple[bool, ...]) -> Callable[..., Any]:
    """Return a function that runs on every device with its share of the arguments marked in `split`."""
    if mesh is None:
        return function
    specs = tuple(PartitionSpec(AXIS) if each else PartitionSpec() for each in split)
    return jax.shard_map(function, mesh=mesh, in_specs=specs, out_specs=PartitionSpec(AXIS), check_vma=False)


def place_chains(tree: Any, mesh: Mesh | None) -> Any:
    """Put arrays with a leading axis of chains on the devices of the chains."""
    return jax.device_put(tree) if mesh is None else jax.device_put(tree, NamedSharding(mesh, PartitionSpec(AXIS)))


def place_copies(tree: Any, mesh: Mesh | None) -> Any:
    """Put a copy of a sampler or a key on every device."""
    return jax.device_put(tree) if mesh is None else jax.device_put(tree, NamedSharding(mesh, PartitionSpec()))


def placed_copies(tree: Any, mesh: Mesh | None) -> Any:
    """Return shapes with the sharding that `place_copies` gives to arrays."""
    if mesh is None:
        return tree
    everywhere = NamedSharding(mesh, PartitionSpec())
    return jax.tree.map(lambda leaf: leaf.update(sharding=everywhere), tree)
