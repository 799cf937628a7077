"""Two ways of carrying chains forward, with one face: a compiled loop, or Python calling `step`.

Both give `(state, Kept)` with NumPy rows (chain, draw, ...), use the same keys, and are driven, saved and resumed
alike.
"""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple, Protocol

import jax
import numpy as np
from jax import Array

from orthodrome.run import parallel
from orthodrome.run.loop import Kept, advance, chain_key, keep

BUFFER_BYTES = 16_000_000
LONGEST_BUFFER = 8192


class Engine(Protocol):
    """What the run needs: a way to place a state, and a way forward."""

    @property
    def length(self) -> int:
        """The longest chunk."""
        ...

    def place(self, state: Any) -> Any:
        """A state (fresh, or read from disk) where the chains run."""
        ...

    def advance(self, sampler: Any, state: Any, first_step: int, count: int, thin: int) -> tuple[Any, Kept]:
        """All chains by `count` draws."""
        ...

    def program(self, sampler: Any, state: Any) -> str:
        """The text of what `advance` runs, for the fingerprint."""
        ...


def buffer_length(bytes_per_draw: int) -> int:
    """A power of two, so that a run of another length finds the same program."""
    rows = max(1, min(LONGEST_BUFFER, BUFFER_BYTES // max(1, bytes_per_draw)))
    return 1 << (rows.bit_length() - 1)


class CompiledEngine(NamedTuple):
    """vmap over chains, split over the devices of a mesh."""

    key: Array
    chains: Array
    mesh: Any
    length: int

    def place(self, state: Any) -> Any:
        return parallel.place_chains(state, self.mesh)

    def advance(self, sampler: Any, state: Any, first_step: int, count: int, thin: int) -> tuple[Any, Kept]:
        state, rows = self._call(advance, sampler, state, first_step, count, thin)
        return state, jax.tree.map(lambda row: np.asarray(row)[:, :count], rows)

    def program(self, sampler: Any, state: Any) -> str:
        return str(self._call(advance.lower, sampler, state, 0, 1, 1).as_text())

    def _call(self, function: Any, sampler: Any, state: Any, first_step: int, count: int, thin: int) -> Any:
        numbers = np.uint32(first_step), np.uint32(count)
        return function(sampler, self.key, self.chains, state, *numbers, length=self.length, thin=thin, mesh=self.mesh)


class PythonEngine(NamedTuple):
    """One chain after the other, one transition at a time; the state is a list with one entry per chain."""

    key: Array
    num_chains: int
    length: int

    def place(self, state: Any) -> Any:
        return state

    def advance(self, sampler: Any, state: Any, first_step: int, count: int, thin: int) -> tuple[Any, Kept]:
        rows: list[list[Kept]] = [[] for _ in range(self.num_chains)]
        for chain in range(self.num_chains):
            for i in range(count):
                state[chain], kept = self._draw(sampler, chain, state[chain], first_step + i * thin, thin)
                rows[chain].append(kept)
        stack = partial(jax.tree.map, lambda *leaves: np.stack(leaves))
        return state, stack(*[stack(*row) for row in rows])

    def program(self, sampler: Any, state: Any) -> str:
        return f"{jax.tree.structure(sampler)} {jax.tree.structure(state)}"

    def _draw(self, sampler: Any, chain: int, state: Any, first_step: int, thin: int) -> tuple[Any, Kept]:
        flags = []
        for t in range(first_step, first_step + thin):
            state, info = sampler.step(_step_key(self.key, np.uint32(chain), np.uint32(t)), state)
            flags.append(info)
        merged = jax.tree.map(_last_or_any, *flags)
        return state, jax.tree.map(np.array, keep(sampler, state, merged))


_step_key = jax.jit(chain_key)


def _last_or_any(*values: Any) -> Any:
    return np.any(values) if np.asarray(values[-1]).dtype == np.bool_ else values[-1]


def new_engine(sampler: Any, key: Array, num_chains: int, mesh: Any, bytes_per_draw: int) -> Engine:
    """The engine that suits the sampler."""
    length = buffer_length(bytes_per_draw * num_chains)
    if not sampler.compiled:
        return PythonEngine(key, num_chains, length)
    chains = parallel.place_chains(np.arange(num_chains, dtype=np.uint32), mesh)
    return CompiledEngine(parallel.place_copies(key, mesh), chains, mesh, length)
