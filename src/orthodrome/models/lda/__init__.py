"""Latent Dirichlet allocation: topics as laws over words, by exact Gibbs sweeps or by stochastic gradients."""

from orthodrome.models.lda.model import LDA

__all__ = ["LDA"]
