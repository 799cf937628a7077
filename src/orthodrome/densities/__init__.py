"""Densities with exact draws; each class names its reference measure."""

from orthodrome.densities.bingham import Bingham, BinghamVonMisesFisher
from orthodrome.densities.density import Density, RejectionDensity
from orthodrome.densities.dirichlet import Dirichlet
from orthodrome.densities.von_mises_fisher import VonMisesFisher

__all__ = ["Bingham", "BinghamVonMisesFisher", "Density", "Dirichlet", "RejectionDensity", "VonMisesFisher"]
