"""Where a run keeps its draws and its commits: memory, the user's store, or a store in the checkpoint's folder.

Several processes share a folder: the first one claims and locks it, and the others look for the mark that it left, so
that a folder which is not the same for all hosts is found out before anything is drawn.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import jax
import numpy as np

import orthodrome.run.parallel as parallel
from orthodrome.errors import BadInput, CheckpointError
from orthodrome.run.conduct import Draws
from orthodrome.run.setup import Plan, Setup
from orthodrome.storage import draws, ownership
from orthodrome.storage.checkpoint import Checkpoint, open_folder, read_commit
from orthodrome.storage.disk import DiskDraws
from orthodrome.storage.fingerprint import digest, fingerprint
from orthodrome.storage.memory import MemoryDraws
from orthodrome.storage.store import make_room, open_again


def open_draws(
    checkpoint: str | Path | None,
    store: str | Path | None,
    labels: tuple[draws.Dims, draws.Coords],
    locks: contextlib.ExitStack,
    team: parallel.Team,
    spread: bool,
    gather: bool,
) -> Draws:
    """Open memory, the user's store, or a store in the checkpoint's folder; never on top of other draws."""
    if checkpoint is None and store is None:
        return MemoryDraws(*labels, team, spread, gather)
    path = Path(store) if store is not None else Path(checkpoint or "") / "draws.zarr"
    identity = claim(path, None if checkpoint is None else Path(checkpoint), locks, team)
    lazy = store is not None or team.processes > 1
    held = DiskDraws(path, *labels, lazy, identity, team, spread, gather)
    locks.callback(held.writer.close)  # before the locks are given back: the next run must find nobody writing
    return held


def claim(path: Path, checkpoint: Path | None, locks: contextlib.ExitStack, team: parallel.Team) -> str:
    """Lock the folders of a run and return the identity of its store; of several processes the first one does it."""
    if team.first:
        owner = open_folder(checkpoint, locks).identity if checkpoint is not None else ""
        fresh = checkpoint is None or read_commit(checkpoint) is None
        identity = (make_room(path, locks, owner) if fresh else open_again(path, locks)).identity
    team.meet()
    if not team.first:
        if not (path / ownership.MARKER).is_file():
            raise CheckpointError(
                f"process {team.process} of {team.processes} does not see {path}, which the first one created: put it "
                "on a file system that all hosts share, under the same path"
            )
        identity = ownership.read_marker(path, "store").identity
    team.meet()
    if len(set(team.texts(identity))) > 1:
        raise CheckpointError(
            f"{path} is not the same folder on all hosts: put it on a file system that all hosts share"
        )
    return identity


def open_checkpoint(
    folder: str | Path | None,
    every: float,
    setup: Setup,
    plan: Plan,
    devices: int,
    held: Draws,
    about: Mapping[str, Any] | None,
    team: parallel.Team,
) -> Checkpoint | None:
    """Return the checkpoint of this run, or None if none is asked for."""
    if folder is None or not isinstance(held, DiskDraws):
        return None
    settings = {k: v for k, v in plan._asdict().items() if k != "num_draws"}
    settings |= {"devices": devices} | ({"processes": team.processes} if team.processes > 1 else {})
    own = jax.tree.map(lambda leaf: parallel.own_part(leaf) if parallel.is_spread(leaf) else leaf, setup.sampler)
    identity = fingerprint(setup.engine, setup.sampler, own, setup.state, setup.positions, settings)
    if team.processes > 1:
        team.meet()
        identity["program"] = " ".join(_from_all(team, [identity["program"]])[0])  # it names a process's part of data
        identity["start"] = [" ".join(each) for each in _from_all(team, identity["start"])]
        arrays = _from_all(team, identity["arrays"].values())
        identity["arrays"] = {path: " ".join(each) for path, each in zip(identity["arrays"], arrays, strict=True)}
    return Checkpoint(Path(folder), every, identity, held, about)


def _from_all(team: parallel.Team, digests: Iterable[str]) -> list[list[str]]:
    """Return, for every digest, the different ones that the processes have."""
    found = team.gather(np.array([int(each, 16) for each in digests], np.uint64))
    return [[f"{each:016x}" for each in dict.fromkeys(column.tolist())] for column in found.T]


def check_same(team: parallel.Team, given: Any) -> None:
    """Raise on all processes if they were not given the same numbers, a tree of arrays and of shapes."""
    if team.processes == 1:
        return
    leaves = jax.tree_util.tree_leaves_with_path(given)
    counts = team.meet(len(leaves))[:, 0]
    if len(set(counts)) > 1:
        raise BadInput(f"the processes have different samplers or starts ({', '.join(map(str, counts))} arrays)")
    found = team.gather(np.array([int(_digest(leaf), 16) for _, leaf in leaves], np.uint64))
    process, leaf = np.argwhere(found != found[0])[0] if np.any(found != found[0]) else (0, 0)
    if process:
        raise BadInput(
            f"process {process} was given different numbers than the first one in "
            f"{jax.tree_util.keystr(leaves[leaf][0])}: give all processes the same data, start and settings"
        )


def _digest(leaf: Any) -> str:
    if isinstance(leaf, jax.ShapeDtypeStruct):
        return digest(np.array(f"{leaf.shape} {leaf.dtype}"))
    if parallel.is_spread(leaf):
        return digest(np.array(f"{leaf.shape} {leaf.dtype}"))  # each process has other rows
    return digest(leaf)
