"""Linear maps on one leaf of the position: steps, gradient noise, frictions, masses, preconditioners and metrics."""

from orthodrome.linear.centred import CentredScales
from orthodrome.linear.dense import Dense, Triangular
from orthodrome.linear.linear_map import LinearMap, PositiveMap
from orthodrome.linear.linear_step import LinearStep
from orthodrome.linear.low_rank import LowRank, Stretched

__all__ = ["CentredScales", "Dense", "LinearMap", "LinearStep", "LowRank", "PositiveMap", "Stretched", "Triangular"]
