"""Draws in memory: one array per variable, of the planned length from the start, filled during the run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from orthodrome.storage.draws import Arrays, Coords, Dims, tree_of

if TYPE_CHECKING:
    import xarray


class MemoryDraws:
    """The draws of a run in memory, with the interface of `DiskDraws`.

    dims, coords: the names and labels of the axes, as `sample` takes them
    """

    def __init__(self, dims: Dims = None, coords: Coords = None) -> None:
        self.dims, self.coords = dims, coords
        self.attrs: Mapping[str, Any] = {}
        self.count: dict[str, int] = {}
        self.held: dict[str, Arrays] = {}

    def append(self, phase: str, arrays: Arrays, planned: int) -> None:
        """Add draws of a phase, which will have `planned` draws in all."""
        if phase not in self.held:
            self.held[phase] = {k: np.empty((len(v), planned, *v.shape[2:]), v.dtype) for k, v in arrays.items()}
        begin = self.count.get(phase, 0)
        for name, values in arrays.items():
            self.held[phase][name][:, begin : begin + values.shape[1]] = values
            self.count[phase] = begin + values.shape[1]

    def read(self, phase: str) -> Arrays:
        """Return all draws of a phase by their names `group/variable`."""
        return {name: values[:, : self.count[phase]] for name, values in self.held.get(phase, {}).items()}

    def holds(self, name: str) -> bool:
        """Return whether there are draws of `group/variable`."""
        return any(name in arrays for arrays in self.held.values())

    def finish(self, attrs: Mapping[str, Any]) -> None:
        """Keep the attributes of the run."""
        self.attrs = attrs

    def tree(self) -> xarray.DataTree:
        """Return the draws as ArviZ reads them."""
        return tree_of([self.read(phase) for phase in reversed(self.count)], self.dims, self.coords, self.attrs)
