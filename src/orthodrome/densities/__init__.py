"""Densities with exact draws; each class names its reference measure."""

from orthodrome.densities.bingham import Bingham, BinghamVonMisesFisher
from orthodrome.densities.density import Density, RejectionDensity
from orthodrome.densities.dirichlet import Dirichlet
from orthodrome.densities.frames import MatrixVonMisesFisher, RotationVonMisesFisher
from orthodrome.densities.hyperdirichlet import HyperDirichlet
from orthodrome.densities.matrix_bingham import MatrixBingham
from orthodrome.densities.truncated import BallTruncatedNormal, HalfspaceTruncatedNormal, TruncatedNormal
from orthodrome.densities.uniform import UniformBall, UniformRotation, UniformSimplex, UniformSphere, UniformStiefel
from orthodrome.densities.von_mises_fisher import VonMisesFisher

__all__ = [
    "BallTruncatedNormal",
    "Bingham",
    "BinghamVonMisesFisher",
    "Density",
    "Dirichlet",
    "HalfspaceTruncatedNormal",
    "HyperDirichlet",
    "MatrixBingham",
    "MatrixVonMisesFisher",
    "RejectionDensity",
    "RotationVonMisesFisher",
    "TruncatedNormal",
    "UniformBall",
    "UniformRotation",
    "UniformSimplex",
    "UniformSphere",
    "UniformStiefel",
    "VonMisesFisher",
]
