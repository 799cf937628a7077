"""The contracts of samplers whose stationary distribution is exact.

`Tempering` holds them and `Adapted` tunes them: it reads the facts `learns` and `target_acceptance`, and passes what it
has learnt to `tuned`.
"""

from __future__ import annotations

import abc
from typing import ClassVar, Self

from jax import Array

from orthodrome.core.pytree import replace
from orthodrome.core.types import Info, Number, State, Tree
from orthodrome.dynamics.leapfrog import Point
from orthodrome.gradients.estimator import GradientEstimator
from orthodrome.gradients.noisy import TemperedGradient
from orthodrome.manifolds.manifold import Manifold
from orthodrome.samplers.contract.sampler import NOTHING, SteppedSampler
from orthodrome.samplers.learnt import Learnt


class ExactSampler(SteppedSampler):
    """A sampler whose stationary distribution is exact.

    Its states have a `position`, its `logdensity`, and its `gradient` (or None).
    """

    blind: ClassVar[bool] = False
    """Whether it has no gradients, so that the warm-up knows the scales from its draws and densities alone."""

    @property
    def adjusted(self) -> bool:
        """Whether the stationary distribution is exact at any setting, by a Metropolis test or exact conditionals."""
        return True

    @property
    def target_acceptance(self) -> float:
        """The mean acceptance rate that dual averaging aims at."""
        return 0.8

    @property
    def learns(self) -> frozenset[str]:
        """The step size if it is not set, with the units of the leaves in which it is measured."""
        return frozenset({"step", "units"}) if self.step_size is None else NOTHING

    def tuned(self, learnt: Learnt) -> Self:
        """Return the sampler with what the warm-up has learnt."""
        return replace(self, step_size=learnt.step_size)


class ExactGradientSampler(ExactSampler):
    """An exact sampler that follows the exact gradient of the log density."""

    gradient: GradientEstimator

    @property
    def manifold(self) -> Manifold:
        """The manifold of the position."""
        return self.gradient.manifold

    def at_temperature(self, beta: Number) -> Self:
        """Return the sampler of pi_H^beta, beta being the inverse temperature."""
        return replace(self, gradient=TemperedGradient(self.gradient, 1 / beta))


class TrajectorySampler(ExactGradientSampler):
    """An exact sampler along leapfrog trajectories.

    If "length" is in `learns`, the warm-up learns the length of the trajectories (`trajectory_length`).
    """

    @abc.abstractmethod
    def steps(self, state: State) -> Tree:
        """Return the tree of steps of the next trajectory."""

    @abc.abstractmethod
    def decide(self, key: Array, state: State, start: Point, end: Point, num_steps: Array) -> tuple[State, Info]:
        """Accept or reject the end of a trajectory of `num_steps` steps."""
