"""H, D and Q of the samplers, as sections 3.1 and 3.2 of Ma, Chen & Fox (2015) give them, with the errata."""

from orthodrome.dynamics.ingredients.contract import Ingredients

__all__ = ["Ingredients"]
