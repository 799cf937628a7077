"""What warm-up learns: step sizes, units, trajectory lengths, curvature, noise and ladders."""

from orthodrome.tuning.adapted import Adapted
from orthodrome.tuning.choice import needs_tuning, tuner_for
from orthodrome.tuning.diffusion_tuning import AdaptedDiffusion
from orthodrome.tuning.metrics import DenseMetric, LowRankMetric
from orthodrome.tuning.stochastic_tuning import StochasticAdapted
from orthodrome.tuning.tuner import Tuner

__all__ = [
    "Adapted",
    "AdaptedDiffusion",
    "DenseMetric",
    "LowRankMetric",
    "StochasticAdapted",
    "Tuner",
    "needs_tuning",
    "tuner_for",
]
