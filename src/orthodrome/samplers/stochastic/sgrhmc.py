"""Stochastic gradient Riemannian Hamiltonian Monte Carlo (Ma, Chen & Fox 2015, Algorithm 1).

With any root S(x) of the inverse metric, S S' = G^-1,

    r <- r + h [S' g + div S' - S'S r] + S' N(0, h (2 - h V)),     (div S')_i = sum_j d_j S_ji
    x <- x + h S r

with the new r in the second line (erratum 004-12). The recipe with z = (x, r), H = U + r.r / 2, D = diag(0, S'S)
and Q = ((0, -S), (S', 0)); with a symmetric S it is the paper's. Algorithm 1 has the right signs, Eq. (17) has two
wrong ones (erratum 004-3). Without div S' it is the naive sampler of Eq. (16), which does not keep the law. As the
noise of the gradient comes in through S', what is left to add does too, and the clipping does not depend on the
metric.

For the Fisher metric the paper calls it SGRHMC, for any other positive definite G gSGRHMC.
"""

from __future__ import annotations

from typing import ClassVar

import jax
import jax.numpy as jnp
from jax import Array

from orthodrome.core import trees
from orthodrome.core.pytree import pytree, replace, static
from orthodrome.core.types import Setting, Tree
from orthodrome.dynamics.flat import MetricInfo, bounced
from orthodrome.dynamics.ingredients import Ingredients
from orthodrome.dynamics.ingredients.momentum import of_riemannian_hmc
from orthodrome.dynamics.leapfrog import largest_step
from orthodrome.dynamics.momentum import MomentumState, first_momentum, no_count, refreshed
from orthodrome.gradients.estimator import GradientEstimator
from orthodrome.linear import leaves, maps
from orthodrome.linear.noise import injected_noise
from orthodrome.metrics.inverse_metric import PositionMetric
from orthodrome.samplers.learnt import EULER, Measured
from orthodrome.samplers.stochastic.metric_sampler import MetricSampler


@pytree
class SGRHMC(MetricSampler):
    """Stochastic gradient Riemannian HMC: Hamiltonian dynamics with a metric and friction, on flat coordinates.

    With a root S of the inverse metric, S S' = G^-1 (Ma, Chen & Fox 2015, Algorithm 1),

        r <- r + epsilon [S' g + div S' - S'S r] + S' N(0, epsilon (2 - epsilon V)),     x <- x + epsilon S r,

    where (div S')_i = sum_j d_j S_ji, g is the estimate of grad log pi and V, if the estimator knows it, the
    covariance of its error.

    gradient: any estimator
    metric: `InverseMetric(x -> G^-1(x))`, `LocalMetric(x -> G(x))`, `FisherMetric(posterior)`, or `PotentialMetric()`
    step_size: epsilon; a number, or a tree with one per leaf; None: learnt in warm-up
    refresh_every: the number of transitions after which the momentum is drawn anew; None: never
    compiled: whether JAX compiles `step`; otherwise Python calls it
    """

    has_momentum: ClassVar[bool] = True

    gradient: GradientEstimator
    metric: PositionMetric
    step_size: Setting = None
    refresh_every: int | None = static(default=None)
    compiled: bool = static(default=True)

    def noise_heat(self, position: Tree) -> Tree | None:
        """h / 2, whatever the metric."""
        return leaves.scaled(leaves.spread(self.step_size, position), 0.5)

    def tuned(self, measured: Measured) -> SGRHMC:
        """Return the sampler with one step.

        Friction and noise both act through the metric, which therefore cancels from the rise of the temperature, h V /
        2.
        """
        by_noise = 2 * measured.share / jnp.maximum(measured.raw_noise, 1e-30)
        stable = EULER / jnp.maximum(measured.rate, measured.stretch)
        return replace(self, step_size=jnp.minimum(stable, by_noise))

    def ingredients(self) -> Ingredients:
        """Return H, D and Q."""
        return of_riemannian_hmc(self.refresh_every)

    def init(self, position: Tree, key: Array | None = None) -> MomentumState:
        """Return the state at a position, with a random momentum (at rest without a key)."""
        return MomentumState(position, first_momentum(key, position), self.gradient.init(position), no_count())

    def step(self, key: Array, state: MomentumState) -> tuple[MomentumState, MetricInfo]:
        """Take one step of Algorithm 1, the momentum first."""
        gradient_key, noise_key, probe_key, momentum_key = jax.random.split(key, 4)
        x, h = state.position, leaves.spread(self.step_size, state.position)
        draw = lambda k: trees.normal_like(k, x)
        r = refreshed(momentum_key, self.refresh_every, state.transitions, state.momentum, draw)
        estimate, memory = self.gradient.estimate(gradient_key, x, state.memory)
        S = self.metric.root(x, estimate)
        correction = self.metric.root_divergence(probe_key, x, estimate)
        noise, clipped = injected_noise(noise_key, h, 1.0, estimate.noise, x)
        velocity = leaves.over(maps.apply, S, r)
        push = jax.tree.map(lambda s, g, v, w: s * (g - v) + w, h, estimate.gradient, velocity, noise)
        push = leaves.over(maps.transposed, S, push)
        r = jax.tree.map(lambda r, p, s, c: r + p + s * c, r, push, h, correction)
        temperature = trees.dot(r, r) / trees.size(x)
        velocity = leaves.over(maps.apply, S, r)
        x, r = bounced(self.manifold, x, jax.tree.map(lambda s, v: s * v, h, velocity), r)
        indefinite = leaves.indefinite(self.metric.inverse(state.position, estimate))
        info = MetricInfo(estimate.logdensity, temperature, largest_step(self.step_size), clipped, indefinite)
        return MomentumState(x, r, memory, state.transitions + 1), info
