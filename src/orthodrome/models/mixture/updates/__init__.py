"""How the parameters of components move when only a minibatch of rows has been seen."""

from orthodrome.models.mixture.updates.contract import ComponentUpdate
from orthodrome.models.mixture.updates.gaussian import GaussianSGHMC, GaussianSGLD
from orthodrome.models.mixture.updates.simplex import SimplexSCIR, SimplexSGRLD
from orthodrome.models.mixture.updates.sphere import SphereGSGNHT, SphereSGGMC

__all__ = [
    "ComponentUpdate",
    "GaussianSGHMC",
    "GaussianSGLD",
    "SimplexSCIR",
    "SimplexSGRLD",
    "SphereGSGNHT",
    "SphereSGGMC",
]
