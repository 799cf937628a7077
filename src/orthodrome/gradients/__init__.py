"""Gradient estimators, one file each."""

from orthodrome.gradients.estimator import Estimate, GradientEstimator
from orthodrome.gradients.full import FullGradient

__all__ = ["Estimate", "FullGradient", "GradientEstimator"]
