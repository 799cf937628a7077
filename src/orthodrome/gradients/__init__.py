"""Gradient estimators, one file each."""

from orthodrome.gradients.centered_counts import CenteredCounts
from orthodrome.gradients.conjugate import ConjugateCounts, ConjugatePosterior
from orthodrome.gradients.control_variate import ControlVariate
from orthodrome.gradients.estimator import Estimate, GradientEstimator
from orthodrome.gradients.expanded_mean import ExpandedMean
from orthodrome.gradients.full import FullGradient
from orthodrome.gradients.latent import LatentGradient, LatentPosterior
from orthodrome.gradients.minibatch import Minibatch
from orthodrome.gradients.noise_models import (
    AutomaticForm,
    DiagonalForm,
    EmpiricalFisher,
    FullForm,
    GivenNoise,
    LowRankForm,
    NoiseFunction,
    NoNoise,
    ScalarForm,
)
from orthodrome.gradients.noisy import NoisyGradient, TemperedGradient
from orthodrome.gradients.stream import BatchGradient
from orthodrome.gradients.svrg import SVRG
from orthodrome.linear.low_rank import LowRank as LowRankNoise  # the name under which readers look for this form of V

__all__ = [
    "SVRG",
    "AutomaticForm",
    "BatchGradient",
    "CenteredCounts",
    "ConjugateCounts",
    "ConjugatePosterior",
    "ControlVariate",
    "DiagonalForm",
    "EmpiricalFisher",
    "Estimate",
    "ExpandedMean",
    "FullForm",
    "FullGradient",
    "GivenNoise",
    "GradientEstimator",
    "LatentGradient",
    "LatentPosterior",
    "LowRankForm",
    "LowRankNoise",
    "Minibatch",
    "NoNoise",
    "NoiseFunction",
    "NoisyGradient",
    "ScalarForm",
    "TemperedGradient",
]
