"""Files that are written atomically, so that a kill cannot leave them half written: write beside, fsync, rename,
fsync. What could not be written, as on a full disk, is removed."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, Any

import numpy as np


@contextlib.contextmanager
def replacing(path: Path, text: bool = False) -> Iterator[IO[Any]]:
    """Yield a file beside the path, which takes its place when the block ends well, and else is removed.

    text: whether it takes text (UTF-8, line ends as they are) instead of bytes
    """
    beside = path.with_name(path.name + ".part")
    try:
        with open(beside, "w", encoding="utf-8", newline="") if text else open(beside, "wb") as file:
            yield file
    except BaseException:
        with contextlib.suppress(OSError):
            beside.unlink()
        raise
    os.replace(beside, path)


def write_bytes(path: Path, content: bytes | memoryview) -> None:
    """Replace (or create) a file atomically; it is on the disk for certain only after `settle`."""
    with replacing(path) as file:
        file.write(content)


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
    with replacing(path, text=True) as file:
        json.dump(content, file, indent=1)
        file.flush()
        os.fsync(file.fileno())
    settle([path])


def write_arrays(path: Path, arrays: dict[str, np.ndarray]) -> None:
    """Replace an .npz file of named arrays atomically, without pickle; it is on the disk when this returns."""
    with replacing(path) as file:
        np.savez(file, allow_pickle=False, **arrays)
    settle([path])


def read_arrays(path: Path) -> dict[str, np.ndarray]:
    """Return the arrays of an .npz file, or raise if it holds pickled objects."""
    with np.load(path, allow_pickle=False) as file:
        return {name: file[name] for name in file.files}
