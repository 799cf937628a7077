"""Checkpoints: a run that was killed resumes from its last commit and ends with the same draws.

    folder/commit.json      what is committed: counts, the number of the state file, the fingerprint, checksums
    folder/state-7.npz      the state of all chains, the last warm-up state, the draws that fill no block yet, and
                            the checksums of the blocks; of several processes each writes its own, state-7.0.npz ...
    folder/draws.zarr       the draws, in blocks that are written once (see `storage.disk`)
    folder/_orthodrome      the marker of a folder that is ours, and its lock (see `storage.ownership`)

A commit flushes the blocks to the disk, then the state file, and then replaces commit.json atomically: until then the
previous commit is whole, so a full disk or a kill at any moment costs at most what was drawn since. Nothing is pickled.

Of several processes each writes its own state and blocks; when all have, the first one commits.

The commit vouches for everything else: its own checksum, the state's, which holds the blocks', and the identity of the
store. What does not match is named and refused.
"""

from __future__ import annotations

import contextlib
import time
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import jax
import numpy as np

from orthodrome.errors import CheckpointError
from orthodrome.storage import checksums, files, ownership
from orthodrome.storage.disk import DiskDraws
from orthodrome.storage.draws import Arrays
from orthodrome.storage.fingerprint import Fingerprint, differences
from orthodrome.storage.peers import ALONE

COST_SHARE = 0.03
"""The largest share of the time that commits may take, whatever interval was asked for."""
IDENTITY = "orthodrome"
"""The name under which a state file holds the identity of its checkpoint."""
BROKEN = (ValueError, KeyError, EOFError, zipfile.BadZipFile, zlib.error, NotImplementedError)
"""The exceptions that NumPy raises when an .npz file is damaged."""


class Standing(NamedTuple):
    """Where a run stands.

    phase: "warmup" or "draws"
    done: the draws of that phase so far
    state: of all chains
    tuned: the last state of the warm-up, from which the tuned sampler is made again (None before)
    """

    phase: str
    done: int
    state: Any
    tuned: Any = None


class Checkpoint:
    """A folder of commits, and the draws that belong to them.

    folder: locked and marked as a checkpoint already
    every: seconds between commits
    fingerprint: of this run
    draws: the store of its draws
    about: numbers and texts that are kept for the user
    """

    def __init__(
        self,
        folder: Path,
        every: float,
        fingerprint: Fingerprint,
        draws: DiskDraws,
        about: Mapping[str, Any] | None = None,
    ) -> None:
        self.folder, self.every, self.fingerprint, self.draws = folder, every, fingerprint, draws
        self.identity = ownership.read_marker(folder, "checkpoint").identity
        self.about = dict(about or {})
        self.number, self.finished = 0, ""
        self.last, self.cost = time.monotonic(), 0.0
        self.peers = draws.peers if draws is not None else ALONE

    def due(self) -> bool:
        """Return whether the interval is over and commits have not taken more than their share of the time."""
        return time.monotonic() - self.last >= max(self.every, self.cost / COST_SHARE)

    def commit(self, standing: Standing, finished: str = "") -> None:
        """Save everything drawn so far, so that the run can resume from here; `finished` says why it ended, if it
        has."""
        began = time.monotonic()
        try:
            self._write(standing, finished)
        except OSError as error:
            raise CheckpointError(self._failure(error)) from error
        self.last = time.monotonic()
        self.cost = self.last - began

    def _write(self, standing: Standing, finished: str) -> None:
        self.draws.settle()
        name, previous = self._state_name(self.number + 1), self._state_name(self.number)
        self._refuse_overwriting(self.folder / name)
        arrays = {**flat("state", standing.state), **flat("tuned", standing.tuned), IDENTITY: np.array(self.identity)}
        arrays |= {f"checksums/{key}": np.array(sums, np.uint32) for key, sums in self.draws.sums.items()}
        for phase in self.draws.count:
            arrays |= {f"waiting/{phase}/{key}": values for key, values in self.draws.waiting(phase).items()}
        files.write_arrays(self.folder / name, arrays)
        self.peers.meet()  # all states and blocks are on the disk
        sums = self.peers.gather(np.array(checksums.of_file(self.folder / name), np.uint32))
        content = {
            "format": ownership.FORMAT,
            "phase": standing.phase,
            "done": standing.done,
            "tuned": standing.tuned is not None,
            "counts": self.draws.count,
            "rows": self.draws.rows,
            "number": self.number + 1,
            "finished": finished,
            "fingerprint": self.fingerprint,
            "state": [int(each) for each in sums],
            "layout": self.draws.layout,
            "store": {"identity": self.draws.identity, "path": str(self.draws.path)},
            "about": self.about,
        }
        if self.peers.process == 0:
            files.write_json(self.folder / "commit.json", checksums.sealed(content))
        self.peers.meet()
        self.number += 1
        if self.number > 1:
            (self.folder / previous).unlink(missing_ok=True)

    def _state_name(self, number: int) -> str:
        own = f".{self.peers.process}" if self.peers.processes > 1 else ""
        return f"state-{number}{own}.npz"

    def _refuse_overwriting(self, path: Path) -> None:
        """Raise if a state file that this run did not write is in the way; one that a killed attempt left behind is
        ours."""
        if not path.exists():
            return
        try:
            with np.load(path, allow_pickle=False) as found:
                ours = str(found[IDENTITY]) == self.identity
        except (OSError, *BROKEN):
            ours = False
        if not ours:
            raise CheckpointError(f"{path} was not written by this run and will not be overwritten: move it away")

    def _failure(self, error: OSError) -> str:
        kept = (
            f"the previous checkpoint (number {self.number}) is still valid" if self.number else "nothing was saved yet"
        )
        return (
            f"could not write the checkpoint in {self.folder}: {error.strerror or error}; {kept}: make room (or the "
            "folder writable) and call `sample` again with the same `checkpoint`"
        )

    def resume(self, warm_template: Any, tuned_template: Any, inner: Any) -> Standing | None:
        """Return how far the last commit had come, or None if there is none.

        warm_template: a fresh state of the warm-up, of the chains of this process
        tuned_template: the same of all chains
        inner: the function that gives the state of the draws from one of the warm-up
        """
        commit = read_commit(self.folder)
        if commit is None:
            return None
        if found := differences(commit["fingerprint"], self.fingerprint):
            raise CheckpointError(
                f"the checkpoint in {self.folder} belongs to another run: {'; '.join(found)}. Use the same settings to "
                "continue, or another folder for a new run"
            )
        self._check_store(commit["store"])
        arrays = self._read_state(commit["number"], commit["state"][self.peers.process])
        self.number, self.finished = commit["number"], commit["finished"]
        for phase, count in commit["counts"].items():
            prefix = f"waiting/{phase}/"
            waiting = {name.removeprefix(prefix): a for name, a in arrays.items() if name.startswith(prefix)}
            self.draws.restore(phase, count, commit["rows"][phase], waiting)
        prefix = "checksums/"
        sums = {name.removeprefix(prefix): a for name, a in arrays.items() if name.startswith(prefix)}
        self.draws.restore_checksums(commit["layout"], sums)
        self.draws.verify()
        tuned = unflat("tuned", tuned_template, arrays) if commit["tuned"] else None
        template = warm_template if commit["phase"] == "warmup" else inner(warm_template)
        return Standing(commit["phase"], commit["done"], unflat("state", template, arrays), tuned)

    def _check_store(self, then: dict[str, str]) -> None:
        if then["identity"] != self.draws.identity:
            raise CheckpointError(
                f"the checkpoint in {self.folder} counts draws in another store: {then['path']} before, "
                f"{self.draws.path} now. Pass the `store` of the first call to continue, or another "
                "folder for a new run"
            )

    def _read_state(self, number: int, stated: int) -> Arrays:
        path = self.folder / self._state_name(number)
        try:
            if checksums.of_file(path) != stated:
                raise ValueError("it does not match its checksum")
            return files.read_arrays(path)
        except (OSError, *BROKEN) as error:
            raise CheckpointError(
                f"{path} is missing or damaged ({error}): restore it, or start again in a new folder"
            ) from error


def open_folder(folder: Path, locks: contextlib.ExitStack) -> ownership.Marker:
    """Lock the folder until the run ends, creating it if necessary, or raise if it cannot be used."""
    return ownership.claim(folder, "checkpoint", locks)


def read_commit(folder: Path) -> dict[str, Any] | None:
    """Return the last commit of a folder, or None if there is none."""
    path = folder / "commit.json"
    if not path.exists():
        return None
    ownership.refuse_foreign(folder, "checkpoint")
    return checksums.read_sealed(path, "restore it, or start in a new folder")


def read_about(folder: str | Path) -> dict[str, Any] | None:
    """Return what `sample` was told to keep about the run in a checkpoint folder; None if there is no run yet."""
    commit = read_commit(Path(folder))
    return None if commit is None else commit["about"]


def flat(prefix: str, tree: Any) -> Arrays:
    """Return the leaves of a tree as named arrays."""
    leaves = jax.tree_util.tree_leaves_with_path(tree)
    return {f"{prefix}{jax.tree_util.keystr(path)}": np.asarray(leaf) for path, leaf in leaves}


def unflat(prefix: str, template: Any, arrays: Arrays) -> Any:
    """Return a tree like the template with the saved numbers."""

    def one(path: Any, leaf: Any) -> np.ndarray:
        name, like = f"{prefix}{jax.tree_util.keystr(path)}", np.asarray(leaf)
        saved = arrays.get(name)
        if saved is None or saved.shape != like.shape or saved.dtype.itemsize != like.dtype.itemsize:
            raise CheckpointError(
                f"the checkpoint's state does not fit this run: {name} is missing or has another shape"
            )
        return saved.view(like.dtype) if saved.dtype.kind == "V" else saved.astype(like.dtype, copy=False)

    return jax.tree_util.tree_map_with_path(one, template)
