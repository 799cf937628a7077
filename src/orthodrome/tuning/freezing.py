"""The tuned sampler at the end of a warm-up: its new settings come from one program, and its data stay where they are.

Computed operation by operation, the settings would be some fifty small programs, which take seconds to compile; as the
result of a compiled function, the sampler would hold a copy of its data. So the function returns the leaves that are
new, and the others are taken from the sampler itself.
"""

from __future__ import annotations

import abc
from typing import Any

import jax

from orthodrome.core.programs import keeps_programs
from orthodrome.core.types import State
from orthodrome.samplers.contract import Sampler
from orthodrome.tuning.tuner import Tuner


class TracedTuner(Tuner):
    """A tuner whose tuned sampler is a function of the last state that JAX can trace."""

    @abc.abstractmethod
    def at_end(self, state: State) -> Sampler:
        """Return the tuned sampler from the state of all chains."""

    def freeze(self, state: State) -> Any:
        """Return the tuned sampler, shared by all chains, from the last state of the warm-up of all chains."""
        kept: list[Any] = []

        def traced(state: State) -> None:
            leaves, structure = jax.tree.flatten(self.at_end(state))
            kept.extend([structure, [None if isinstance(leaf, jax.core.Tracer) else leaf for leaf in leaves]])

        jax.eval_shape(traced, state)
        structure, old = kept
        new = _new_leaves(self, state)
        return jax.tree.unflatten(structure, [b if a is None else a for a, b in zip(old, new, strict=True)])

    def outline(self, state: State) -> Any:
        """Return the sampler that `freeze` will return, with shapes in place of arrays."""
        return jax.eval_shape(self.at_end, state)


@keeps_programs
@jax.jit
def _new_leaves(tuner: TracedTuner, state: State) -> list[Any]:
    """Return the leaves of the tuned sampler; None for those that the sampler has already."""
    before = jax.tree.leaves(tuner.sampler)
    return [None if any(leaf is old for old in before) else leaf for leaf in jax.tree.leaves(tuner.at_end(state))]
