"""Matrices from some of their entries."""

from orthodrome.models.completion.model import MatrixCompletion

__all__ = ["MatrixCompletion"]
