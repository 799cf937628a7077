"""One posterior over many devices: the rows of its data are spread, and sums over rows cross once per estimate.

`spread_rows` puts equal parts of the rows on all devices of all processes. A run whose sampler holds such data steps
the same chains on every device, and XLA's partitioner makes of the sum over rows a sum over the rows of each device and
one all-reduce: of the log density and the gradient of all chains together, however many rows there are. A minibatch is
drawn from the rows of all devices alike, and its rows are brought together in one exchange.
"""

from __future__ import annotations

from typing import Any

import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from orthodrome.errors import BadInput
from orthodrome.run.parallel.hosts import this_process

ROWS = "rows"
"""The axis of the mesh over which rows are spread."""


def spread_rows(data: Any, own: bool = False) -> Any:
    """Spread rows of data over all devices of all processes, for a `Posterior` that is too large or too slow for one.

    data: an array, or a tree of arrays that share their first axis; of a memory-mapped one each process reads its part
    own: whether each process passes its own rows only, as many as every other; otherwise all pass the same data
    returns: the data as JAX arrays, to be given to `Posterior(..., data)`; their number of rows is that of all
    """
    devices = sorted(jax.devices(), key=lambda device: (device.process_index, device.id))
    sharding = NamedSharding(Mesh(np.array(devices), (ROWS,)), PartitionSpec(ROWS))
    leaves = jax.tree.leaves(data)
    lengths = sorted({np.shape(leaf)[0] if np.ndim(leaf) else 0 for leaf in leaves})
    parts = len(devices) // (this_process().processes if own else 1)
    if len(lengths) != 1 or lengths[0] == 0 or lengths[0] % parts:
        raise BadInput(
            f"spread_rows: the arrays have {', '.join(map(str, lengths)) or 'no'} rows; they must all have the same "
            f"number, a multiple of {parts} (devices): leave out the last few"
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
