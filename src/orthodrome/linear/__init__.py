"""Linear maps on one leaf of the position: step sizes, gradient noise, frictions and leaf matrices."""

from orthodrome.linear.leaf_matrix import LeafMatrix
from orthodrome.linear.noise import FullNoise, LowRankNoise, MatrixFriction

__all__ = ["FullNoise", "LeafMatrix", "LowRankNoise", "MatrixFriction"]
