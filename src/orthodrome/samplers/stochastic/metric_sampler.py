"""What SGRLD and SGRHMC have in common: a metric that depends on the position."""

from __future__ import annotations

import jax
import jax.numpy as jnp

from orthodrome.core.types import Tree
from orthodrome.gradients.estimator import Estimate
from orthodrome.metrics.inverse_metric import PositionMetric
from orthodrome.samplers.stochastic.flat import FlatSampler, refusal


class MetricSampler(FlatSampler):
    """A sampler of flat coordinates with a metric, in whose units the learnt step is measured."""

    metric: PositionMetric

    @property
    def learns_units(self) -> bool:
        """Whether the warm-up learns units: no, the metric determines them."""
        return False

    def inverse_metric_at(self, position: Tree, estimate: Estimate) -> Tree:
        """Return G^-1 at a position."""
        return self.metric.inverse(position, estimate)

    def problem_at(self, position: Tree) -> str | None:
        """Return why the metric is not one at the start, or mixes coordinates that walls reflect; None if it is one."""
        x = self.manifold.from_user(jax.tree.map(jnp.asarray, position))
        problem = self.metric.problem_at(x)
        if problem is not None:
            return problem
        inverse = jax.jit(lambda x: self.metric.inverse_alone(x))(x)
        return None if inverse is None else refusal(self.manifold, None, inverse)
