"""SGRLD for weights on a simplex, ready made: the sampler of Patterson & Teh (2013)."""

from __future__ import annotations

from jax import Array

from orthodrome.core.types import Setting
from orthodrome.gradients.estimator import GradientEstimator
from orthodrome.gradients.expanded_mean import ExpandedMean
from orthodrome.metrics.divergence import ProbedDivergence
from orthodrome.metrics.inverse_metric import InverseMetric
from orthodrome.samplers.stochastic.sgrld import SGRLD


def weights_themselves(theta: Array) -> Array:
    """Return the inverse metric diag(theta)."""
    return theta


def expanded_mean_sgrld(gradient: GradientEstimator, step_size: Setting = None) -> SGRLD:
    """Return SGRLD in the expanded-mean form; its draws are theta, and p = theta / theta.sum(-1) are the weights.

    gradient: `ConjugateCounts` or `CenteredCounts` on `Simplex`
    step_size: epsilon of `SGRLD` (half that of Patterson & Teh 2013); None: learnt in warm-up
    """
    metric = InverseMetric(weights_themselves, None, ProbedDivergence())  # exact: each entry is its own coordinate
    return SGRLD(ExpandedMean(gradient), metric, step_size)
