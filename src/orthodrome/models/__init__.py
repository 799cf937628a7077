"""Models with scikit-learn's interface."""

from orthodrome.models.sam import SAM

__all__ = ["SAM"]
