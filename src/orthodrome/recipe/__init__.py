"""The recipe of Ma, Chen & Fox (2015): samplers from H, D and Q, and the completion theorem."""

from orthodrome.recipe.completion import complete_by_fourier, complete_in_plane
from orthodrome.recipe.integrators import Euler, SemiImplicit, Symmetric
from orthodrome.recipe.known import recipe_of
from orthodrome.recipe.matrices import MatrixFree
from orthodrome.recipe.recipe import Recipe

__all__ = [
    "Euler",
    "MatrixFree",
    "Recipe",
    "SemiImplicit",
    "Symmetric",
    "complete_by_fourier",
    "complete_in_plane",
    "recipe_of",
]
