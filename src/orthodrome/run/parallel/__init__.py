"""Devices and processes: the only package that knows about meshes, shardings, hosts and what they exchange."""

from orthodrome.run.parallel.cores import use_cores
from orthodrome.run.parallel.hosts import Hosts, use_hosts
from orthodrome.run.parallel.mesh import (
    AXIS,
    chain_mesh,
    idle_devices,
    num_devices,
    place_chains,
    place_copies,
    split_chains,
)

__all__ = [
    "AXIS",
    "Hosts",
    "chain_mesh",
    "idle_devices",
    "num_devices",
    "place_chains",
    "place_copies",
    "split_chains",
    "use_cores",
    "use_hosts",
]
