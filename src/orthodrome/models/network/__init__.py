"""The eigenmodel of a network."""

from orthodrome.models.network.model import NetworkEigenmodel

__all__ = ["NetworkEigenmodel"]
