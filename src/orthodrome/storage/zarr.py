"""Draws on disk: a Zarr v3 store with ArviZ's groups, filled block by block.

A block is `rows` draws of every chain of one variable, and one chunk of its Zarr array: raw little-endian bytes and
their checksum in one file, laid out as the Zarr v3 specification says (`<array>/c/0/<block>/0...`, codec `crc32c`). A
full block is written once and never again; draws that do not fill a block wait in memory (and in the checkpoint). Zarr
itself writes only the metadata, so appending costs one file write per variable, and memory does not grow with the run.

    store/posterior/x                  (chain, draw, ...)
    store/sample_stats/lp              (chain, draw)
    store/_orthodrome/checksums.json   of every file, written when the run ends: a store without it is unfinished
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from orthodrome.errors import CheckpointError, OrthodromeError
from orthodrome.storage import checksums, files, ownership
from orthodrome.storage.draws import Arrays, Coords, Dims, axis_labels, dimension_names, tree_of
from orthodrome.storage.listing import verify_list, write_list
from orthodrome.storage.memory import MemoryDraws
from orthodrome.storage.writer import Writer, write_failure

if TYPE_CHECKING:
    import xarray

BLOCK_BYTES = 8_000_000
LONGEST_BLOCK = 65_536
CHECKSUMS = f"{ownership.PLACE}/checksums.json"
"""The checksums of all files of a store, which is finished if this one is there."""
OURS = re.compile(
    r"(((warmup_)?(posterior|sample_stats)/)?([^/]+/)?zarr\.json|(warmup_)?(posterior|sample_stats)/[^/]+/c(/\d+)*)"
    r"(\.[^/]*)?\.?(part|partial)?"
)
"""The names of the files that a run writes into its store."""


class DiskDraws:
    """Blocks of draws under a folder; `count[group]` draws are held, the last few of them in memory."""

    def __init__(
        self, path: Path, dims: Dims = None, coords: Coords = None, lazy: bool = True, identity: str = ""
    ) -> None:
        self.path, self.dims, self.coords, self.lazy, self.identity = path, dims, coords, lazy, identity
        self.rows: dict[str, int] = {}
        self.count: dict[str, int] = {}
        self.blocks: dict[str, int] = {}
        self.tail: dict[str, list[Arrays]] = {}
        self.layout: dict[str, str] = {}
        self.sums: dict[str, list[int]] = {}
        self.writer = Writer()
        self.memory = None if lazy else MemoryDraws(dims, coords)

    def append(self, phase: str, arrays: Arrays, planned: int) -> None:
        """More draws of a phase (its groups grow together), of `planned` in all."""
        with _zarr_errors(self.path):
            self._reopen()
            if phase not in self.count:
                self._describe_all(phase, arrays, planned)
        self.count[phase] = self.count.get(phase, 0) + _length(arrays)
        if self.memory is not None:
            self.memory.append(phase, arrays, planned)
        else:
            self.tail.setdefault(phase, []).append({name: np.array(values) for name, values in arrays.items()})
        self._write_full_blocks(phase)

    def waiting(self, phase: str) -> Arrays:
        """The draws that are in no block yet."""
        if self.memory is not None:
            begin = self.blocks.get(phase, 0) * self.rows[phase]
            return {name: values[:, begin:] for name, values in self.memory.read(phase).items()}
        pieces = self.tail.get(phase, [])
        names = pieces[0] if pieces else {}
        return {name: np.concatenate([piece[name] for piece in pieces], axis=1) for name in names}

    def restore(self, phase: str, count: int, rows: int, waiting: Arrays) -> None:
        """Go back to `count` draws: later blocks are forgotten (and written again)."""
        self.memory = None
        self.rows[phase], self.count[phase], self.blocks[phase] = rows, count, count // rows
        self.tail[phase] = [waiting] if waiting else []

    def restore_checksums(self, layout: dict[str, str], sums: Arrays) -> None:
        """Take over what a commit says of the arrays and of their blocks; `verify` compares."""
        self.layout = layout
        self.sums = {name: sums[name].tolist() for name in layout}

    def _reopen(self) -> None:
        """Mark the store as unfinished before anything in it changes."""
        (self.path / CHECKSUMS).unlink(missing_ok=True)

    def read(self, phase: str) -> Arrays:
        """Everything drawn in a phase, from memory if it is there, else from the disk."""
        if self.memory is not None:
            return self.memory.read(phase)
        self.settle()
        waiting = self.waiting(phase)
        names = [(name, array) for name, array in self._arrays() if phase_of(name) == phase]
        return {name: self._read(name, array, self.count[phase], waiting.get(name)) for name, array in names}

    def _read(self, name: str, array: Any, count: int, waiting: np.ndarray | None) -> np.ndarray:
        """Block by block, as they were written: by Zarr itself it takes as long as a tenth of the run."""
        values = np.empty((array.shape[0], count, *array.shape[2:]), array.dtype.newbyteorder("="))
        rows = self.rows[phase_of(name)]
        for block in range(count // rows):
            stored = self._read_block(name, array, block).view(array.dtype.newbyteorder("<"))
            values[:, block * rows : (block + 1) * rows] = stored.reshape(array.chunks)
        if waiting is not None:
            values[:, count // rows * rows :] = waiting
        return values

    def _read_block(self, name: str, array: Any, block: int) -> np.ndarray:
        """The bytes of a block, which must be those that were written."""
        path = block_path(self.path / name, block, array.ndim)
        try:
            stored = np.fromfile(path, np.uint8)
        except OSError as error:
            raise _damaged(name, block, path, "is missing or cannot be read") from error
        if stored.size != int(np.prod(array.chunks)) * array.dtype.itemsize + checksums.LENGTH:
            raise _damaged(name, block, path, "is cut short or too long")
        content, stated = stored[: -checksums.LENGTH], stored[-checksums.LENGTH :].tobytes()
        if not checksums.as_bytes(self.sums[name][block]) == stated == checksums.trailer(content):
            raise _damaged(name, block, path, "is damaged: it does not match its checksum")
        return content

    def settle(self) -> None:
        """Wait until every block written so far is on the disk."""
        self.writer.settle()

    def _write_full_blocks(self, phase: str) -> None:
        rows = self.rows[phase]
        first, full = self.blocks.get(phase, 0), self.count[phase] // rows
        if first == full:
            return
        arrays = self.waiting(phase)
        for block in range(first, full):
            self._write_block(arrays, block, (block - first) * rows, rows)
        self.blocks[phase] = full
        if self.memory is None:
            rest = {name: np.array(values[:, (full - first) * rows :]) for name, values in arrays.items()}
            self.tail[phase] = [rest] if _length(rest) else []

    def _write_block(self, arrays: Arrays, block: int, begin: int, rows: int) -> None:
        for name, values in arrays.items():
            part = _padded(values[:, begin : begin + rows], rows)
            self.sums[name][block:] = [int.from_bytes(part[-checksums.LENGTH :], "little")]
            self.writer.write(block_path(self.path / name, block, values.ndim), part.data)

    def finish(self, attrs: Mapping[str, Any]) -> None:
        """Write what waits (padded to a block) and the exact lengths: any Zarr reader sees just the draws."""
        for phase, count in self.count.items():
            if count % (rows := self.rows[phase]):
                self._write_block(self.waiting(phase), count // rows, 0, rows)
        with _zarr_errors(self.path):
            self._reopen()
            for name, array in self._arrays():
                array.resize((array.shape[0], self.count[phase_of(name)], *array.shape[2:]))
            self._label_axes(attrs)
            self.settle()
            _consolidate(self.path)
            self._write_checksums()

    def _write_checksums(self) -> None:
        """Finish the store: list the checksum of every file, those of blocks from memory."""
        known = {
            block_path(Path(name), block, array.ndim).as_posix(): checksums.checksum(checksums.as_bytes(found), found)
            for name, array in self._arrays()
            for block, found in enumerate(self.sums[name])
        }
        names = data_files(self.path)
        files.settle([self.path / name for name in names if name not in known])
        write_list(self.path, CHECKSUMS, names, known)

    def tree(self) -> xarray.DataTree:
        """The draws as ArviZ reads them, from the disk when asked (or now, if not `lazy`)."""
        if self.lazy:
            return open_tree(self.path)
        attrs = dict(_open(self.path).attrs)
        return tree_of([self.read(phase) for phase in reversed(self.count)], self.dims, self.coords, attrs)

    def verify(self) -> None:
        """Raise unless every array and every block that the commit counts is there, as it was written."""
        for name, sealed in self.layout.items():
            if description(self.path, name) != sealed:
                raise CheckpointError(_damaged_text(self.path / name / "zarr.json", f"the description of {name}"))
        for name, array in self._arrays():
            for block in range(self.count[phase_of(name)] // self.rows[phase_of(name)]):
                self._read_block(name, array, block)
        if (self.path / CHECKSUMS).exists():
            verify_files(self.path)

    def _arrays(self) -> Iterator[tuple[str, Any]]:
        """The Zarr arrays of the phases at hand."""
        names = [name for name in self.layout if phase_of(name) in self.count]
        with _zarr_errors(self.path):
            root = _open(self.path) if names else {}
            found = [(name, root[name]) for name in names]
        yield from found

    def _describe_all(self, phase: str, arrays: Arrays, planned: int) -> None:
        from zarr.codecs import Crc32cCodec

        self.rows[phase] = block_rows(arrays)
        root = _open(self.path, "a")
        for name, values in arrays.items():
            group, variable = name.split("/")
            dims = ("chain", "draw", *dimension_names(variable, values.ndim - 2, self.dims))
            root.require_group(group).create_array(
                variable,
                shape=(values.shape[0], planned, *values.shape[2:]),
                chunks=(values.shape[0], self.rows[phase], *values.shape[2:]),
                dtype=values.dtype,
                dimension_names=dims,
                compressors=Crc32cCodec(),
                overwrite=True,
            )
            self.layout[name], self.sums[name] = description(self.path, name), []
        files.settle([self.path / name / "zarr.json" for name in arrays])

    def _label_axes(self, attrs: Mapping[str, Any]) -> None:
        from zarr.codecs import Crc32cCodec

        root = _open(self.path)
        labels: dict[tuple[str, str], int] = {}
        for name, array in self._arrays():
            sizes = zip(array.metadata.dimension_names, array.shape, strict=True)
            labels |= {(name.split("/")[0], dim): size for dim, size in sizes}
        for owner in (root, *(root[name] for name in dict.fromkeys(group for group, _ in labels))):
            owner.update_attributes(dict(attrs))
        for (group, dim), size in labels.items():
            label = np.asarray(axis_labels(dim, size, self.coords))
            # of texts, Zarr v3 has specified those of variable length only
            label = label.astype(np.dtypes.StringDType()) if label.dtype.kind == "U" else label
            root[group].create_array(dim, data=label, dimension_names=(dim,), compressors=Crc32cCodec(), overwrite=True)


def _open(path: Path, mode: Any = "r+") -> Any:
    """The arrays' own metadata count; the copy for readers is written anew at the end of a run."""
    import zarr

    return zarr.open_group(path, mode=mode, zarr_format=3, use_consolidated=False)


def _consolidate(path: Path) -> None:
    """Copy all metadata into the root's, so that readers open the store at once."""
    import zarr

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that other implementations may not read the copy; they need not
        zarr.consolidate_metadata(path, zarr_format=3)


@contextlib.contextmanager
def _zarr_errors(path: Path) -> Iterator[None]:
    """What Zarr raises of every kind when metadata cannot be written or are damaged, as one of ours."""
    try:
        yield
    except OrthodromeError:
        raise
    except OSError as error:
        if isinstance(error, FileNotFoundError) or error.errno is None:
            raise CheckpointError(_damaged_text(path, "it", str(error))) from error
        raise write_failure(path, error) from error
    except Exception as error:
        raise CheckpointError(
            f"the Zarr metadata in {path} are missing or damaged ({type(error).__name__}: {error}): restore them"
        ) from error


def make_room(path: Path, locks: contextlib.ExitStack, owner: str = "") -> ownership.Marker:
    """Claim a store for a new run; of what is there, only what a killed run left behind is removed.

    owner: the identity of the checkpoint that the store will belong to
    """
    marker = ownership.claim(path, "store", locks, owner)
    if (path / CHECKSUMS).exists():
        raise CheckpointError(f"the store {path} holds draws already; choose another path, or remove it")
    if marker.owner != owner:
        raise CheckpointError(
            f"the store {path} belongs to another run, which may go on from its checkpoint; choose another path"
        )
    ownership.clear(path, OURS)
    return marker


def open_again(path: Path, locks: contextlib.ExitStack) -> ownership.Marker:
    """Claim the store of a run that goes on; it must be there."""
    if not (path / ownership.MARKER).is_file():
        raise CheckpointError(
            f"there is no store of orthodrome's at {path}, but the checkpoint counts draws in its store: restore it, "
            "pass the `store` of the first call, or start again in a new folder"
        )
    return ownership.claim(path, "store", locks)


def open_tree(path: Path) -> xarray.DataTree:
    """The store as a DataTree that reads from the disk when asked."""
    import xarray

    with _zarr_errors(path):
        return xarray.open_datatree(path, engine="zarr", consolidated=True, chunks=None)


def read_draws(path: str | Path) -> xarray.DataTree:
    """Open the draws of a finished run, after verifying the checksum of every file.

    path: a `store` that was given to `sample`, or a `checkpoint` folder with its draws inside
    returns: the draws as `sample` returned them, read from the disk when asked
    """
    if not isinstance(path, str | os.PathLike):
        raise CheckpointError(f"the path is {path!r:.60}; it must be a text or a Path")
    folder = Path(path)
    inside = folder / "draws.zarr"
    store = inside if inside.is_dir() else folder
    if not (store / ownership.MARKER).is_file():
        raise CheckpointError(f"{store} is no store of orthodrome's; pass the `store` or `checkpoint` of a run")
    ownership.read_marker(store, "store")
    if not (store / CHECKSUMS).exists():
        raise CheckpointError(f"the run in {store} has not ended; let it end, or go on from its checkpoint")
    verify_files(store)
    return open_tree(store)


def verify_files(path: Path) -> None:
    """Raise unless every file of a finished store is there, as it was written."""
    listed = verify_list(path, CHECKSUMS, "restore it, or start again in a new folder")
    if strangers := [name for name in data_files(path) if name not in listed]:
        raise CheckpointError(f"{path / strangers[0]} was not written by the run in {path}: move it away")


def data_files(path: Path) -> list[str]:
    """The names of all files that a Zarr reader may look at."""
    names = (found.relative_to(path).as_posix() for found in sorted(path.rglob("*")) if not found.is_dir())
    return [name for name in names if OURS.fullmatch(name)]


def description(store: Path, name: str) -> str:
    """The checksum of an array's metadata, without its length, which grows."""
    path = store / name / "zarr.json"
    try:
        content = json.loads(path.read_bytes())
        content["shape"][1] = None
        content.pop("attributes", None)
    except (OSError, ValueError, KeyError, TypeError, IndexError, AttributeError, RecursionError) as error:
        raise CheckpointError(_damaged_text(path, f"the description of {name}", str(error))) from error
    return checksums.sealed(content)["checksum"]


def _damaged(name: str, block: int, path: Path, what: str) -> CheckpointError:
    return CheckpointError(f"block {block} of {name} {what}: restore {path}, or start again in a new folder")


def _damaged_text(path: Path, what: str, why: str = "it does not match its checksum") -> str:
    return f"{path} is missing or damaged ({why}): restore {what}, or start again in a new folder"


def phase_of(group: str) -> str:
    """Which phase fills a group."""
    return "warmup" if group.startswith("warmup_") else "draws"


def block_rows(arrays: Arrays) -> int:
    """Draws per block: a power of two with about `BLOCK_BYTES` in all variables."""
    per_draw = sum(values[:, 0].nbytes for values in arrays.values())
    rows = max(1, min(LONGEST_BLOCK, BLOCK_BYTES // per_draw))
    return 1 << (rows.bit_length() - 1)


def block_path(array: Path, block: int, ndim: int) -> Path:
    """Where Zarr v3 looks for a chunk that is split along the second axis only."""
    return array.joinpath("c", "0", str(block), *["0"] * (ndim - 2))


def _padded(values: np.ndarray, rows: int) -> np.ndarray:
    """The bytes of a block: the draws, little-endian, zeros after them, and the checksum."""
    shape, dtype = (values.shape[0], rows, *values.shape[2:]), values.dtype.newbyteorder("<")
    content = np.zeros(int(np.prod(shape)) * dtype.itemsize + checksums.LENGTH, np.uint8)
    block = content[: -checksums.LENGTH]
    block.view(dtype).reshape(shape)[:, : values.shape[1]] = values
    content[-checksums.LENGTH :] = np.frombuffer(checksums.trailer(block), np.uint8)
    return content


def _length(arrays: Arrays) -> int:
    return next(iter(arrays.values())).shape[1]
