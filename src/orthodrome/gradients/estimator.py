"""The contract between samplers and data: an estimate of the log density and its ambient gradient.

A sampler asks for an estimate at x and does not care where it came from: all of the data, a minibatch, a control
variate, or a Monte Carlo average over latents. `memory` is what the estimator carries from step to step (nothing,
for most).
"""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from jax import Array

from orthodrome.core.types import Memory, Tree
from orthodrome.manifolds.manifold import Manifold
from orthodrome.targets import Estimate, ManifoldLaw

__all__ = ["Estimate", "GradientEstimator", "SelfChecking"]


@runtime_checkable
class SelfChecking(Protocol):
    """An estimator whose settings may not fit each other or the data."""

    def problem(self) -> str | None:
        """Return what is wrong with its settings, or None."""
        ...


@runtime_checkable
class GradientEstimator(Protocol):
    """The contract of estimators of the log density and its gradient."""

    @property
    def target(self) -> ManifoldLaw:
        """The target whose log density is estimated."""
        ...

    @property
    def manifold(self) -> Manifold:
        """The manifold of the target."""
        ...

    def init(self, x: Tree) -> Memory:
        """Return the memory before the first estimate."""
        ...

    def estimate(self, key: Array | None, x: Tree, memory: Memory) -> tuple[Estimate, Memory]:
        """Return an estimate at x and the next memory."""
        ...
