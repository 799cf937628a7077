"""The spherical admixture model (Reisinger et al. 2010) by the six methods of Liu, Zhu & Song (2016)."""

from orthodrome.models.sam.model import SAM

__all__ = ["SAM"]
