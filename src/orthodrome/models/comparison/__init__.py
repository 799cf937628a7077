"""Strengths of players from who beat whom."""

from orthodrome.models.comparison.model import PairedComparison

__all__ = ["PairedComparison"]
