"""Orthodrome: draws from posteriors on curved and constrained spaces.

Every public name is listed here, by group, with the module it lives in. Modules are imported when a name is first used,
so `import orthodrome` costs next to nothing and the command line's `--help` never loads JAX. Type checkers read the
imports under `TYPE_CHECKING`; a test keeps the two lists the same.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from orthodrome.checks import check_kernel as check_kernel
    from orthodrome.checks import check_recipe as check_recipe
    from orthodrome.checks import check_sde as check_sde
    from orthodrome.checks import simulation_based_calibration as simulation_based_calibration
    from orthodrome.corpora import Corpus as Corpus
    from orthodrome.corpora import batches as batches
    from orthodrome.corpora import python_docstrings as python_docstrings
    from orthodrome.corpora import read_corpus as read_corpus
    from orthodrome.corpora import tfidf as tfidf
    from orthodrome.corpora import weigh_texts as weigh_texts
    from orthodrome.corpora import wikipedia_set as wikipedia_set
    from orthodrome.densities import BallTruncatedNormal as BallTruncatedNormal
    from orthodrome.densities import Bingham as Bingham
    from orthodrome.densities import BinghamVonMisesFisher as BinghamVonMisesFisher
    from orthodrome.densities import Dirichlet as Dirichlet
    from orthodrome.densities import HalfspaceTruncatedNormal as HalfspaceTruncatedNormal
    from orthodrome.densities import HyperDirichlet as HyperDirichlet
    from orthodrome.densities import MatrixBingham as MatrixBingham
    from orthodrome.densities import MatrixVonMisesFisher as MatrixVonMisesFisher
    from orthodrome.densities import RotationVonMisesFisher as RotationVonMisesFisher
    from orthodrome.densities import TruncatedNormal as TruncatedNormal
    from orthodrome.densities import UniformBall as UniformBall
    from orthodrome.densities import UniformRotation as UniformRotation
    from orthodrome.densities import UniformSimplex as UniformSimplex
    from orthodrome.densities import UniformSphere as UniformSphere
    from orthodrome.densities import UniformStiefel as UniformStiefel
    from orthodrome.densities import VonMisesFisher as VonMisesFisher
    from orthodrome.diagnostics import diagnose as diagnose
    from orthodrome.diagnostics import summary as summary
    from orthodrome.diagnostics.evidence import log_evidence as log_evidence
    from orthodrome.dynamics.cir import cir_mean as cir_mean
    from orthodrome.dynamics.cir import cir_variance as cir_variance
    from orthodrome.dynamics.cir import scir_log_mgf as scir_log_mgf
    from orthodrome.dynamics.cir import scir_variance as scir_variance
    from orthodrome.errors import BadInput as BadInput
    from orthodrome.errors import CheckpointError as CheckpointError
    from orthodrome.errors import Diverged as Diverged
    from orthodrome.errors import NotOnManifold as NotOnManifold
    from orthodrome.errors import OrthodromeError as OrthodromeError
    from orthodrome.errors import OrthodromeWarning as OrthodromeWarning
    from orthodrome.errors import Unsupported as Unsupported
    from orthodrome.gradients import SVRG as SVRG
    from orthodrome.gradients import BatchGradient as BatchGradient
    from orthodrome.gradients import CenteredCounts as CenteredCounts
    from orthodrome.gradients import ConjugateCounts as ConjugateCounts
    from orthodrome.gradients import ConjugatePosterior as ConjugatePosterior
    from orthodrome.gradients import ControlVariate as ControlVariate
    from orthodrome.gradients import DiagonalForm as DiagonalForm
    from orthodrome.gradients import EmpiricalFisher as EmpiricalFisher
    from orthodrome.gradients import ExpandedMean as ExpandedMean
    from orthodrome.gradients import FullForm as FullForm
    from orthodrome.gradients import FullGradient as FullGradient
    from orthodrome.gradients import GivenNoise as GivenNoise
    from orthodrome.gradients import LatentGradient as LatentGradient
    from orthodrome.gradients import LatentPosterior as LatentPosterior
    from orthodrome.gradients import LowRankForm as LowRankForm
    from orthodrome.gradients import Minibatch as Minibatch
    from orthodrome.gradients import NoiseFunction as NoiseFunction
    from orthodrome.gradients import NoisyGradient as NoisyGradient
    from orthodrome.gradients import NoNoise as NoNoise
    from orthodrome.gradients import ScalarForm as ScalarForm
    from orthodrome.gradients import TemperedGradient as TemperedGradient
    from orthodrome.kernels.transition import cir_transition as cir_transition
    from orthodrome.linear import Dense as Dense
    from orthodrome.linear import LowRank as LowRank
    from orthodrome.manifolds import Affine as Affine
    from orthodrome.manifolds import Ball as Ball
    from orthodrome.manifolds import Box as Box
    from orthodrome.manifolds import Euclidean as Euclidean
    from orthodrome.manifolds import LevelSet as LevelSet
    from orthodrome.manifolds import LogPositive as LogPositive
    from orthodrome.manifolds import LogRatioSimplex as LogRatioSimplex
    from orthodrome.manifolds import Manifold as Manifold
    from orthodrome.manifolds import Positive as Positive
    from orthodrome.manifolds import Product as Product
    from orthodrome.manifolds import ReflectedSimplex as ReflectedSimplex
    from orthodrome.manifolds import Rotation as Rotation
    from orthodrome.manifolds import Simplex as Simplex
    from orthodrome.manifolds import Sphere as Sphere
    from orthodrome.manifolds import Stiefel as Stiefel
    from orthodrome.metrics import ExactDivergence as ExactDivergence
    from orthodrome.metrics import FisherMetric as FisherMetric
    from orthodrome.metrics import InverseMetric as InverseMetric
    from orthodrome.metrics import LocalMetric as LocalMetric
    from orthodrome.metrics import PotentialMetric as PotentialMetric
    from orthodrome.metrics import ProbedDivergence as ProbedDivergence
    from orthodrome.models.comparison import PairedComparison as PairedComparison
    from orthodrome.models.directional import Directional as Directional
    from orthodrome.models.network import NetworkEigenmodel as NetworkEigenmodel
    from orthodrome.models.sam import SAM as SAM
    from orthodrome.recipe import Euler as Euler
    from orthodrome.recipe import MatrixFree as MatrixFree
    from orthodrome.recipe import Recipe as Recipe
    from orthodrome.recipe import SemiImplicit as SemiImplicit
    from orthodrome.recipe import Symmetric as Symmetric
    from orthodrome.recipe import complete_by_fourier as complete_by_fourier
    from orthodrome.recipe import complete_in_plane as complete_in_plane
    from orthodrome.run import Stop as Stop
    from orthodrome.run.parallel import use_cores as use_cores
    from orthodrome.run.sample import sample as sample
    from orthodrome.samplers import GSGNHT as GSGNHT
    from orthodrome.samplers import SCIR as SCIR
    from orthodrome.samplers import SGFS as SGFS
    from orthodrome.samplers import SGGMC as SGGMC
    from orthodrome.samplers import SGHMC as SGHMC
    from orthodrome.samplers import SGLD as SGLD
    from orthodrome.samplers import SGNHT as SGNHT
    from orthodrome.samplers import SGRHMC as SGRHMC
    from orthodrome.samplers import SGRLD as SGRLD
    from orthodrome.samplers import SOU as SOU
    from orthodrome.samplers import ColumnGibbs as ColumnGibbs
    from orthodrome.samplers import ColumnPairs as ColumnPairs
    from orthodrome.samplers import GeodesicHMC as GeodesicHMC
    from orthodrome.samplers import GeodesicNUTS as GeodesicNUTS
    from orthodrome.samplers import RandomWalk as RandomWalk
    from orthodrome.samplers import RiemannianHMC as RiemannianHMC
    from orthodrome.samplers import RiemannianLangevin as RiemannianLangevin
    from orthodrome.samplers import Scheduled as Scheduled
    from orthodrome.samplers import Streamed as Streamed
    from orthodrome.samplers import Tempering as Tempering
    from orthodrome.samplers import expanded_mean_sgrld as expanded_mean_sgrld
    from orthodrome.schedules import Constant as Constant
    from orthodrome.schedules import Cyclical as Cyclical
    from orthodrome.schedules import Polynomial as Polynomial
    from orthodrome.schedules import WellingTeh as WellingTeh
    from orthodrome.storage.zarr import read_draws as read_draws
    from orthodrome.targets import Posterior as Posterior
    from orthodrome.targets import Target as Target
    from orthodrome.tuning import Adapted as Adapted
    from orthodrome.tuning import AdaptedDiffusion as AdaptedDiffusion
    from orthodrome.tuning import DenseMetric as DenseMetric
    from orthodrome.tuning import LowRankMetric as LowRankMetric
    from orthodrome.tuning import StochasticAdapted as StochasticAdapted

# group -> {module: names}; the documentation and the tests read the groups too
GROUPS: dict[str, dict[str, str]] = {
    "manifolds": {
        "manifolds": "Manifold Euclidean Affine Positive LogPositive Ball Box Sphere Simplex ReflectedSimplex "
        "LogRatioSimplex Stiefel Rotation LevelSet Product",
    },
    "densities": {
        "densities": "VonMisesFisher Bingham BinghamVonMisesFisher MatrixVonMisesFisher MatrixBingham Dirichlet "
        "RotationVonMisesFisher HyperDirichlet TruncatedNormal BallTruncatedNormal "
        "HalfspaceTruncatedNormal UniformSphere UniformStiefel UniformRotation UniformSimplex "
        "UniformBall",
    },
    "targets and gradients": {
        "targets": "Target Posterior",
        "gradients": "FullGradient Minibatch ControlVariate SVRG LatentPosterior LatentGradient BatchGradient "
        "ConjugatePosterior ConjugateCounts CenteredCounts ExpandedMean "
        "NoisyGradient TemperedGradient NoNoise GivenNoise NoiseFunction EmpiricalFisher ScalarForm "
        "DiagonalForm LowRankForm FullForm",
        "linear": "Dense LowRank",
        "schedules": "Constant Polynomial WellingTeh Cyclical",
    },
    "samplers": {
        "samplers": "GeodesicHMC GeodesicNUTS RandomWalk Tempering RiemannianHMC RiemannianLangevin ColumnPairs "
        "ColumnGibbs SGGMC GSGNHT Scheduled Streamed SGLD SGFS SGHMC SGNHT SGRLD SGRHMC "
        "SCIR SOU expanded_mean_sgrld",
        "tuning": "Adapted AdaptedDiffusion DenseMetric LowRankMetric StochasticAdapted",
        "metrics": "LocalMetric FisherMetric InverseMetric PotentialMetric",
        "dynamics.cir": "cir_mean cir_variance scir_variance scir_log_mgf",
        "kernels.transition": "cir_transition",
    },
    "recipe": {
        "recipe": "Recipe MatrixFree Euler SemiImplicit Symmetric complete_by_fourier complete_in_plane",
        "metrics": "ExactDivergence ProbedDivergence",
        "checks": "check_recipe check_sde check_kernel simulation_based_calibration",
    },
    "models": {
        "models.sam": "SAM",
        "models.comparison": "PairedComparison",
        "models.network": "NetworkEigenmodel",
        "models.directional": "Directional",
    },
    "corpora": {
        "corpora": "Corpus read_corpus python_docstrings wikipedia_set tfidf batches weigh_texts",
    },
    "running": {
        "run.sample": "sample",
        "run": "Stop",
        "run.parallel": "use_cores",
        "storage.zarr": "read_draws",
    },
    "diagnostics": {
        "diagnostics": "summary diagnose",
        "diagnostics.evidence": "log_evidence",
    },
    "errors": {
        "errors": "OrthodromeError BadInput NotOnManifold Unsupported CheckpointError Diverged OrthodromeWarning",
    },
}

_MODULE_OF = {
    name: module for modules in GROUPS.values() for module, names in modules.items() for name in names.split()
}

__all__ = [*sorted(_MODULE_OF), "__version__"]


def __getattr__(name: str) -> Any:
    if name == "__version__":
        return importlib.import_module("importlib.metadata").version("orthodrome")
    if name not in _MODULE_OF:
        raise AttributeError(f"module 'orthodrome' has no attribute {name!r}")
    value = getattr(importlib.import_module(f"orthodrome.{_MODULE_OF[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
