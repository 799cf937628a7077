"""Metrics and inverse metrics that depend on the position, and their divergences."""

from orthodrome.metrics.divergence import ExactDivergence, ProbedDivergence
from orthodrome.metrics.inverse_metric import InverseMetric, PotentialMetric
from orthodrome.metrics.local_metric import FisherMetric, LocalMetric

__all__ = ["ExactDivergence", "FisherMetric", "InverseMetric", "LocalMetric", "PotentialMetric", "ProbedDivergence"]
