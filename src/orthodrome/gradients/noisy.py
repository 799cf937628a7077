"""Estimators that change another one: with noise of known covariance V added, or at another temperature."""

from __future__ import annotations

import abc

import jax
import jax.numpy as jnp

from orthodrome.core import trees
from orthodrome.core.pytree import pytree, static
from orthodrome.core.types import Key, Memory, Setting, Tree
from orthodrome.gradients.estimator import Estimate, GradientEstimator
from orthodrome.linear import leaves, maps
from orthodrome.manifolds.manifold import Manifold
from orthodrome.targets import ManifoldLaw


class ChangedGradient(abc.ABC):
    """The base of estimators that change the estimates of another one."""

    gradient: GradientEstimator

    @property
    def target(self) -> ManifoldLaw:
        """The target of the inner estimator."""
        return self.gradient.target

    @property
    def manifold(self) -> Manifold:
        """The manifold of the target."""
        return self.gradient.manifold

    def init(self, x: Tree) -> Memory:
        """Return the memory of the inner estimator."""
        return self.gradient.init(x)

    @abc.abstractmethod
    def estimate(self, key: Key, x: Tree, memory: Memory) -> tuple[Estimate, Memory]:
        """Return the changed estimate of the inner estimator, and its next memory."""


@pytree
class NoisyGradient(ChangedGradient):
    """An estimator with N(0, V) added to its ambient gradient: the experiments of Liu et al. (2016), section 5.1.

    variance: V; a number, an array of the leaf's shape, `Dense` or `LowRank`; one for all leaves or one per leaf
    told: whether the sampler knows V
    """

    gradient: GradientEstimator
    variance: Setting
    told: bool = static(default=True)

    def estimate(self, key: Key, x: Tree, memory: Memory) -> tuple[Estimate, Memory]:
        """Return the estimate of the inner estimator with noise added, and its next memory."""
        inner_key, noise_key = jax.random.split(key)
        estimate, memory = self.gradient.estimate(inner_key, x, memory)
        variance = leaves.spread(self.variance, x)
        added = leaves.over(lambda v, z: maps.apply(maps.root(v), z), variance, trees.normal_like(noise_key, x))
        noise = variance if self.told else estimate.noise
        return estimate._replace(gradient=trees.add(estimate.gradient, added), noise=noise), memory


@pytree
class TemperedGradient(ChangedGradient):
    """The law pi_H^(1/temperature): log density and gradient are divided by the temperature, V by its square."""

    gradient: GradientEstimator
    temperature: Setting

    def estimate(self, key: Key, x: Tree, memory: Memory) -> tuple[Estimate, Memory]:
        """Return the tempered estimate of the inner estimator, and its next memory."""
        estimate, memory = self.gradient.estimate(key, x, memory)
        by = 1 / jnp.asarray(self.temperature, estimate.logdensity.dtype)
        noise = leaves.scaled(estimate.noise, by**2)
        logdensity, gradient = by * estimate.logdensity, trees.scale(by, estimate.gradient)
        return Estimate(logdensity, gradient, noise, estimate.statistics), memory
