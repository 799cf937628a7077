"""Samplers, one file each."""

from orthodrome.samplers.adapted import Adapted, needs_tuning
from orthodrome.samplers.geodesic_hmc import GeodesicHMC
from orthodrome.samplers.geodesic_nuts import GeodesicNUTS
from orthodrome.samplers.metrics import DenseMetric, LowRankMetric
from orthodrome.samplers.random_walk import RandomWalk
from orthodrome.samplers.sampler import Sampler

__all__ = [
    "Adapted",
    "DenseMetric",
    "GeodesicHMC",
    "GeodesicNUTS",
    "LowRankMetric",
    "RandomWalk",
    "Sampler",
    "needs_tuning",
]
