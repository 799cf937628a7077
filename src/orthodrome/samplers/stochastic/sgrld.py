"""Stochastic gradient Riemannian Langevin dynamics (Patterson & Teh 2013; Eq. 14 of Ma, Chen & Fox 2015).

    x <- x + h [D(x) g + Gamma(x)] + N(0, h (2 D - h D V D)),     D = G^-1,   Gamma_i = sum_j d_j D_ij

The recipe with z = x, D = G^-1(x) and Q = 0. The printed Eq. (14) has Gamma with the wrong sign (erratum 004-2): on
Gamma(a), with D = x, the drift must be a - x. On `Positive` the step is reflected, which with D = diag(x) is the
sampler of Patterson & Teh for the expanded-mean form of a simplex.
"""

from __future__ import annotations

import jax
from jax import Array

from orthodrome.core.pytree import pytree, replace, static
from orthodrome.core.types import Setting, Tree
from orthodrome.dynamics.flat import MetricInfo
from orthodrome.dynamics.ingredients import Ingredients
from orthodrome.dynamics.ingredients.langevin import RIEMANNIAN_LANGEVIN
from orthodrome.dynamics.langevin import LangevinState, langevin_step
from orthodrome.gradients.estimator import GradientEstimator
from orthodrome.linear import leaves
from orthodrome.metrics.inverse_metric import PositionMetric
from orthodrome.samplers.learnt import Measured
from orthodrome.samplers.stochastic.metric_sampler import MetricSampler


@pytree
class SGRLD(MetricSampler):
    """Stochastic gradient Riemannian Langevin dynamics, on flat coordinates (Patterson & Teh 2013).

        x <- x + epsilon [D(x) g + Gamma(x)] + N(0, epsilon (2 D - epsilon D V D)),     D = G^-1,

    where Gamma_i = sum_j d_j D_ij, g is the estimate of grad log pi and V, if the estimator knows it, the covariance
    of its error.

    gradient: any estimator
    metric: `InverseMetric(x -> G^-1(x))`, `LocalMetric(x -> G(x))`, `FisherMetric(posterior)`, or `PotentialMetric()`
    step_size: epsilon; a number, or a tree with one per leaf; None: learnt in warm-up
    compiled: whether JAX compiles `step`; otherwise Python calls it
    """

    gradient: GradientEstimator
    metric: PositionMetric
    step_size: Setting = None
    compiled: bool = static(default=True)

    def noise_heat(self, position: Tree) -> Tree | None:
        """h G^-1 / 2, where the position alone determines a diagonal G."""
        inverse = self.metric.inverse_alone(position)
        if inverse is None or leaves.any_map(inverse):
            return None
        return jax.tree.map(lambda h, d: h * d / 2, leaves.spread(self.step_size, position), inverse)

    def tuned(self, measured: Measured) -> SGRLD:
        """Return the sampler with one step."""
        return replace(self, step_size=measured.first_order())

    def ingredients(self) -> Ingredients:
        """Return H, D and Q."""
        return RIEMANNIAN_LANGEVIN

    def init(self, position: Tree, key: Array | None = None) -> LangevinState:
        """Return the state at a position."""
        return LangevinState(position, self.gradient.init(position))

    def step(self, key: Array, state: LangevinState) -> tuple[LangevinState, MetricInfo]:
        """Take one step of Eq. (14) with the right sign, and the noise of Eq. (9)."""
        gradient_key, noise_key, probe_key = jax.random.split(key, 3)
        x = state.position
        estimate, memory = self.gradient.estimate(gradient_key, x, state.memory)
        diffusion = self.metric.inverse(x, estimate)
        correction = self.metric.inverse_divergence(probe_key, x, estimate)
        x, info = langevin_step(noise_key, self.manifold, x, estimate, diffusion, correction, self.step_size)
        return LangevinState(x, memory), MetricInfo(*info, leaves.indefinite(diffusion))
