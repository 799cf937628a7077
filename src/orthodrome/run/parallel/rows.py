"""One posterior over many devices: the rows of its data are spread, and sums over rows cross once per estimate.

`spread_rows` puts equal parts of the rows on all devices of all processes. A run whose sampler holds such data steps
the same chains on every device; each sums over its own rows, and the log densities and gradients of all chains cross
together (`parallel.posterior`), however many rows there are. A minibatch is drawn from the rows of all devices alike,
and its rows are brought together in one exchange.

With `chains=g` the devices form g groups, each of which has all rows and steps every g-th part of the chains: the mesh
has the axes groups x rows, and a sum over rows crosses within a group.
"""

from __future__ import annotations

from typing import Any

import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from orthodrome.errors import BadInput
from orthodrome.run.parallel.hosts import this_process

ROWS, GROUPS = "rows", "groups"
"""The axes of the mesh over which rows are spread, and over which chains are, if both are."""


def spread_rows(data: Any, own: bool = False, chains: int = 1) -> Any:
    """Spread rows of data over all devices of all processes, for a `Posterior` that is too large or too slow for one.

    data: an array, or a tree of arrays that share their first axis; of a memory-mapped one each process reads its part
    own: whether each process passes its own rows only, as many as every other; otherwise all pass the same data
    chains: the number of groups of devices, each with all rows and with its part of the chains; it must divide the
        numbers of devices and of chains. 1: all devices step all chains
    returns: the data as JAX arrays, to be given to `Posterior(..., data)`; their number of rows is that of all
    """
    devices = sorted(jax.devices(), key=lambda device: (device.process_index, device.id))
    if chains < 1 or len(devices) % chains or (own and chains > 1):
        raise BadInput(
            f"spread_rows(chains={chains}): the number of groups must divide that of the devices, {len(devices)}"
            + ("; with own=True the rows of a process belong to one group only: pass all rows" * own)
        )
    groups = np.array(devices).reshape(chains, -1)
    mesh = Mesh(groups, (GROUPS, ROWS)) if chains > 1 else Mesh(groups[0], (ROWS,))
    sharding = NamedSharding(mesh, PartitionSpec(ROWS))
    leaves = jax.tree.leaves(data)
    lengths = sorted({np.shape(leaf)[0] if np.ndim(leaf) else 0 for leaf in leaves})
    parts = groups.shape[1] // (this_process().processes if own else 1)
    if len(lengths) != 1 or lengths[0] == 0 or lengths[0] % parts:
        raise BadInput(
            f"spread_rows: the arrays have {', '.join(map(str, lengths)) or 'no'} rows; they must all have the same "
            f"number, a multiple of {parts} (devices that share them): leave out the last few"
        )
    if own:
        return jax.tree.map(lambda leaf: jax.make_array_from_process_local_data(sharding, np.asarray(leaf)), data)
    return jax.tree.map(lambda leaf: _spread(leaf, sharding), data)


def rows_mesh(tree: Any) -> Mesh | None:
    """Return the mesh over which rows of data in a tree are spread, or None if none are."""
    meshes = [leaf.sharding.mesh for leaf in jax.tree.leaves(tree) if is_spread(leaf)]
    return next((mesh for mesh in meshes if ROWS in mesh.axis_names), None)


def is_spread(leaf: Any) -> bool:
    """Return whether an array has different parts on different devices."""
    return isinstance(leaf, jax.Array) and not isinstance(leaf, jax.core.Tracer) and not leaf.is_fully_replicated


def _spread(leaf: Any, sharding: NamedSharding) -> jax.Array:
    values = leaf if isinstance(leaf, np.ndarray) else np.asarray(leaf)
    return jax.make_array_from_callback(values.shape, sharding, lambda index: np.asarray(values[index]))
