"""Files that are written atomically, so that a kill cannot leave them half written: write beside, fsync, rename,
fsync."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np


def write_bytes(path: Path, content: bytes | memoryview) -> None:
    """Replace (or create) a file atomically; it is on the disk for certain only after `settle`."""
    beside = path.with_name(path.name + ".part")
    with open(beside, "wb") as file:
        file.write(content)
    os.replace(beside, path)


def settle(paths: Iterable[Path]) -> None:
    """Wait until these files, and their entries in their folders, are on the disk (fsync)."""
    paths = list(paths)
    for path in [*paths, *{path.parent for path in paths}]:
        descriptor = os.open(path, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def write_json(path: Path, content: Any) -> None:
    """Replace a small JSON file atomically; it is on the disk when this returns."""
    beside = path.with_name(path.name + ".part")
    with open(beside, "w") as file:
        json.dump(content, file, indent=1)
        file.flush()
        os.fsync(file.fileno())
    os.replace(beside, path)
    settle([path])


def write_arrays(path: Path, arrays: dict[str, np.ndarray]) -> None:
    """Replace an .npz file of named arrays atomically, without pickle; it is on the disk when this returns."""
    beside = path.with_name(path.name + ".part")
    with open(beside, "wb") as file:
        np.savez(file, allow_pickle=False, **arrays)
    os.replace(beside, path)
    settle([path])


def read_arrays(path: Path) -> dict[str, np.ndarray]:
    """Return the arrays of an .npz file, or raise if it holds pickled objects."""
    with np.load(path, allow_pickle=False) as file:
        return {name: file[name] for name in file.files}
