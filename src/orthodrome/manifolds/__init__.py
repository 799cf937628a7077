"""The spaces a parameter can live on, one file each; `manifold` holds the contract."""

from orthodrome.manifolds.affine import Affine
from orthodrome.manifolds.ball import Ball
from orthodrome.manifolds.box import Box
from orthodrome.manifolds.euclidean import Euclidean
from orthodrome.manifolds.level_set import LevelSet
from orthodrome.manifolds.log_positive import LogPositive
from orthodrome.manifolds.log_ratio import LogRatioSimplex
from orthodrome.manifolds.manifold import Manifold, manifold_named
from orthodrome.manifolds.positive import Positive
from orthodrome.manifolds.product import Product
from orthodrome.manifolds.reflected_simplex import ReflectedSimplex
from orthodrome.manifolds.rotation import Rotation
from orthodrome.manifolds.simplex import Simplex
from orthodrome.manifolds.sphere import Sphere
from orthodrome.manifolds.stiefel import Stiefel

__all__ = [
    "Affine",
    "Ball",
    "Box",
    "Euclidean",
    "LevelSet",
    "LogPositive",
    "LogRatioSimplex",
    "Manifold",
    "Positive",
    "Product",
    "ReflectedSimplex",
    "Rotation",
    "Simplex",
    "Sphere",
    "Stiefel",
    "manifold_named",
]
