"""Checkpoints of a run of `SAM`: after any kill it goes on from the last commit and ends in the same numbers.

    folder/settings.json      the parameters, the seed, what the data and the program are
    folder/draws/000041.npy   every kept draw of the topics, written once
    folder/state-7.npz        the state, the numbers of every draw
    folder/commit.json        which state file counts, and how many draws

A commit writes the new draws and the state, then replaces commit.json; until that last stroke the one before is whole.
"""

from __future__ import annotations

import importlib.metadata
import json
import time
from pathlib import Path
from typing import Any

import numpy as np

from orthodrome.errors import CheckpointError
from orthodrome.models.sam.documents import Documents
from orthodrome.models.sam.state import State
from orthodrome.storage import files
from orthodrome.storage.fingerprint import digest

COST_SHARE = 0.03
"""Commits may take this share of the time."""


def read_settings(folder: Path) -> dict[str, Any]:
    """The parameters a run was begun with."""
    return _read(folder / "settings.json")["parameters"]


def read_seed(folder: Path) -> int | None:
    """The seed of the run in the folder, if there is one."""
    path = folder / "settings.json"
    return int(_read(path)["identity"]["seed"]) if path.exists() else None


def _read(path: Path) -> dict[str, Any]:
    try:
        return json.loads(path.read_text())
    except (OSError, ValueError) as error:
        raise CheckpointError(f"{path} cannot be read ({error}); is this the folder of a run of SAM?") from error


class Store:
    """The folder of one run."""

    def __init__(self, folder: Path, every: float, model: Any, documents: Documents) -> None:
        self.folder, self.every = folder, every
        self.last, self.cost, self.number, self.written = time.monotonic(), 0.0, 0, 0
        parameters = model.get_params() | {"random_state": None, "progress": False, "n_jobs": None}
        versions = {name: importlib.metadata.version(name) for name in ("orthodrome", "numpy", "numba")}
        data = digest(documents.indptr, documents.indices, documents.values)
        self.content = {
            "format": 1,
            "parameters": parameters,
            "identity": {"seed": model.seed_, "data": data, "versions": versions},
        }

    def restore(self, run: Any) -> None:
        """Go on where the folder's run is, or begin the folder."""
        settings, commit = self.folder / "settings.json", self.folder / "commit.json"
        if settings.exists():
            self._compare(_read(settings))
        if not commit.exists():
            return self._open(settings)
        found = _read(commit)
        self.number, self.written = found["number"], found["kept"]
        arrays = files.read_arrays(self.folder / f"state-{self.number}.npz")
        run.state = State.from_arrays(arrays)
        run.records = {name[6:]: list(map(float, a)) for name, a in arrays.items() if name.startswith("trace/")}
        run.done = found["done"]
        run.kept = [np.load(self._draw(i), allow_pickle=False) for i in range(self.written)]
        run.engine.seconds.update(found["seconds"])

    def _open(self, settings: Path) -> None:
        try:
            (self.folder / "draws").mkdir(parents=True, exist_ok=True)
            files.write_json(settings, self.content)
        except (OSError, TypeError) as error:
            raise CheckpointError(
                f"cannot begin a checkpoint in {self.folder}: {error}; choose another folder"
            ) from error

    def _compare(self, found: dict[str, Any]) -> None:
        then, now = (
            {**found["parameters"], **found["identity"]},
            {**self.content["parameters"], **self.content["identity"]},
        )  # type: ignore[dict-item]
        different = [f"{name} {then.get(name)} then, {now[name]} now" for name in now if then.get(name) != now[name]]
        if different:
            raise CheckpointError(
                f"the checkpoint in {self.folder} is of another run: {'; '.join(different)}. Use the same settings to "
                "go on, or another folder for a new run"
            )

    def due(self) -> bool:
        """Whether the interval is over and commits have not cost too much."""
        return time.monotonic() - self.last >= max(self.every, self.cost / COST_SHARE)

    def commit(self, run: Any) -> None:
        """Make everything up to here survive."""
        began = time.monotonic()
        try:
            self._write(run)
        except OSError as error:
            raise CheckpointError(
                f"could not write the checkpoint in {self.folder}: {error.strerror or error}; what it had is still "
                "valid: make room and fit again with the same folder"
            ) from error
        self.last = time.monotonic()
        self.cost = self.last - began

    def _write(self, run: Any) -> None:
        kept = len(run.kept) if run.done >= run.warmup + run.thin else 0
        for i in range(self.written, kept):
            np.save(self._draw(i), run.kept[i], allow_pickle=False)
        files.settle([self._draw(i) for i in range(self.written, kept)])
        trace = {f"trace/{name}": np.array(values) for name, values in run.records.items()}
        files.write_arrays(self.folder / f"state-{self.number + 1}.npz", run.state.arrays() | trace)
        content = {"number": self.number + 1, "done": run.done, "kept": kept, "seconds": run.engine.seconds}
        files.write_json(self.folder / "commit.json", content)
        (self.folder / f"state-{self.number}.npz").unlink(missing_ok=True)
        self.number, self.written = self.number + 1, kept

    def _draw(self, i: int) -> Path:
        return self.folder / "draws" / f"{i:06d}.npy"
