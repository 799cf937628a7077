"""The contract of samplers that draw exact transitions of a diffusion with estimated parameters."""

from __future__ import annotations

import abc
from typing import Self

from orthodrome.core.pytree import replace
from orthodrome.core.types import Number, Tree
from orthodrome.errors import Unsupported
from orthodrome.gradients.estimator import Estimate, GradientEstimator
from orthodrome.manifolds.manifold import Manifold
from orthodrome.samplers.contract.sampler import NOTHING, SteppedSampler
from orthodrome.samplers.learnt import Learnt


class DiffusionSampler(SteppedSampler):
    """A sampler that draws exact transitions of a diffusion whose parameters a minibatch estimates.

    Its only error is the noise of these estimates: it inflates the variance of the draws by the share
    tanh(h / 2) Var[a_hat] / Var[stationary law], which is what the warm-up keeps small.
    """

    gradient: GradientEstimator

    @property
    def manifold(self) -> Manifold:
        """The space of the position."""
        return self.gradient.manifold

    @property
    def learns(self) -> frozenset[str]:
        """The step size if it is not set."""
        return frozenset({"step"}) if self.step_size is None else NOTHING

    @abc.abstractmethod
    def noise_and_spread(self, one: Estimate, other: Estimate) -> tuple[Tree, Tree]:
        """Return, for each leaf, an estimate of Var[a_hat] from two independent estimates at one position, and the
        variance of the stationary law, both summed over the elements."""

    def tuned(self, learnt: Learnt) -> Self:
        """Return the sampler with what the warm-up has learnt."""
        return replace(self, step_size=learnt.step_size)

    def at_temperature(self, beta: Number) -> Self:
        """Raise Unsupported: the conditional law to a power is not what the counts estimate."""
        raise Unsupported(
            f"{type(self).__name__} draws exact transitions to one law and cannot be heated; schedule its step size "
            "alone, or use SGGMC with the same estimator"
        )
