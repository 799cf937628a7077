"""Samplers, one file each: exact, stochastic, and those that hold other samplers."""

from orthodrome.dynamics.simplex_forms import ExpandedNatural, Mirrored, ReducedMean, ReducedNatural
from orthodrome.samplers.contract import DiffusionSampler, ExactSampler, Sampler, StochasticSampler
from orthodrome.samplers.exact.column_gibbs import ColumnGibbs
from orthodrome.samplers.exact.column_pairs import ColumnPairs
from orthodrome.samplers.exact.geodesic_hmc import GeodesicHMC
from orthodrome.samplers.exact.geodesic_nuts import GeodesicNUTS
from orthodrome.samplers.exact.random_walk import RandomWalk
from orthodrome.samplers.exact.riemannian_hmc import RiemannianHMC
from orthodrome.samplers.exact.riemannian_langevin import RiemannianLangevin
from orthodrome.samplers.exact.walnuts import GeodesicWALNUTS
from orthodrome.samplers.holders.scheduled import Scheduled
from orthodrome.samplers.holders.streamed import Streamed
from orthodrome.samplers.holders.tempering import Tempering
from orthodrome.samplers.per_datum import per_datum
from orthodrome.samplers.stochastic.expanded_mean import expanded_mean_sgrld
from orthodrome.samplers.stochastic.gsgnht import GSGNHT
from orthodrome.samplers.stochastic.scir import SCIR
from orthodrome.samplers.stochastic.sgfs import SGFS
from orthodrome.samplers.stochastic.sggmc import SGGMC
from orthodrome.samplers.stochastic.sghmc import SGHMC
from orthodrome.samplers.stochastic.sgld import SGLD
from orthodrome.samplers.stochastic.sgnht import SGNHT
from orthodrome.samplers.stochastic.sgrhmc import SGRHMC
from orthodrome.samplers.stochastic.sgrld import SGRLD
from orthodrome.samplers.stochastic.simplex_langevin import SimplexLangevin
from orthodrome.samplers.stochastic.sou import SOU
from orthodrome.samplers.stochastic.swf import SWF

__all__ = [
    "GSGNHT",
    "SCIR",
    "SGFS",
    "SGGMC",
    "SGHMC",
    "SGLD",
    "SGNHT",
    "SGRHMC",
    "SGRLD",
    "SOU",
    "SWF",
    "ColumnGibbs",
    "ColumnPairs",
    "DiffusionSampler",
    "ExactSampler",
    "ExpandedNatural",
    "GeodesicHMC",
    "GeodesicNUTS",
    "GeodesicWALNUTS",
    "Mirrored",
    "RandomWalk",
    "ReducedMean",
    "ReducedNatural",
    "RiemannianHMC",
    "RiemannianLangevin",
    "Sampler",
    "Scheduled",
    "SimplexLangevin",
    "StochasticSampler",
    "Streamed",
    "Tempering",
    "expanded_mean_sgrld",
    "per_datum",
]
