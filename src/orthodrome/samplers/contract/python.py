"""The contract of samplers that Python steps, for kernels and data that JAX does not compile."""

from __future__ import annotations

import abc

from orthodrome.core.types import State, Tree
from orthodrome.samplers.contract.sampler import Sampler


class PythonSampler(Sampler):
    """A sampler that Python steps: `compiled` is False, and the state is a NamedTuple of NumPy arrays and numbers.

    - The loop owns the state. `step` may change its arrays in place and return them, so large buffers are never
      copied; shapes and dtypes stay as `init` made them, because a checkpoint is read into them. Whoever keeps a
      state over a step copies it.
    - Random numbers follow from the key alone, which serves for nothing but `random.keys.seed_of(key)`, the seed of a
      compiled kernel: the loop draws the seeds of many transitions in one call and passes on a `DrawnSeed`.
    - `init(None, key)` makes a start of its own (`sample(sampler, None, ...)`), if the sampler can.
    - A sampler that tunes itself has a field `num_warmup`, which is then the length of the warm-up, and counts its
      transitions in its state: `step` tunes as long as the count is below it. The sampler does not change, and what
      was learnt is in the state.
    - `manifold` is that of `state.position`, or None if there is none to be far from.
    - `draw(state)` may be left out; then the position in the user's coordinates is kept.
    - `distance(state)` may say how far the position is from the manifold, where a call of JAX for every draw would cost
      more than the transition.
    """

    compiled: bool = False

    @property
    def num_warmup(self) -> int | None:
        """The length of the warm-up in which the sampler tunes itself; None: `sample` sets it."""
        return None

    @abc.abstractmethod
    def draw(self, state: State) -> Tree:
        """Return what is kept of a state: a tree with named leaves in the user's coordinates, copied by the loop."""
