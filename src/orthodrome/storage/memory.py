"""Draws in memory: one array per variable, of the planned length from the start, filled during the run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from orthodrome.storage.draws import Arrays, Coords, Dims, tree_of
from orthodrome.storage.peers import ALONE, Peers

if TYPE_CHECKING:
    import xarray


class MemoryDraws:
    """The draws of a run in memory, with the interface of `DiskDraws`.

    dims, coords: the names and labels of the axes, as `sample` takes them
    peers: the processes of the run; spread: whether each of them has chains of its own; otherwise all have the same
    gather: whether `tree` brings the chains of all processes together
    """

    def __init__(
        self,
        dims: Dims = None,
        coords: Coords = None,
        peers: Peers = ALONE,
        spread: bool = True,
        gather: bool = True,
    ) -> None:
        self.dims, self.coords, self.peers = dims, coords, peers
        self.spread, self.gather = spread and peers.processes > 1, gather
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
        phases, coords = [self.read(phase) for phase in reversed(self.count)], self.coords
        if self.spread and self.gather:
            self.peers.meet()
            phases = [{name: self._all(values) for name, values in arrays.items()} for arrays in phases]
        elif self.spread and phases:
            own = len(next(iter(phases[0].values())))
            coords = {"chain": np.arange(own) + own * self.peers.process, **(coords or {})}
        return tree_of(phases, self.dims, coords, self.attrs)

    def _all(self, own: np.ndarray) -> np.ndarray:
        return self.peers.gather(own).reshape(-1, *own.shape[1:])
