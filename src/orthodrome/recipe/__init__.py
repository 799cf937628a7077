"""The recipe of Ma, Chen & Fox (2015): samplers from H, D and Q, checks, and the completion theorem."""

from orthodrome.recipe.calibration import simulation_based_calibration
from orthodrome.recipe.completion import complete_by_fourier, complete_in_plane
from orthodrome.recipe.conditions import check_recipe
from orthodrome.recipe.fokker_planck import check_sde
from orthodrome.recipe.integrators import Euler, SemiImplicit, Symmetric
from orthodrome.recipe.matrices import MatrixFree
from orthodrome.recipe.recipe import Recipe
from orthodrome.recipe.truth import check_kernel
from orthodrome.samplers.divergence import ExactDivergence, ProbedDivergence

__all__ = [
    "Euler",
    "ExactDivergence",
    "MatrixFree",
    "ProbedDivergence",
    "Recipe",
    "SemiImplicit",
    "Symmetric",
    "check_kernel",
    "check_recipe",
    "check_sde",
    "complete_by_fourier",
    "complete_in_plane",
    "simulation_based_calibration",
]
