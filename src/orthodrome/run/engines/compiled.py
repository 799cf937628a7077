"""The engine of compiled samplers: one program that maps the loop over chains and splits them over devices."""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import numpy as np
from jax import Array

import orthodrome.run.parallel as parallel
from orthodrome.run.loop import (
    Kept,
    advance,
    advance_in_one_kernel,
    advance_in_warmup,
    advance_in_warmup_kernels,
    fits_one_kernel,
)
from orthodrome.tuning import Tuner


class CompiledEngine(NamedTuple):
    """The engine that maps one compiled program over the chains and splits them over the devices of a mesh.

    rows: the mesh over which the rows of the data are spread, if they are; then every device steps all chains, or
        those of its group
    kernels: the sampler that each `thin` was last asked for, and whether its loop is compiled into one kernel
    """

    key: Array
    chains: Array
    mesh: Any
    length: int
    rows: Any
    kernels: dict[int, tuple[Any, bool]]
    libraries: tuple[str, ...] = ()

    @property
    def alone(self) -> bool:
        """Whether the chains are on devices of this process, each with all rows."""
        return self.rows is None and parallel.alone(self.mesh)

    def place(self, state: Any) -> Any:
        if self.rows is not None:
            return parallel.place_groups(state, self.rows)
        return parallel.place_chains(state, self.mesh)

    def join(self, state: Any) -> Any:
        return self.place(state) if self.rows is not None else parallel.join_chains(state, self.mesh)

    def own(self, state: Any) -> Any:
        return parallel.own_part(state) if self.rows is None else parallel.whole(state)

    def place_sampler(self, sampler: Any) -> Any:
        return parallel.place_copies(sampler, self.mesh if self.rows is None else self.rows)

    def advance(self, sampler: Any, state: Any, first_step: int, count: int, thin: int) -> tuple[Any, Kept]:
        state, rows = self._call(lambda program: program, sampler, state, first_step, count, thin)
        return state, jax.tree.map(lambda row: row[:, :count], self.own(rows))

    def program(self, sampler: Any, state: Any) -> str:
        return str(self.lowered(sampler, state, 1).as_text())

    def lowered(self, sampler: Any, state: Any, thin: int) -> Any:
        """Return the program of `advance` for arguments like these, ready to be compiled."""
        return self._call(lambda program: program.lower, sampler, state, 0, 1, thin)

    def outlined(self, sampler: Any) -> Any:
        """Return a sampler of shapes, with the places that `place_sampler` would give to its arrays."""
        return parallel.placed_copies(sampler, self.mesh)

    def _call(self, use: Any, sampler: Any, state: Any, first_step: int, count: int, thin: int) -> Any:
        numbers = np.uint32(first_step), np.uint32(count)
        small = self._in_one_kernel(sampler, state, thin)
        settings = {"length": self.length, "thin": thin, "mesh": self.mesh, "in_one_kernel": small}
        return use(_program(sampler, small))(sampler, self.key, self.chains, state, *numbers, **settings)

    def _in_one_kernel(self, sampler: Any, state: Any, thin: int) -> bool:
        """Return whether the loop is compiled into one kernel: that of the draws, or of a warm-up between meetings."""
        if self.rows is not None:
            return False
        asked, answer = self.kernels.get(thin, (None, False))
        if asked is not sampler:  # tracing takes as long as some thousand transitions, and every chunk asks
            answer = fits_one_kernel(sampler, self.key, self.chains, state, self.mesh, thin)
            self.kernels[thin] = sampler, answer
        return answer


def _program(sampler: Any, small: bool) -> Any:
    """Return the compiled loop: a tuner runs for the warm-up only, and in a program of its own anyway."""
    if isinstance(sampler, Tuner):
        return advance_in_warmup_kernels() if small else advance_in_warmup()
    return advance_in_one_kernel() if small else advance


def compiled_engine(key: Array, num_chains: int, mesh: Any, length: int, rows: Any = None) -> CompiledEngine:
    """Return the engine for chains on the devices of a mesh, or for all chains where rows are spread."""
    chains = np.arange(num_chains, dtype=np.uint32)
    placed = parallel.place_chains(chains, mesh) if rows is None else parallel.place_groups(chains, rows)
    return CompiledEngine(parallel.place_copies(key, mesh if rows is None else rows), placed, mesh, length, rows, {})
