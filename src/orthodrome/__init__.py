"""Orthodrome: draws from posteriors on curved and constrained spaces.

The names of a first program and of the papers are listed here, by group, with the module they live in; everything else
is imported from its package (`from orthodrome.gradients import LatentGradient`). Modules are imported when a name is
first used, so `import orthodrome` costs next to nothing and the command line's `--help` never loads JAX. Type checkers
read the imports under `TYPE_CHECKING`; a test keeps the two lists the same.
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
    from orthodrome.corpora import read_corpus as read_corpus
    from orthodrome.densities import Bingham as Bingham
    from orthodrome.densities import Dirichlet as Dirichlet
    from orthodrome.densities import MatrixVonMisesFisher as MatrixVonMisesFisher
    from orthodrome.densities import VonMisesFisher as VonMisesFisher
    from orthodrome.diagnostics import diagnose as diagnose
    from orthodrome.diagnostics import summary as summary
    from orthodrome.diagnostics.alignment import align as align
    from orthodrome.diagnostics.evidence import log_evidence as log_evidence
    from orthodrome.errors import BadInput as BadInput
    from orthodrome.errors import CheckpointError as CheckpointError
    from orthodrome.errors import Diverged as Diverged
    from orthodrome.errors import OrthodromeError as OrthodromeError
    from orthodrome.errors import OrthodromeWarning as OrthodromeWarning
    from orthodrome.gradients import SVRG as SVRG
    from orthodrome.gradients import ControlVariate as ControlVariate
    from orthodrome.gradients import EmpiricalFisher as EmpiricalFisher
    from orthodrome.gradients import FullGradient as FullGradient
    from orthodrome.gradients import Minibatch as Minibatch
    from orthodrome.interop.citations import citation as citation
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
    from orthodrome.manifolds import Rotation as Rotation
    from orthodrome.manifolds import Simplex as Simplex
    from orthodrome.manifolds import Sphere as Sphere
    from orthodrome.manifolds import Stiefel as Stiefel
    from orthodrome.models.comparison import PairedComparison as PairedComparison
    from orthodrome.models.completion import MatrixCompletion as MatrixCompletion
    from orthodrome.models.directional import Directional as Directional
    from orthodrome.models.lda import LDA as LDA
    from orthodrome.models.mixture import DirichletProcessMixture as DirichletProcessMixture
    from orthodrome.models.network import NetworkEigenmodel as NetworkEigenmodel
    from orthodrome.models.sam import SAM as SAM
    from orthodrome.recipe import Recipe as Recipe
    from orthodrome.recipe import recipe_of as recipe_of
    from orthodrome.run import Stop as Stop
    from orthodrome.run import choose_num_steps as choose_num_steps
    from orthodrome.run.parallel import spread_rows as spread_rows
    from orthodrome.run.parallel import use_cores as use_cores
    from orthodrome.run.parallel import use_hosts as use_hosts
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
    from orthodrome.samplers import GeodesicHMC as GeodesicHMC
    from orthodrome.samplers import GeodesicNUTS as GeodesicNUTS
    from orthodrome.samplers import GeodesicWALNUTS as GeodesicWALNUTS
    from orthodrome.samplers import RandomWalk as RandomWalk
    from orthodrome.samplers import RiemannianHMC as RiemannianHMC
    from orthodrome.samplers import RiemannianLangevin as RiemannianLangevin
    from orthodrome.samplers import Scheduled as Scheduled
    from orthodrome.samplers import Tempering as Tempering
    from orthodrome.storage.store import read_draws as read_draws
    from orthodrome.targets import Posterior as Posterior
    from orthodrome.targets import Target as Target

# group -> {module: names}; the documentation and the tests read the groups too
GROUPS: dict[str, dict[str, str]] = {
    "manifolds": {
        "manifolds": "Manifold Euclidean Affine Positive LogPositive Ball Box Sphere Simplex LogRatioSimplex "
        "Stiefel Rotation LevelSet Product",
    },
    "densities": {
        "densities": "VonMisesFisher Bingham MatrixVonMisesFisher Dirichlet",
    },
    "targets and gradients": {
        "targets": "Target Posterior",
        "gradients": "FullGradient Minibatch ControlVariate SVRG EmpiricalFisher",
    },
    "samplers": {
        "samplers": "GeodesicHMC GeodesicNUTS GeodesicWALNUTS RandomWalk Tempering RiemannianHMC RiemannianLangevin "
        "SGGMC GSGNHT Scheduled SGLD SGFS SGHMC SGNHT SGRLD SGRHMC SCIR",
    },
    "recipe": {
        "recipe": "Recipe recipe_of",
        "checks": "check_recipe check_sde check_kernel simulation_based_calibration",
    },
    "models": {
        "models.sam": "SAM",
        "models.lda": "LDA",
        "models.mixture": "DirichletProcessMixture",
        "models.comparison": "PairedComparison",
        "models.completion": "MatrixCompletion",
        "models.network": "NetworkEigenmodel",
        "models.directional": "Directional",
    },
    "corpora": {
        "corpora": "Corpus read_corpus",
    },
    "running": {
        "run.sample": "sample",
        "run": "Stop choose_num_steps",
        "run.parallel": "use_cores use_hosts spread_rows",
        "storage.store": "read_draws",
    },
    "diagnostics": {
        "diagnostics": "summary diagnose",
        "diagnostics.evidence": "log_evidence",
        "diagnostics.alignment": "align",
    },
    "citing": {
        "interop.citations": "citation",
    },
    "errors": {
        "errors": "OrthodromeError BadInput CheckpointError Diverged OrthodromeWarning",
    },
}

PACKAGES = (
    *(
        "checks",
        "corpora",
        "densities",
        "diagnostics",
        "errors",
        "gradients",
        "interop",
        "linear",
        "manifolds",
        "metrics",
    ),
    *("models", "plots", "random", "recipe", "report", "samplers", "schedules", "special", "targets", "tuning"),
)
"""Where users find the other names; each is imported when it is first used (`orthodrome.gradients`)."""

_MODULE_OF = {
    name: module for modules in GROUPS.values() for module, names in modules.items() for name in names.split()
}

__all__ = [*sorted(_MODULE_OF), "__version__"]


def __getattr__(name: str) -> Any:
    if name == "__version__":
        return importlib.import_module("importlib.metadata").version("orthodrome")
    if name in PACKAGES:
        return importlib.import_module(f"orthodrome.{name}")
    if name not in _MODULE_OF:
        raise AttributeError(f"module 'orthodrome' has no attribute {name!r}")
    value = getattr(importlib.import_module(f"orthodrome.{_MODULE_OF[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
