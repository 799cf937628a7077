"""A sampler on a stream of batches: data larger than memory.

Before every transition the next batch is put where the sampler's `BatchGradient` finds it. Python drives the loop,
one compiled step at a time. Inside one transition all kicks see the same batch; so use one word per transition and
`thin` in `sample`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import Array

from orthodrome.core.pytree import pytree, replace, static
from orthodrome.core.types import Tree
from orthodrome.gradients.stream import next_batch
from orthodrome.manifolds.manifold import Manifold


class StreamedState(NamedTuple):
    """The state of the sampler inside, and the number of batches taken."""

    inner: Any
    taken: Array

    @property
    def position(self) -> Tree:
        """The embedded position."""
        return self.inner.position


@pytree
class Streamed:
    """A sampler that is fed batch by batch.

    sampler: one whose gradient is a `BatchGradient`
    stream: an iterator of batches, or a function of the batch's number (then a resumed run sees the same batches)
    """

    sampler: Any
    stream: Iterator[Tree] | Callable[[int], Tree] = static()
    compiled: bool = static(default=False)

    @property
    def manifold(self) -> Manifold:
        """The space of the position."""
        return self.sampler.manifold

    def problem(self) -> str | None:
        """What the doors should refuse."""
        if self.sampler.step_size is None:
            return f"{type(self.sampler).__name__} inside has no step_size; nothing is learnt from a stream: set it"
        return None

    def expected_temperature(self, position: Tree) -> Array:
        """That of the sampler inside."""
        return self.sampler.expected_temperature(position)

    def resume_problem(self) -> str | None:
        """An iterator cannot go back to where a checkpoint was."""
        if callable(self.stream):
            return None
        return "an iterator cannot go back to its place; give a function of the batch's number, stream(i) -> batch"

    def init(self, position: Tree, key: Array | None = None) -> StreamedState:
        """At an embedded position."""
        return StreamedState(_init(self.sampler, position, key), jnp.zeros((), jnp.int32))

    def step(self, key: Array, state: StreamedState) -> tuple[StreamedState, Any]:
        """One transition with the next batch."""
        batch = next_batch(self.stream, int(state.taken))
        inner, info = _step(self.sampler, batch, key, state.inner)
        return StreamedState(inner, state.taken + 1), info


_init = jax.jit(lambda sampler, position, key: sampler.init(position, key))


@jax.jit
def _step(sampler: Any, batch: Tree, key: Array, state: Any) -> tuple[Any, Any]:
    target = replace(sampler.gradient.target, data=batch)
    return replace(sampler, gradient=replace(sampler.gradient, target=target)).step(key, state)
