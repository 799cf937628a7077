"""Normal distributions restricted to boxes, half-spaces and balls."""

from orthodrome.densities.truncated.ball import BallTruncatedNormal
from orthodrome.densities.truncated.box import TruncatedNormal
from orthodrome.densities.truncated.halfspace import HalfspaceTruncatedNormal

__all__ = ["BallTruncatedNormal", "HalfspaceTruncatedNormal", "TruncatedNormal"]
