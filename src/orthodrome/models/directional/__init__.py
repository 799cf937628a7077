"""Laws of directions, axes and angles, fitted to data."""

from orthodrome.models.directional.model import Directional

__all__ = ["Directional"]
