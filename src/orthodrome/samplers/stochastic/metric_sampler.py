"""What SGRLD and SGRHMC have in common: a metric that depends on the position."""

from __future__ import annotations

from orthodrome.core.types import Tree
from orthodrome.gradients.estimator import Estimate
from orthodrome.metrics.inverse_metric import PositionMetric
from orthodrome.samplers.stochastic.flat import FlatSampler


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
