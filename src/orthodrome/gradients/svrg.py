"""Differences from an anchor that follows the chain: stochastic variance reduced gradients (Dubey et al. 2016).

As `ControlVariate`, but every `period` estimates the anchor moves to where the chain is and the gradient of all rows
is computed there. No mode is needed beforehand; the price is N/period rows per estimate.
"""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import Array

from orthodrome.core.pytree import pytree, static
from orthodrome.core.types import Key, Memory, Setting, Tree
from orthodrome.gradients.control_variate import Anchor, anchor_at, difference_estimate
from orthodrome.gradients.estimator import Estimate
from orthodrome.gradients.minibatch import RowGradient
from orthodrome.gradients.noise_models import NoiseModel, NoNoise
from orthodrome.targets import Posterior


class SVRGMemory(NamedTuple):
    """The anchor, the number of estimates that have used it, and the memory of the noise model."""

    anchor: Anchor
    age: Array
    noise: Memory


@pytree
class SVRG(RowGradient):
    """Minibatches of differences from an anchor that is renewed regularly.

    target: a `Posterior`
    batch_size, replace, noise: as in `Minibatch`
    period: the number of estimates between renewals
    """

    target: Posterior
    batch_size: int = static()
    period: Setting = 100
    replace: bool = static(default=False)
    noise: NoiseModel = NoNoise()

    def problem(self) -> str | None:
        """Return why the settings are invalid, or None."""
        if not (self.period >= 1 and self.period % 1 == 0):
            return f"period is {self.period}; it must be a whole number of at least 1"
        return super().problem()

    def init(self, x: Tree) -> SVRGMemory:
        """Return a memory with the anchor at x."""
        return SVRGMemory(anchor_at(self.target, x), jnp.zeros((), jnp.int32), self.noise.init(self.manifold, x))

    def estimate(self, key: Key, x: Tree, memory: SVRGMemory) -> tuple[Estimate, SVRGMemory]:
        """Return an estimate from a new batch, after moving the anchor to x if its period is over."""
        anchor, age = self._renewed(x, memory)
        _, batch = self.draw(key)
        estimate, noise = difference_estimate(self.target, self.noise, batch, x, anchor, memory.noise, self.replace)
        return estimate, SVRGMemory(anchor, age + 1, noise)

    def _renewed(self, x: Tree, memory: SVRGMemory) -> tuple[Anchor, Array]:
        # A loop of at most one round, not a `cond`: under vmap a `cond` would compute all rows at every step.
        def renew(carry: tuple[Anchor, Array]) -> tuple[Anchor, Array]:
            return anchor_at(self.target, x), jnp.zeros_like(memory.age)

        return jax.lax.while_loop(lambda carry: carry[1] >= self.period, renew, (memory.anchor, memory.age))
