"""Where chains run: meshes, shardings and placement.

Chains are independent, so they are split over a mesh with one axis, "devices", and every device runs its own loop: no
device waits for another while drawing. In warm-up, `Adapted` may pool over ("chains", "devices").

Over several processes the mesh has as many devices of each, those of the first process first, so every process has an
equal and contiguous part of the chains: its own. Each process places its own part and reads its own part; nothing
crosses.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from orthodrome.errors import BadInput
from orthodrome.run.parallel.hosts import this_process
from orthodrome.run.parallel.rows import GROUPS, is_spread

AXIS = "devices"


def chain_mesh(num_chains: int, mesh: Mesh | None = None) -> Mesh | None:
    """Return the mesh of the chains: the most devices whose number divides that of the chains; None for one device."""
    rows = _by_process(np.ravel(mesh.devices) if mesh is not None else np.asarray(jax.devices()))
    count = max((k for k in range(1, len(rows[0]) + 1) if num_chains % (k * len(rows)) == 0), default=0)
    if count == 0:
        raise BadInput(
            f"{num_chains} chains cannot be spread evenly over {len(rows)} processes; take a multiple of {len(rows)}"
        )
    devices = np.array([row[:count] for row in rows]).ravel()
    return Mesh(devices, (AXIS,)) if len(devices) > 1 else None


def _by_process(devices: np.ndarray) -> list[list[Any]]:
    """Return the devices of each process, as many of each."""
    rows: dict[int, list[Any]] = {number: [] for number in range(this_process().processes)}
    for device in devices:
        rows[device.process_index].append(device)
    least = min(len(row) for row in rows.values())
    if least == 0:
        raise BadInput(f"the mesh has no device of process {min(n for n, row in rows.items() if not row)}")
    return [rows[number][:least] for number in sorted(rows)]


def num_devices(mesh: Mesh | None) -> int:
    """Return the number of devices of a mesh."""
    return 1 if mesh is None else mesh.size


def idle_devices(num_chains: int, mesh: Mesh | None = None) -> int:
    """Return how many devices stay idle because the number of chains is not a multiple of theirs."""
    available = jax.device_count() if mesh is None else mesh.size
    return available - num_devices(chain_mesh(num_chains, mesh))


def own_chains(num_chains: int) -> range:
    """Return the numbers of the chains that this process runs."""
    hosts = this_process()
    if num_chains % hosts.processes:
        raise BadInput(
            f"{num_chains} chains cannot be spread evenly over {hosts.processes} processes; take a multiple of "
            f"{hosts.processes}"
        )
    each = num_chains // hosts.processes
    return range(hosts.process * each, (hosts.process + 1) * each)


def split_chains(function: Callable[..., Any], mesh: Mesh | None, split: tuple[bool, ...]) -> Callable[..., Any]:
    """Return a function that runs on every device with its share of the arguments marked in `split`."""
    if mesh is None:
        return function
    specs = tuple(PartitionSpec(AXIS) if each else PartitionSpec() for each in split)
    return jax.shard_map(function, mesh=mesh, in_specs=specs, out_specs=PartitionSpec(AXIS), check_vma=False)


def place_chains(tree: Any, mesh: Mesh | None) -> Any:
    """Put arrays with a leading axis of all chains on the devices of the chains."""
    if alone(mesh):
        return jax.device_put(tree) if mesh is None else jax.device_put(tree, NamedSharding(mesh, PartitionSpec(AXIS)))
    sharding = NamedSharding(mesh, PartitionSpec(AXIS))  # type: ignore[arg-type]
    return jax.tree.map(lambda leaf: _from_whole(leaf, sharding), tree)


def join_chains(tree: Any, mesh: Mesh | None) -> Any:
    """Put arrays with a leading axis of this process's own chains on the devices of the chains."""
    if alone(mesh):
        return place_chains(tree, mesh)
    sharding = NamedSharding(mesh, PartitionSpec(AXIS))  # type: ignore[arg-type]
    return jax.tree.map(lambda leaf: jax.make_array_from_process_local_data(sharding, np.asarray(leaf)), tree)


def place_copies(tree: Any, mesh: Mesh | None) -> Any:
    """Put a copy of a sampler or a key on every device; rows that are spread stay where they are."""
    if mesh is None:
        return jax.device_put(tree)
    sharding = NamedSharding(mesh, PartitionSpec())
    put = jax.device_put if alone(mesh) else _copy
    return jax.tree.map(lambda leaf: leaf if is_spread(leaf) else put(leaf, sharding), tree)


def place_groups(tree: Any, mesh: Mesh) -> Any:
    """Put arrays with a leading axis of all chains where rows are spread: a part on each group of devices, or all."""
    if GROUPS not in mesh.axis_names:
        return place_copies(tree, mesh)
    sharding = NamedSharding(mesh, PartitionSpec(GROUPS))
    chains = len(jax.tree.leaves(tree)[0])
    if chains % mesh.shape[GROUPS]:
        raise BadInput(
            f"{chains} chains cannot be spread evenly over the {mesh.shape[GROUPS]} groups of devices of spread_rows("
            f"..., chains={mesh.shape[GROUPS]}); take a multiple"
        )
    put = jax.device_put if alone(mesh) else _from_whole
    return jax.tree.map(lambda leaf: put(leaf, sharding), tree)


def placed_copies(tree: Any, mesh: Mesh | None) -> Any:
    """Return shapes with the sharding that `place_copies` gives to arrays, on devices of this process alone; arrays
    among them are placed already."""
    if mesh is None:
        return tree
    everywhere = NamedSharding(mesh, PartitionSpec())
    return jax.tree.map(
        lambda leaf: leaf.update(sharding=everywhere) if isinstance(leaf, jax.ShapeDtypeStruct) else leaf, tree
    )


def own_part(tree: Any) -> Any:
    """Return the part of arrays (chain, ...) that belongs to this process's own chains, as NumPy arrays."""
    return jax.tree.map(_own, tree)


def whole(tree: Any) -> Any:
    """Return arrays that are spread over processes as whole NumPy arrays, on all processes."""
    return jax.tree.map(_whole, tree)


def alone(mesh: Mesh | None) -> bool:
    """Return whether all devices of a mesh belong to this process."""
    return mesh is None or all(device.process_index == this_process().process for device in np.ravel(mesh.devices))


def _own(leaf: Any) -> np.ndarray:
    if not isinstance(leaf, jax.Array) or leaf.is_fully_addressable:
        return np.asarray(leaf)
    if leaf.is_fully_replicated:
        return np.asarray(leaf.addressable_data(0))
    parts = sorted(leaf.addressable_shards, key=lambda part: part.index[0].start or 0)
    return np.concatenate([np.asarray(part.data) for part in parts])


def _whole(leaf: Any) -> np.ndarray:
    if not isinstance(leaf, jax.Array) or leaf.is_fully_addressable or leaf.is_fully_replicated:
        return np.array(_own(leaf))
    everywhere = NamedSharding(leaf.sharding.mesh, PartitionSpec())  # type: ignore[attr-defined]
    return np.array(_own(jax.jit(lambda values: values, out_shardings=everywhere)(leaf)))


def _from_whole(leaf: Any, sharding: NamedSharding) -> jax.Array:
    """Return a spread array from one that every process has whole, of which it uses its own part."""
    values = _own(leaf)
    return jax.make_array_from_callback(values.shape, sharding, lambda index: values[index])


def _copy(leaf: Any, sharding: NamedSharding) -> Any:
    if isinstance(leaf, jax.Array) and jax.dtypes.issubdtype(leaf.dtype, jax.dtypes.prng_key):
        words = _from_whole(jax.random.key_data(leaf), sharding)
        return jax.random.wrap_key_data(words, impl=jax.random.key_impl(leaf))
    if isinstance(leaf, bool | int | float | complex):
        return leaf  # as an array it would lose that it has no dtype of its own
    if isinstance(leaf, jax.Array) and leaf.weak_type:
        return leaf.item() if leaf.ndim == 0 else _from_whole(leaf, sharding)
    return _from_whole(leaf, sharding)
