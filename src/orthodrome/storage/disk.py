"""Draws on disk: a Zarr v3 store with ArviZ's groups, filled block by block.

A full block (see `blocks`) is written once and never again; draws that do not fill a block wait in memory (and in the
checkpoint). The Zarr library writes only the metadata (see `zarr`), so appending costs one file write per variable, and
memory does not grow with the run. How a store is claimed, verified and opened again is in `store`.

Several processes write one store together, each the blocks of its own chains; the first one writes the metadata. Where
all processes have the same chains (`spread=False`) the first one writes everything.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from orthodrome.errors import CheckpointError
from orthodrome.storage import blocks, checksums, files
from orthodrome.storage.draws import Arrays, Coords, Dims, tree_of
from orthodrome.storage.listing import write_list
from orthodrome.storage.memory import MemoryDraws
from orthodrome.storage.peers import ALONE, Peers
from orthodrome.storage.store import CHECKSUMS, data_files, verify_files
from orthodrome.storage.writer import Writer
from orthodrome.storage.zarr import (
    consolidate,
    create_arrays,
    damaged_text,
    description,
    label_axes,
    open_group,
    open_tree,
    zarr_errors,
)

if TYPE_CHECKING:
    import xarray


class DiskDraws:
    """The draws of a run in the store at `path`: full blocks on disk, the draws after them in memory.

    dims, coords: the names and labels of the axes, as `sample` takes them
    lazy: whether `tree` reads from the disk when its values are used; otherwise all draws are kept in memory too
    identity: the identity in the marker of the store, which the checkpoint repeats
    peers: the processes that write the store
    spread: whether each of them has chains of its own; otherwise all have the same
    gather: whether `tree` shows the chains of all processes, or those of this one
    """

    def __init__(
        self,
        path: Path,
        dims: Dims = None,
        coords: Coords = None,
        lazy: bool = True,
        identity: str = "",
        peers: Peers = ALONE,
        spread: bool = True,
        gather: bool = True,
    ) -> None:
        self.peers, self.first = peers, peers.process == 0
        self.part, self.parts = (peers.process, peers.processes) if spread else (0, 1)
        self.writes, self.gather = spread or self.first, gather
        self.path, self.dims, self.coords, self.lazy, self.identity = path, dims, coords, lazy, identity
        self.rows: dict[str, int] = {}  # draws per block of each phase
        self.count: dict[str, int] = {}  # draws of each phase so far
        self.blocks: dict[str, int] = {}  # full blocks of each phase that are written
        self.tail: dict[str, list[Arrays]] = {}  # draws of each phase that are in no block yet
        self.layout: dict[str, str] = {}  # the checksum of the metadata of each array
        self.sums: dict[str, list[int]] = {}  # the checksums of the blocks of each array
        self.writer = Writer()
        self.memory = None if lazy else MemoryDraws(dims, coords)

    def append(self, phase: str, arrays: Arrays, planned: int) -> None:
        """Add draws of a phase (its groups grow together), which will have `planned` draws in all."""
        with zarr_errors(self.path):
            self._reopen()
            if phase not in self.count:
                self._create(phase, arrays, planned)
        self.count[phase] = self.count.get(phase, 0) + _length(arrays)
        if self.memory is not None:
            self.memory.append(phase, arrays, planned)
        else:
            self.tail.setdefault(phase, []).append({name: np.array(values) for name, values in arrays.items()})
        self._write_full_blocks(phase)

    def waiting(self, phase: str) -> Arrays:
        """Return the draws of a phase that are in no block yet."""
        if self.memory is not None:
            begin = self.blocks.get(phase, 0) * self.rows[phase]
            return {name: values[:, begin:] for name, values in self.memory.read(phase).items()}
        pieces = self.tail.get(phase, [])
        names = pieces[0] if pieces else {}
        return {name: np.concatenate([piece[name] for piece in pieces], axis=1) for name in names}

    def restore(self, phase: str, count: int, rows: int, waiting: Arrays) -> None:
        """Go back to the first `count` draws of a phase; later blocks are forgotten and will be overwritten.

        rows: the draws per block
        waiting: those of the `count` draws that are in no block
        """
        self.memory = None
        self.rows[phase], self.count[phase], self.blocks[phase] = rows, count, count // rows
        self.tail[phase] = [waiting] if waiting else []

    def restore_checksums(self, layout: dict[str, str], sums: Arrays) -> None:
        """Take the checksums of metadata and blocks from a commit; `verify` compares the files with them."""
        self.layout = layout
        self.sums = {name: sums[name].tolist() for name in layout}

    def _reopen(self) -> None:
        """Mark the store as unfinished before anything in it changes."""
        if self.first:
            (self.path / CHECKSUMS).unlink(missing_ok=True)

    def _create(self, phase: str, arrays: Arrays, planned: int) -> None:
        """Create the Zarr arrays of a phase and note the checksums of their metadata."""
        self.rows[phase] = blocks.block_rows(arrays)
        if self.first:
            create_arrays(self.path, arrays, self.parts, self.rows[phase], planned, self.dims)
        self.peers.meet()
        for name in arrays:
            self.layout[name], self.sums[name] = description(self.path, name), []

    def read(self, phase: str) -> Arrays:
        """Return all draws of a phase, from memory if they are there, otherwise from the disk."""
        if self.memory is not None:
            return self.memory.read(phase)
        self.settle()
        waiting = self.waiting(phase)
        names = [(name, array) for name, array in self._arrays() if phase_of(name) == phase]
        return {name: self._read(name, array, self.count[phase], waiting.get(name)) for name, array in names}

    def _read(self, name: str, array: Any, count: int, waiting: np.ndarray | None) -> np.ndarray:
        """Read a variable block by block; through the Zarr library this takes up to a tenth of the time of the run."""
        values = np.empty((array.chunks[0], count, *array.shape[2:]), array.dtype.newbyteorder("="))
        rows = self.rows[phase_of(name)]
        for block in range(count // rows):
            values[:, block * rows : (block + 1) * rows] = self._read_block(name, array, block)
        if waiting is not None:
            values[:, count // rows * rows :] = waiting
        return values

    def _read_block(self, name: str, array: Any, block: int) -> np.ndarray:
        return blocks.read_block(self.path, name, array, self.part, block, self.sums[name][block])

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
            if not self.writes:
                self.sums[name][block:] = [0]
                continue
            content = blocks.encode(values[:, begin : begin + rows], rows)
            self.sums[name][block:] = [blocks.stated_checksum(content)]
            self.writer.write(blocks.block_path(self.path / name, self.part, block, values.ndim), content.data)

    def holds(self, name: str) -> bool:
        """Return whether there are draws of `group/variable`."""
        return name in self.layout

    def finish(self, attrs: Mapping[str, Any]) -> None:
        """Write the last blocks, padded, and the exact lengths, so that any Zarr reader sees the draws and no padding.

        attrs: the attributes of the run
        """
        for phase, count in self.count.items():
            if count % (rows := self.rows[phase]):
                self._write_block(self.waiting(phase), count // rows, 0, rows)
        self.settle()
        self.peers.meet()
        sums = {name: self.peers.gather(np.array(found, np.uint32)) for name, found in sorted(self.sums.items())}
        if self.first:
            with zarr_errors(self.path):
                self._reopen()
                for name, array in self._arrays():
                    array.resize((array.shape[0], self.count[phase_of(name)], *array.shape[2:]))
                label_axes(self.path, list(self._arrays()), self.coords, attrs)
                consolidate(self.path)
                self._write_checksums(sums)
        self.peers.meet()

    def _write_checksums(self, sums: Arrays) -> None:
        """Finish the store: list the checksum of every file, those of blocks without reading them again.

        sums: (process, block) of each array
        """
        known = {
            blocks.block_path(Path(name), part, block, array.ndim).as_posix(): checksums.checksum(
                checksums.as_bytes(int(found)), int(found)
            )
            for name, array in self._arrays()
            for part, row in enumerate(sums[name][: self.parts])
            for block, found in enumerate(row)
        }
        names = data_files(self.path)
        files.settle([self.path / name for name in names if name not in known])
        write_list(self.path, CHECKSUMS, names, known)

    def tree(self) -> xarray.DataTree:
        """Return the draws as ArviZ reads them, from the disk when they are used if `lazy`, otherwise in memory."""
        if self.lazy:
            return open_tree(self.path) if self.gather or self.parts == 1 else self._own_chains()
        attrs = dict(open_group(self.path).attrs)
        return tree_of([self.read(phase) for phase in reversed(self.count)], self.dims, self.coords, attrs)

    def _own_chains(self) -> xarray.DataTree:
        """Return the draws of the chains of this process."""
        tree = open_tree(self.path)
        own = tree["posterior"].sizes["chain"] // self.parts
        part = slice(self.part * own, (self.part + 1) * own)
        return tree.map_over_datasets(lambda group: group.isel(chain=part, missing_dims="ignore"))

    def verify(self) -> None:
        """Raise unless every array and every block that the commit counts is present and matches its checksum."""
        for name, sealed in self.layout.items():
            if description(self.path, name) != sealed:
                raise CheckpointError(damaged_text(self.path / name / "zarr.json", f"the description of {name}"))
        for name, array in self._arrays() if self.writes else ():
            for block in range(self.count[phase_of(name)] // self.rows[phase_of(name)]):
                self._read_block(name, array, block)
        if self.first and (self.path / CHECKSUMS).exists():
            verify_files(self.path)

    def _arrays(self) -> Iterator[tuple[str, Any]]:
        """Yield the name and the Zarr array of every variable of the phases begun so far."""
        names = [name for name in self.layout if phase_of(name) in self.count]
        with zarr_errors(self.path):
            root = open_group(self.path) if names else {}
            found = [(name, root[name]) for name in names]
        yield from found


def phase_of(group: str) -> str:
    """Return the phase whose draws a group holds."""
    return "warmup" if group.startswith("warmup_") else "draws"


def _length(arrays: Arrays) -> int:
    return next(iter(arrays.values())).shape[1]
