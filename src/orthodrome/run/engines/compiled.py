"""The engine of compiled samplers: one program that maps the loop over chains and splits them over devices."""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import numpy as np
from jax import Array

import orthodrome.run.parallel as parallel
from orthodrome.run.loop import Kept, advance


class CompiledEngine(NamedTuple):
    """The engine that maps one compiled program over the chains and splits them over the devices of a mesh.

    rows: the mesh over which the rows of the data are spread, if they are; then every device steps all chains
    """

    key: Array
    chains: Array
    mesh: Any
    length: int
    rows: Any = None
    libraries: tuple[str, ...] = ()

    def place(self, state: Any) -> Any:
        if self.rows is not None:
            return parallel.place_copies(state, self.rows)
        return parallel.place_chains(state, self.mesh)

    def join(self, state: Any) -> Any:
        return self.place(state) if self.rows is not None else parallel.join_chains(state, self.mesh)

    def own(self, state: Any) -> Any:
        return parallel.own_part(state)

    def place_sampler(self, sampler: Any) -> Any:
        return parallel.place_copies(sampler, self.mesh if self.rows is None else self.rows)

    def advance(self, sampler: Any, state: Any, first_step: int, count: int, thin: int) -> tuple[Any, Kept]:
        state, rows = self._call(advance, sampler, state, first_step, count, thin)
        return state, jax.tree.map(lambda row: row[:, :count], parallel.own_part(rows))

    def program(self, sampler: Any, state: Any) -> str:
        return str(self._call(advance.lower, sampler, state, 0, 1, 1).as_text())

    def _call(self, function: Any, sampler: Any, state: Any, first_step: int, count: int, thin: int) -> Any:
        numbers = np.uint32(first_step), np.uint32(count)
        return function(sampler, self.key, self.chains, state, *numbers, length=self.length, thin=thin, mesh=self.mesh)


def compiled_engine(key: Array, num_chains: int, mesh: Any, length: int, rows: Any = None) -> CompiledEngine:
    """Return the engine for chains on the devices of a mesh, or for all chains where rows are spread."""
    chains = np.arange(num_chains, dtype=np.uint32)
    placed = parallel.place_chains(chains, mesh) if rows is None else parallel.place_copies(chains, rows)
    return CompiledEngine(parallel.place_copies(key, mesh if rows is None else rows), placed, mesh, length, rows)
