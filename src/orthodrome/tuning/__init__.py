"""What warm-up learns: step sizes, units, trajectory lengths, curvature, noise and ladders."""

from orthodrome.tuning.adapted import Adapted, adapted_for, needs_tuning
from orthodrome.tuning.metrics import DenseMetric, LowRankMetric
from orthodrome.tuning.stochastic_tuning import StochasticAdapted

__all__ = ["Adapted", "DenseMetric", "LowRankMetric", "StochasticAdapted", "adapted_for", "needs_tuning"]
