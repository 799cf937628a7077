"""The engine of compiled samplers: one program that maps the loop over chains and splits them over devices."""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import numpy as np
from jax import Array

import orthodrome.run.parallel as parallel
from orthodrome.run.loop import Kept, advance, advance_in_warmup
from orthodrome.tuning import Tuner


class CompiledEngine(NamedTuple):
    """The engine that maps one compiled program over the chains and splits them over the devices of a mesh."""

    key: Array
    chains: Array
    mesh: Any
    length: int
    libraries: tuple[str, ...] = ()

    def place(self, state: Any) -> Any:
        return parallel.place_chains(state, self.mesh)

    def place_sampler(self, sampler: Any) -> Any:
        return parallel.place_copies(sampler, self.mesh)

    def advance(self, sampler: Any, state: Any, first_step: int, count: int, thin: int) -> tuple[Any, Kept]:
        state, rows = self._call(_program(sampler), sampler, state, first_step, count, thin)
        return state, jax.tree.map(lambda row: np.asarray(row)[:, :count], rows)

    def program(self, sampler: Any, state: Any) -> str:
        return str(self.lowered(sampler, state, 1).as_text())

    def lowered(self, sampler: Any, state: Any, thin: int) -> Any:
        """Return the program of `advance` for arguments like these, ready to be compiled."""
        return self._call(_program(sampler).lower, sampler, state, 0, 1, thin)

    def outlined(self, sampler: Any) -> Any:
        """Return a sampler of shapes, with the places that `place_sampler` would give to its arrays."""
        return parallel.placed_copies(sampler, self.mesh)

    def _call(self, function: Any, sampler: Any, state: Any, first_step: int, count: int, thin: int) -> Any:
        numbers = np.uint32(first_step), np.uint32(count)
        return function(sampler, self.key, self.chains, state, *numbers, length=self.length, thin=thin, mesh=self.mesh)


def _program(sampler: Any) -> Any:
    """Return the compiled loop: a tuner runs for the warm-up only, and in a program of its own anyway."""
    return advance_in_warmup() if isinstance(sampler, Tuner) else advance


def compiled_engine(key: Array, num_chains: int, mesh: Any, length: int) -> CompiledEngine:
    """Return the engine for chains on the devices of a mesh."""
    chains = parallel.place_chains(np.arange(num_chains, dtype=np.uint32), mesh)
    return CompiledEngine(parallel.place_copies(key, mesh), chains, mesh, length)
