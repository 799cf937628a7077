"""A sampler on a stream of batches: data larger than memory.

Before every transition the next batch is put where the sampler's `BatchGradient` finds it. Python drives the loop,
one compiled step at a time. Inside one transition all kicks see the same batch; so use one word per transition and
`thin` in `sample`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import Array

from orthodrome.core.programs import keeps_programs
from orthodrome.core.pytree import pytree, replace, static
from orthodrome.core.types import Info, State, Tree
from orthodrome.gradients.stream import next_batch
from orthodrome.samplers.contract import Holder, StochasticSampler


class StreamedState(NamedTuple):
    """The state of the sampler inside, and the number of batches taken."""

    inner: State
    taken: Array

    @property
    def position(self) -> Tree:
        """The embedded position."""
        return self.inner.position


@pytree
class Streamed(Holder):
    """A sampler that is given its data batch by batch, for data larger than memory.

    Python drives the loop; all kicks of one transition see the same batch.

    sampler: one whose gradient is a `BatchGradient`
    stream: an iterator of batches, or a function of the batch's number (then a resumed run sees the same batches)
    compiled: whether JAX compiles `step`; otherwise Python calls it
    """

    sampler: StochasticSampler
    stream: Iterator[Tree] | Callable[[int], Tree] = static()
    compiled: bool = static(default=False)

    @property
    def learns(self) -> frozenset[str]:
        """What the sampler inside leaves unset, which no tuner learns: see `problem`."""
        return self.sampler.learns

    def problem(self) -> str | None:
        """Return why the settings are invalid, or None."""
        inside, learns = type(self.sampler).__name__, self.learns
        if learns:
            name = "friction" if "step" not in learns else "step_size"
            return f"{inside} inside has no {name}; nothing is learnt from a stream: set it"
        return None

    def resume_problem(self) -> str | None:
        """Return why a stream cannot be resumed: an iterator cannot go back to the batch of a checkpoint; None if it
        can."""
        if callable(self.stream):
            return None
        return "an iterator cannot go back to its place; give a function of the batch's number, stream(i) -> batch"

    def init(self, position: Tree, key: Array | None = None) -> StreamedState:
        """Return the state at an embedded position."""
        return StreamedState(_init(self.sampler, position, key), jnp.zeros((), jnp.int32))

    def step(self, key: Array, state: StreamedState) -> tuple[StreamedState, Info]:
        """Make one transition with the next batch."""
        batch = next_batch(self.stream, int(state.taken))
        inner, info = _step(self.sampler, batch, key, state.inner)
        return StreamedState(inner, state.taken + 1), info


_init = keeps_programs(jax.jit(lambda sampler, position, key: sampler.init(position, key)))


@keeps_programs
@jax.jit
def _step(sampler: StochasticSampler, batch: Tree, key: Array, state: State) -> tuple[State, Info]:
    target = replace(sampler.gradient.target, data=batch)
    return replace(sampler, gradient=replace(sampler.gradient, target=target)).step(key, state)
