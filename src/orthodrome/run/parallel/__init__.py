"""Devices and processes: the only package that knows about meshes, shardings, hosts and what they exchange."""

from orthodrome.run.parallel.cores import use_cores
from orthodrome.run.parallel.hosts import Hosts, this_process, use_hosts
from orthodrome.run.parallel.mesh import (
    AXIS,
    alone,
    chain_mesh,
    idle_devices,
    join_chains,
    num_devices,
    own_chains,
    own_part,
    place_chains,
    place_copies,
    place_groups,
    placed_copies,
    split_chains,
    whole,
)
from orthodrome.run.parallel.posterior import SpreadPosterior, groups_axis, summing_at_once
from orthodrome.run.parallel.rows import is_spread, rows_mesh, spread_rows
from orthodrome.run.parallel.team import LostPeer, PeerFailed, Team, ledger, naming_the_lost

__all__ = [
    "AXIS",
    "Hosts",
    "LostPeer",
    "PeerFailed",
    "SpreadPosterior",
    "Team",
    "alone",
    "chain_mesh",
    "groups_axis",
    "idle_devices",
    "is_spread",
    "join_chains",
    "ledger",
    "naming_the_lost",
    "num_devices",
    "own_chains",
    "own_part",
    "place_chains",
    "place_copies",
    "place_groups",
    "placed_copies",
    "rows_mesh",
    "split_chains",
    "spread_rows",
    "summing_at_once",
    "this_process",
    "use_cores",
    "use_hosts",
    "whole",
]
