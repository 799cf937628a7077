"""Dirichlet-process mixtures: as many clusters as the rows ask for, exactly by Gibbs or by minibatches."""

from orthodrome.models.mixture.model import DirichletProcessMixture

__all__ = ["DirichletProcessMixture"]
