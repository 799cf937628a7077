"""A store of draws as a folder: claim it for a run, verify its files, open it when the run has ended.

store/posterior/x                  (chain, draw, ...)
store/sample_stats/lp              (chain, draw)
store/_orthodrome/checksums.json   of every file, written when the run ends: a store without it is unfinished
"""

from __future__ import annotations

import contextlib
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

from orthodrome.errors import CheckpointError
from orthodrome.storage import ownership
from orthodrome.storage.listing import verify_list
from orthodrome.storage.zarr import open_tree

if TYPE_CHECKING:
    import xarray

CHECKSUMS = f"{ownership.PLACE}/checksums.json"
"""The list of the checksums of all files of a store; a store is finished if and only if it exists."""
OURS = re.compile(
    r"(((warmup_)?(posterior|sample_stats)/)?([^/]+/)?zarr\.(json|[0-9a-f]{32})"
    r"|(warmup_)?(posterior|sample_stats)/[^/]+/c(/\d+)*)(\.[^/]*)?\.?(part|partial)?"
)
"""The names of the files that a run writes into its store; while it writes, Zarr puts a random number in the place of a
suffix (`zarr.0f3c....partial` for `zarr.json`)."""


def make_room(path: Path, locks: contextlib.ExitStack, owner: str = "") -> ownership.Marker:
    """Claim a store for a new run, and remove what a killed run left there and nothing else.

    owner: the identity of the checkpoint that the store will belong to
    """
    marker = ownership.claim(path, "store", locks, owner)
    if (path / CHECKSUMS).exists():
        raise CheckpointError(f"the store {path} already contains draws; choose another path, or remove it")
    if marker.owner != owner:
        raise CheckpointError(
            f"the store {path} belongs to another run, which may be continued from its checkpoint; choose another path"
        )
    ownership.clear(path, OURS)
    return marker


def open_again(path: Path, locks: contextlib.ExitStack) -> ownership.Marker:
    """Claim the store of a run that is resumed, or raise if there is no store at the path."""
    if not (path / ownership.MARKER).is_file():
        raise CheckpointError(
            f"there is no orthodrome store at {path}, but the checkpoint counts draws in its store: restore it, "
            "pass the `store` of the first call, or start again in a new folder"
        )
    return ownership.claim(path, "store", locks)


def read_draws(path: str | Path) -> xarray.DataTree:
    """Open the draws of a finished run, after verifying the checksum of every file.

    path: a `store` that was given to `sample`, or a `checkpoint` folder with its draws inside
    returns: the draws as `sample` returned them, read from the disk when they are used
    """
    if not isinstance(path, str | os.PathLike):
        raise CheckpointError(f"the path is {path!r:.60}; it must be a string or a Path")
    folder = Path(path)
    inside = folder / "draws.zarr"
    store = inside if inside.is_dir() else folder
    if not (store / ownership.MARKER).is_file():
        raise CheckpointError(f"{store} is not an orthodrome store; pass the `store` or `checkpoint` of a run")
    ownership.read_marker(store, "store")
    if not (store / CHECKSUMS).exists():
        raise CheckpointError(f"the run in {store} has not ended; let it end, or continue it from its checkpoint")
    verify_files(store)
    return open_tree(store)


def verify_files(path: Path) -> None:
    """Raise unless the data files of a finished store are those that were written: all of them, and no others."""
    listed = verify_list(path, CHECKSUMS, "restore it, or start again in a new folder")
    if strangers := [name for name in data_files(path) if name not in listed]:
        raise CheckpointError(f"{path / strangers[0]} was not written by the run in {path}: move it away")


def data_files(path: Path) -> list[str]:
    """Return the names of all files in a store that a Zarr reader may look at."""
    names = (found.relative_to(path).as_posix() for found in sorted(path.rglob("*")) if not found.is_dir())
    return [name for name in names if OURS.fullmatch(name)]
