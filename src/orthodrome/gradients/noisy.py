"""Gradients that are changed on purpose: with noise of known V added, or at another temperature."""

from __future__ import annotations

import abc
from typing import Any

import jax
import jax.numpy as jnp
from jax import Array

from orthodrome.core import trees
from orthodrome.core.pytree import pytree, static
from orthodrome.core.types import Key, Memory, Noise, Setting, Tree
from orthodrome.gradients.estimator import Estimate, GradientEstimator
from orthodrome.linear.noise import FullNoise, LowRankNoise, is_noise
from orthodrome.manifolds.manifold import Manifold
from orthodrome.targets import ManifoldLaw


class ChangedGradient(abc.ABC):
    """An estimator that changes what another says."""

    gradient: GradientEstimator

    @property
    def target(self) -> ManifoldLaw:
        """The law of the estimator inside."""
        return self.gradient.target

    @property
    def manifold(self) -> Manifold:
        """The manifold of the target."""
        return self.gradient.manifold

    def init(self, x: Tree) -> Memory:
        """What the estimator inside remembers."""
        return self.gradient.init(x)

    @abc.abstractmethod
    def estimate(self, key: Key, x: Tree, memory: Memory) -> tuple[Estimate, Memory]:
        """The estimate inside, changed."""


@pytree
class NoisyGradient(ChangedGradient):
    """An estimator with N(0, variance I) added to its ambient gradient: the greenhouse of Liu et al., section 5.1.

    variance: a number, or one per leaf; told: whether the sampler is told of it, as V
    """

    gradient: GradientEstimator
    variance: Setting
    told: bool = static(default=True)

    def estimate(self, key: Key, x: Tree, memory: Memory) -> tuple[Estimate, Memory]:
        """The estimate inside, corrupted."""
        inner_key, noise_key = jax.random.split(key)
        estimate, memory = self.gradient.estimate(inner_key, x, memory)
        variance = _variance_per_leaf(self.variance, x)
        added = jax.tree.map(lambda z, v: jnp.sqrt(v) * z, trees.normal_like(noise_key, x), variance)
        noise = variance if self.told else estimate.noise
        return estimate._replace(gradient=trees.add(estimate.gradient, added), noise=noise), memory


def _variance_per_leaf(variance: Any, x: Tree) -> Tree:
    if jax.tree_util.treedef_is_leaf(jax.tree.structure(variance)):
        return jax.tree.map(lambda a: jnp.asarray(variance, a.dtype), x)
    return jax.tree.map(lambda v, a: jnp.asarray(v, a.dtype), variance, x)


@pytree
class TemperedGradient(ChangedGradient):
    """The law pi_H^(1/temperature): log density and gradient over the temperature, V over its square."""

    gradient: GradientEstimator
    temperature: Setting

    def estimate(self, key: Key, x: Tree, memory: Memory) -> tuple[Estimate, Memory]:
        """The estimate inside, tempered."""
        estimate, memory = self.gradient.estimate(key, x, memory)
        by = 1 / jnp.asarray(self.temperature, estimate.logdensity.dtype)
        noise = jax.tree.map(lambda v: _weaker(v, by), estimate.noise, is_leaf=is_noise)
        logdensity, gradient = by * estimate.logdensity, trees.scale(by, estimate.gradient)
        return Estimate(logdensity, gradient, noise, estimate.statistics), memory


def _weaker(noise: Noise, by: Array) -> Any:
    if noise is None:
        return None
    if isinstance(noise, FullNoise):
        return FullNoise(by**2 * noise.matrix)
    if isinstance(noise, LowRankNoise):
        return LowRankNoise(by * noise.factor, by**2 * noise.diagonal)
    return by**2 * noise
