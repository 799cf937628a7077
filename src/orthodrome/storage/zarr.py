"""Draws on disk: a Zarr v3 store with ArviZ's groups, filled block by block.

A block is `rows` draws of every chain of one variable, and one chunk of its Zarr array: raw little-endian bytes in
one file, laid out as the Zarr v3 specification says (`<array>/c/0/<block>/0...`). A full block is written once and
never again; draws that do not fill a block wait in memory (and in the checkpoint). Zarr itself writes only the
metadata, so appending costs one file write per variable, and memory does not grow with the run.

    store/posterior/x          (chain, draw, ...)
    store/sample_stats/lp      (chain, draw)
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from orthodrome.errors import CheckpointError
from orthodrome.storage.draws import Arrays, Coords, Dims, axis_labels, dimension_names, tree_of
from orthodrome.storage.memory import MemoryDraws
from orthodrome.storage.writer import Writer

if TYPE_CHECKING:
    import xarray

BLOCK_BYTES = 8_000_000
LONGEST_BLOCK = 65_536
UNFINISHED = {"orthodrome_unfinished": True}
"""Marks a store that a killed run left behind, which a new run may remove."""


class DiskDraws:
    """Blocks of draws under a folder; `count[group]` draws are held, the last few of them in memory."""

    def __init__(self, path: Path, dims: Dims = None, coords: Coords = None, lazy: bool = True) -> None:
        self.path, self.dims, self.coords, self.lazy = path, dims, coords, lazy
        self.rows: dict[str, int] = {}
        self.count: dict[str, int] = {}
        self.blocks: dict[str, int] = {}
        self.tail: dict[str, list[Arrays]] = {}
        self.writer = Writer()
        self.memory = None if lazy else MemoryDraws(dims, coords)

    def append(self, phase: str, arrays: Arrays, planned: int) -> None:
        """More draws of a phase (its groups grow together), of `planned` in all."""
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
            stored = np.fromfile(block_path(self.path / name, block, array.ndim), array.dtype.newbyteorder("<"))
            values[:, block * rows : (block + 1) * rows] = stored.reshape(array.chunks)
        if waiting is not None:
            values[:, count // rows * rows :] = waiting
        return values

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
            self.writer.write(block_path(self.path / name, block, values.ndim), part.data)

    def finish(self, attrs: Mapping[str, Any]) -> None:
        """Write what waits (padded to a block) and the exact lengths: any Zarr reader sees just the draws."""
        for phase, count in self.count.items():
            if count % (rows := self.rows[phase]):
                self._write_block(self.waiting(phase), count // rows, 0, rows)
        for name, array in self._arrays():
            array.resize((array.shape[0], self.count[phase_of(name)], *array.shape[2:]))
        self._label_axes({**attrs, **dict.fromkeys(UNFINISHED, False)})
        self.settle()

    def tree(self) -> xarray.DataTree:
        """The draws as ArviZ reads them, from the disk when asked (or now, if not `lazy`)."""
        if self.lazy:
            return open_tree(self.path)
        attrs = {name: value for name, value in _open(self.path).attrs.items() if name not in UNFINISHED}
        return tree_of([self.read(phase) for phase in reversed(self.count)], self.dims, self.coords, attrs)

    def verify(self) -> None:
        """Every committed block is there, whole."""
        for name, array in self._arrays():
            size = int(np.prod(array.chunks)) * array.dtype.itemsize
            for block in range(self.count[phase_of(name)] // self.rows[phase_of(name)]):
                path = block_path(self.path / name, block, array.ndim)
                if not path.is_file() or path.stat().st_size != size:
                    raise CheckpointError(
                        f"block {block} of {name} in {self.path} is missing or cut short: restore {path}"
                    )

    def _arrays(self) -> Iterator[tuple[str, Any]]:
        """The Zarr arrays of the phases at hand."""
        for group_name, group in _open(self.path).groups():
            for name, array in group.arrays():
                if array.ndim >= 2 and phase_of(group_name) in self.count:
                    yield f"{group_name}/{name}", array

    def _describe_all(self, phase: str, arrays: Arrays, planned: int) -> None:
        self.rows[phase] = block_rows(arrays)
        root = _open(self.path)
        root.attrs.update(UNFINISHED)
        for name, values in arrays.items():
            group, variable = name.split("/")
            dims = ("chain", "draw", *dimension_names(variable, values.ndim - 2, self.dims))
            root.require_group(group).create_array(
                variable,
                shape=(values.shape[0], planned, *values.shape[2:]),
                chunks=(values.shape[0], self.rows[phase], *values.shape[2:]),
                dtype=values.dtype,
                dimension_names=dims,
                compressors=None,
                overwrite=True,
            )

    def _label_axes(self, attrs: Mapping[str, Any]) -> None:
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
            root[group].create_array(dim, data=label, dimension_names=(dim,), overwrite=True)


def _open(path: Path) -> Any:
    import zarr

    return zarr.open_group(path, mode="a", zarr_format=3)


def make_room(path: Path) -> None:
    """Remove what a killed run left at the path; refuse to remove anything else."""
    if not path.exists() or not any(path.iterdir()):
        return
    if not _open(path).attrs.get("orthodrome_unfinished", False):
        raise CheckpointError(f"the store {path} holds draws already; choose another path, or remove it")
    shutil.rmtree(path)


def open_tree(path: Path) -> xarray.DataTree:
    """The store as a DataTree that reads from the disk when asked."""
    import xarray

    return xarray.open_datatree(path, engine="zarr", consolidated=False, chunks=None)


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
    """A block of its own, little-endian, zeros after the draws."""
    block = np.zeros((values.shape[0], rows, *values.shape[2:]), values.dtype.newbyteorder("<"))
    block[:, : values.shape[1]] = values
    return block


def _length(arrays: Arrays) -> int:
    return next(iter(arrays.values())).shape[1]
