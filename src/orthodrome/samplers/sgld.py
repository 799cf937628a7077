"""Stochastic gradient Langevin dynamics (Welling & Teh 2011; Eq. 13 of Ma, Chen & Fox 2015).

    x <- x + h D g + N(0, h (2 D - h D V D))

The recipe with z = x, a constant D and Q = 0. g is the gradient of the log density from a minibatch; V, if the
estimator knows it, is taken out of the noise (Eq. 9). On `Positive` the step is reflected. The bias is of order h.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
from jax import Array

import orthodrome.samplers.leaf_matrix as leaf_matrix
from orthodrome.gradients.estimator import GradientEstimator
from orthodrome.manifolds.manifold import Manifold, Tree
from orthodrome.pytree import pytree, static
from orthodrome.samplers.flat import FlatInfo, no_step, refusal
from orthodrome.samplers.langevin import LangevinState, langevin_step


@pytree
class SGLD:
    """Langevin dynamics on flat spaces.

    gradient: an estimator
    step_size: epsilon in Ma et al. (half that of Welling & Teh); a number, or a tree with one per leaf or element
    preconditioner: D; a number, an array of the leaf's shape, or a `LeafMatrix`; one for all leaves or one per leaf
    """

    gradient: GradientEstimator
    step_size: Any = None
    preconditioner: Any = 1.0
    compiled: bool = static(default=True)

    @property
    def manifold(self) -> Manifold:
        """The space of the position."""
        return self.gradient.manifold

    def supports(self, manifold: Manifold) -> str | None:
        """Why it cannot work there, and what to use instead."""
        return refusal(manifold, self.step_size, self.preconditioner)

    def problem(self) -> str | None:
        """Settings that cannot be."""
        return no_step(self.step_size)

    def init(self, position: Tree, key: Array | None = None) -> LangevinState:
        """The state at a position."""
        return LangevinState(position, self.gradient.init(position))

    def step(self, key: Array, state: LangevinState) -> tuple[LangevinState, FlatInfo]:
        """Eq. (13), with the noise of Eq. (9)."""
        gradient_key, noise_key = jax.random.split(key)
        x = state.position
        estimate, memory = self.gradient.estimate(gradient_key, x, state.memory)
        diffusion = leaf_matrix.spread(self.preconditioner, x)
        nothing = jax.tree.map(jnp.zeros_like, x)
        x, info = langevin_step(noise_key, self.manifold, x, estimate, diffusion, nothing, self.step_size)
        return LangevinState(x, memory), info
