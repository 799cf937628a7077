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

from orthodrome.core.pytree import pytree, replace, static
from orthodrome.core.types import Setting, Tree
from orthodrome.dynamics.flat import FlatInfo
from orthodrome.dynamics.ingredients import Ingredients
from orthodrome.dynamics.ingredients.langevin import LANGEVIN
from orthodrome.dynamics.langevin import LangevinState, langevin_step
from orthodrome.gradients.estimator import Estimate, GradientEstimator
from orthodrome.linear import leaves
from orthodrome.samplers.learnt import Measured
from orthodrome.samplers.stochastic.flat import FlatSampler


@pytree
class SGLD(FlatSampler):
    """Stochastic gradient Langevin dynamics on flat spaces (Welling & Teh 2011).

        x <- x + epsilon D g + N(0, epsilon (2 D - epsilon D V D)),

    where g is the estimate of grad log pi and V, if the estimator knows it, the covariance of its error. The bias is
    of order epsilon.

    gradient: any estimator
    step_size: epsilon in Ma et al. (half that of Welling & Teh); a number, or a tree with one per leaf or element;
        None: learnt in warm-up
    preconditioner: D; a number, an array of the leaf's shape, `Dense` or `LowRank`; one for all leaves or one per leaf;
        None: 1, and the warm-up learns a step for every element
    compiled: whether JAX compiles `step`; otherwise Python calls it
    """

    gradient: GradientEstimator
    step_size: Setting = None
    preconditioner: Setting = None
    compiled: bool = static(default=True)

    @property
    def matrices(self) -> tuple[Any, ...]:
        """The settings that may hold matrices: D."""
        return (self.preconditioner,)

    @property
    def learns_units(self) -> bool:
        """Whether the warm-up learns the units of the leaves: only if no preconditioner is set."""
        return self.preconditioner is None

    def problem(self) -> str | None:
        """Return why the settings are invalid, or None."""
        several = any(jnp.ndim(step) > 0 for step in jax.tree.leaves(self.step_size))
        if several and leaves.any_map(self.preconditioner):
            return "steps per element would make the preconditioner h D asymmetric; give one step per leaf"
        return None

    def noise_heat(self, position: Tree) -> Tree | None:
        """Return h D / 2."""
        if leaves.any_map(self.preconditioner):
            return None
        h, d = (leaves.spread(a, position) for a in (self.step_size, leaves.one_if_none(self.preconditioner)))
        return jax.tree.map(lambda h, d: h * d / 2, h, d)

    def inverse_metric_at(self, position: Tree, estimate: Estimate) -> Tree:
        """Return D."""
        return leaves.spread(self.preconditioner, position)

    def tuned(self, measured: Measured) -> SGLD:
        """Return the sampler with one step if D is set, otherwise with a step for every element, times the square of
        its unit."""
        step = measured.first_order()
        squares = lambda u: step.astype(u.dtype) * u**2
        return replace(self, step_size=jax.tree.map(squares, measured.units) if self.learns_units else step)

    def ingredients(self) -> Ingredients:
        """Return H, D and Q."""
        return LANGEVIN

    def init(self, position: Tree, key: Array | None = None) -> LangevinState:
        """Return the state at a position."""
        return LangevinState(position, self.gradient.init(position))

    def step(self, key: Array, state: LangevinState) -> tuple[LangevinState, FlatInfo]:
        """Take one step of Eq. (13), with the noise of Eq. (9)."""
        gradient_key, noise_key = jax.random.split(key)
        x = state.position
        estimate, memory = self.gradient.estimate(gradient_key, x, state.memory)
        diffusion = leaves.spread(leaves.one_if_none(self.preconditioner), x)
        nothing = jax.tree.map(jnp.zeros_like, x)
        x, info = langevin_step(noise_key, self.manifold, x, estimate, diffusion, nothing, self.step_size)
        return LangevinState(x, memory), info
