"""The mesh of one device of each process, and the exchange over it that copies what each has to all.

The library for collectives connects the processes at their first exchange, for which it waits 30 seconds whatever the
timeout: a process that reads its data for longer than another would end the run. So processes exchange a number as soon
as they have met (`connect`), and are as late afterwards as they like.
"""

from __future__ import annotations

import functools
from typing import Any

import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec

PROCESSES = "processes"
"""The axis of the mesh that has one device of each process."""


@functools.cache
def one_device_each() -> Mesh:
    """Return the mesh of the first device of each process."""
    first = {device.process_index: device for device in sorted(jax.devices(), key=lambda each: -each.id)}
    return Mesh(np.array([first[number] for number in sorted(first)]), (PROCESSES,))


@functools.cache
def copied(mesh: Mesh) -> Any:
    """Return the program that gives all devices the parts of all."""
    return jax.jit(lambda values: values, out_shardings=NamedSharding(mesh, PartitionSpec()))


def spread(own: np.ndarray, processes: int) -> jax.Array:
    """Return one array of the lines of all processes, of which this one has `own`, (1, n)."""
    sharding = NamedSharding(one_device_each(), PartitionSpec(PROCESSES))
    found: jax.Array = jax.make_array_from_process_local_data(sharding, own, (processes, own.shape[1]))
    return found


def connect(processes: int) -> None:
    """Exchange a number over one device of each process, and over all of their devices, so that all are connected."""
    every = Mesh(np.array(sorted(jax.devices(), key=lambda each: (each.process_index, each.id))), (PROCESSES,))
    for mesh in (one_device_each(), every)[: 1 + (every.size > processes)]:
        sharding = NamedSharding(mesh, PartitionSpec(PROCESSES))
        part = jax.make_array_from_callback((mesh.size,), sharding, lambda index: np.zeros(1, np.uint8))
        jax.block_until_ready(copied(mesh)(part))
