"""The contract of samplers with stochastic gradients and no Metropolis test.

`StochasticAdapted` tunes them: it measures curvature and gradient noise in the warm-up, and passes them to `tuned`.
"""

from __future__ import annotations

import abc
from typing import ClassVar, Self

import jax.numpy as jnp
from jax import Array

from orthodrome.core.pytree import replace
from orthodrome.core.types import Number, State, Tree
from orthodrome.gradients.estimator import Estimate, GradientEstimator
from orthodrome.gradients.noisy import TemperedGradient
from orthodrome.manifolds.manifold import Manifold
from orthodrome.samplers.contract.sampler import NOTHING, SteppedSampler
from orthodrome.samplers.learnt import Measured


class StochasticSampler(SteppedSampler):
    """A sampler with stochastic gradients; `sample` tunes it where something is left unset."""

    has_momentum: ClassVar[bool] = False
    """Whether the dynamics is of second order: the step is a time, and the position moves by its square."""

    gradient: GradientEstimator

    @property
    def manifold(self) -> Manifold:
        """The manifold of the position."""
        return self.gradient.manifold

    @property
    def learns_units(self) -> bool:
        """Whether the warm-up learns the units of the leaves; otherwise the sampler has a metric of its own."""
        return True

    @property
    def learns(self) -> frozenset[str]:
        """The step size if it is not set, and the units if `learns_units`."""
        if self.step_size is not None:
            return NOTHING
        return frozenset({"step", "units"}) if self.learns_units else frozenset({"step"})

    @abc.abstractmethod
    def tuned(self, measured: Measured) -> Self:
        """Return the sampler with what the warm-up has learnt, where nothing was set."""

    def inverse_metric_at(self, position: Tree, estimate: Estimate) -> Tree:
        """Return the inverse of the sampler's own metric, if it does not learn units; one entry per leaf
        (`linear.leaves`)."""
        raise NotImplementedError

    def at_temperature(self, beta: Number) -> Self:
        """Return the sampler of pi_H^beta, beta being the inverse temperature."""
        return replace(self, gradient=TemperedGradient(self.gradient, 1 / beta))

    def bears_noise(self, told: bool) -> bool:
        """Return whether the sampler compensates for the noise of the gradient; `told`: whether the estimator states
        V."""
        return told

    def absorbs(self, diagonal: Array, dimension: int) -> Array:
        """Return the diagonal of the noise that the sampler makes up for by itself, whatever it is told, from the
        diagonal of what is there, in units in which its friction is the same everywhere."""
        return jnp.zeros_like(diagonal)

    def restarted(self, state: State) -> State:
        """Return the state without what a change of settings makes obsolete."""
        return state
