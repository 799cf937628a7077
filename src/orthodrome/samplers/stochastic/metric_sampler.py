"""What SGRLD and SGRHMC share: a metric that depends on the position."""

from __future__ import annotations

from orthodrome.core.types import Tree
from orthodrome.gradients.estimator import Estimate
from orthodrome.metrics.inverse_metric import PositionMetric
from orthodrome.samplers.stochastic.flat import FlatSampler


class MetricSampler(FlatSampler):
    """A sampler of flat coordinates with a metric, which is what its learnt step is measured in."""

    metric: PositionMetric

    @property
    def learns_units(self) -> bool:
        """It has its metric."""
        return False

    def inverse_metric_at(self, position: Tree, estimate: Estimate) -> Tree:
        """G^-1."""
        return self.metric.inverse(position, estimate)
