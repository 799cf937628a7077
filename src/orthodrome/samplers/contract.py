"""The contract of every sampler: BlackJAX's `init` and `step`.

A sampler is a configured object (see `pytree`) and an argument of the compiled loop. `State` is a NamedTuple with a
field `position` (embedded); `Info` is a NamedTuple of a few numbers of fixed shape, with ArviZ's names where it has
one. The key is never stored in a state; `step` splits it once, at its top, into named keys.

A sampler with `compiled = False` is stepped from Python (numba kernels, streams of data); see `PythonSampler`.

`tuned(...)` is how `Adapted` sets what it has learnt; a sampler says in `tunes` what it wants to have learnt.
"""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable

from jax import Array

from orthodrome.core.types import Tree
from orthodrome.manifolds.manifold import Manifold


@runtime_checkable
class Sampler(Protocol):
    """init and step; compiled says whether `step` may be traced by JAX."""

    compiled: bool

    @property
    def manifold(self) -> Manifold:
        """The space of the position."""
        ...

    def init(self, position: Tree, key: Array | None = None) -> Any:
        """The state at an embedded position."""
        ...

    def step(self, key: Array, state: Any) -> tuple[Any, Any]:
        """One transition."""
        ...


class PythonSampler(Sampler, Protocol):
    """A sampler that Python steps: `compiled` is False, and the state is a NamedTuple of NumPy arrays and numbers.

    - The loop owns the state. `step` may change its arrays in place and return them, so large buffers are never
      copied; shapes and dtypes stay as `init` made them, because a checkpoint is read into them. Whoever keeps a
      state over a step copies it.
    - Random numbers follow from the key alone: `random.keys.seed_of(key)` is the seed for a compiled kernel.
    - `init(None, key)` makes a start of its own (`sample(sampler, None, ...)`), if the sampler can.
    - A sampler that tunes itself has a field `num_warmup`, which is then the length of the warm-up, and counts its
      transitions in its state: `step` tunes as long as the count is below it. The sampler does not change, and what
      was learnt is in the state.
    - `manifold` is that of `state.position`, or None if there is none to be far from.
    - `draw(state)` may be left out; then the position in the user's coordinates is kept.
    """

    def draw(self, state: Any) -> Tree:
        """Return what is kept of a state: a tree with named leaves in the user's coordinates, copied by the loop."""
        ...
