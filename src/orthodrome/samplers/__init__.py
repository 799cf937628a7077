"""Samplers, one file each."""

from orthodrome.samplers.adapted import Adapted, adapted_for, needs_tuning
from orthodrome.samplers.column_gibbs import ColumnGibbs
from orthodrome.samplers.column_pairs import ColumnPairs
from orthodrome.samplers.divergence import ExactDivergence, ProbedDivergence
from orthodrome.samplers.geodesic_hmc import GeodesicHMC
from orthodrome.samplers.geodesic_nuts import GeodesicNUTS
from orthodrome.samplers.gsgnht import GSGNHT
from orthodrome.samplers.inverse_metric import InverseMetric, PotentialMetric
from orthodrome.samplers.leaf_matrix import LeafMatrix
from orthodrome.samplers.local_metric import FisherMetric, LocalMetric
from orthodrome.samplers.metrics import DenseMetric, LowRankMetric
from orthodrome.samplers.random_walk import RandomWalk
from orthodrome.samplers.riemannian_hmc import RiemannianHMC
from orthodrome.samplers.riemannian_langevin import RiemannianLangevin
from orthodrome.samplers.sampler import Sampler
from orthodrome.samplers.scheduled import Scheduled
from orthodrome.samplers.sgfs import SGFS
from orthodrome.samplers.sggmc import SGGMC
from orthodrome.samplers.sghmc import SGHMC
from orthodrome.samplers.sgld import SGLD
from orthodrome.samplers.sgnht import SGNHT
from orthodrome.samplers.sgrhmc import SGRHMC
from orthodrome.samplers.sgrld import SGRLD
from orthodrome.samplers.stochastic_tuning import StochasticAdapted
from orthodrome.samplers.streamed import Streamed
from orthodrome.samplers.tempering import Tempering

__all__ = [
    "GSGNHT",
    "SGFS",
    "SGGMC",
    "SGHMC",
    "SGLD",
    "SGNHT",
    "SGRHMC",
    "SGRLD",
    "Adapted",
    "ColumnGibbs",
    "ColumnPairs",
    "DenseMetric",
    "ExactDivergence",
    "FisherMetric",
    "GeodesicHMC",
    "GeodesicNUTS",
    "InverseMetric",
    "LeafMatrix",
    "LocalMetric",
    "LowRankMetric",
    "PotentialMetric",
    "ProbedDivergence",
    "RandomWalk",
    "RiemannianHMC",
    "RiemannianLangevin",
    "Sampler",
    "Scheduled",
    "StochasticAdapted",
    "Streamed",
    "Tempering",
    "adapted_for",
    "needs_tuning",
]
