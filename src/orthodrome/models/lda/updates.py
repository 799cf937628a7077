"""One update of the topics' weights from the counts of a minibatch, by each of the stochastic methods.

n is the matrix of counts times D / |S| (unbiased for those of the whole corpus), phi = theta / theta. the topics, h the
step, and N standard normal numbers. All matrices are words x topics, and are changed in place.

    SCIR     theta' by the exact transition of a CIR process over the time h, with the shapes beta + n; theta_kw is then
             Gamma(beta + n, 1) in mean at any h, and never leaves the positive numbers (Baker et al. 2018)
    SGRLD    theta' = |theta + h (beta - theta + n - phi n.) + sqrt(2 h theta) N|             (Patterson & Teh 2013)
    SGLD     theta' = |theta + h g + sqrt(2 h) N|,  g = (beta - 1 + n - phi n.) / theta - 1       (D = 1)
    SGHMC    r' = (1 - h) r + h g + sqrt(2 h) N,  theta' = theta + h r'                           (C = M = 1)
    SGRHMC   r' = e^(-h theta) r + h [(beta - 1/2 + n - phi n.) / sqrt(theta) - sqrt(theta)]
                  + sqrt(1 - e^(-2 h theta)) N,
             theta' = theta + h sqrt(theta) r'                                  (Ma, Chen & Fox 2015, G = 1 / theta)

All but SCIR work in the expanded-mean form, whose law is theta ~ prod_kw theta^(beta - 1) e^-theta times the likelihood
of phi. Where theta would become negative it is reflected, and the momentum r changes its sign. Momenta move first, and
positions with the new ones (erratum 004-12). The friction theta r of SGRHMC and its noise are solved exactly: Euler's
step diverges where h theta > 2, which a beta much larger than the published 1e-4 makes of weights.
"""

from __future__ import annotations

import abc

import numpy as np

from orthodrome.core.pytree import pytree
from orthodrome.kernels.transition import cir_transition_counts
from orthodrome.models.lda.weights import Matrix, normalised, normalised_exp

LEAST = np.float32(1e-20)
"""Weights are at least this: drifts divide by them or by their roots."""


class WeightUpdate(abc.ABC):
    """A rule that moves weights."""

    has_momentum: bool = False

    def first_weights(self, topics: Matrix, prior: float, tokens: float) -> Matrix:
        """Return weights at these topics; tokens: the number of tokens of the corpus for each topic."""
        return np.maximum(topics * np.float32(max(1.0, prior * topics.shape[0])), LEAST)

    def stored(self, theta: Matrix) -> Matrix:
        """Return positive weights theta as they are kept between updates."""
        return np.maximum(theta, LEAST)

    @abc.abstractmethod
    def advance(
        self, seed: int, weights: Matrix, momentum: Matrix, topics: Matrix, counts: Matrix, prior: float, step: float
    ) -> None:
        """Move weights and momentum, given the counts scaled to the whole corpus; then set the topics to match."""


@pytree
class SCIRUpdate(WeightUpdate):
    """The stochastic CIR process; its weights are logarithms."""

    def first_weights(self, topics: Matrix, prior: float, tokens: float) -> Matrix:
        """Return the logarithms of the shapes that the topics would have given all tokens."""
        return np.log(topics * np.float32(tokens) + np.float32(prior))

    def stored(self, theta: Matrix) -> Matrix:
        """Return the logarithms of the weights."""
        return np.log(theta)

    def advance(
        self, seed: int, weights: Matrix, momentum: Matrix, topics: Matrix, counts: Matrix, prior: float, step: float
    ) -> None:
        """Draw the exact transition."""
        weights[:] = cir_transition_counts(seed, weights, prior, 1.0, counts, step)
        normalised_exp(weights, topics)


class ExpandedMeanUpdate(WeightUpdate):
    """What the Euler schemes share: the residual n - phi n., normal numbers, the wall at zero."""

    @abc.abstractmethod
    def moved(self, theta: Matrix, r: Matrix, residual: Matrix, noise: Matrix, prior: float, h: np.float32) -> Matrix:
        """Return theta after the step, before the reflection; r changes in place."""

    def advance(
        self, seed: int, weights: Matrix, momentum: Matrix, topics: Matrix, counts: Matrix, prior: float, step: float
    ) -> None:
        """Take an Euler step and reflect."""
        noise = np.random.Generator(np.random.Philox(seed)).standard_normal(weights.shape, np.float32)
        residual = counts - topics * counts.sum(axis=0, dtype=np.float64).astype(np.float32)
        moved = self.moved(weights, momentum, residual, noise, prior, np.float32(step))
        if self.has_momentum:
            np.negative(momentum, out=momentum, where=moved < 0)
        np.maximum(np.abs(moved), LEAST, out=weights)
        normalised(weights, topics)


@pytree
class SGRLDUpdate(ExpandedMeanUpdate):
    """Riemannian Langevin dynamics with the metric 1 / theta."""

    def moved(self, theta: Matrix, r: Matrix, residual: Matrix, noise: Matrix, prior: float, h: np.float32) -> Matrix:
        """Return theta + h (beta - theta + n - phi n.) + sqrt(2 h theta) N."""
        return theta + h * (np.float32(prior) - theta + residual) + np.sqrt(2 * h * theta) * noise


@pytree
class SGLDUpdate(ExpandedMeanUpdate):
    """Langevin dynamics without a metric."""

    def moved(self, theta: Matrix, r: Matrix, residual: Matrix, noise: Matrix, prior: float, h: np.float32) -> Matrix:
        """Return theta + h g + sqrt(2 h) N."""
        return theta + h * _gradient(theta, residual, prior) + np.sqrt(2 * h) * noise


@pytree
class SGHMCUpdate(ExpandedMeanUpdate):
    """Hamiltonian dynamics with friction 1 and mass 1."""

    has_momentum = True

    def moved(self, theta: Matrix, r: Matrix, residual: Matrix, noise: Matrix, prior: float, h: np.float32) -> Matrix:
        """Return theta + h r with the new momentum."""
        r[:] = (1 - h) * r + h * _gradient(theta, residual, prior) + np.sqrt(2 * h) * noise
        return theta + h * r


@pytree
class SGRHMCUpdate(ExpandedMeanUpdate):
    """Hamiltonian dynamics with the metric 1 / theta."""

    has_momentum = True

    def moved(self, theta: Matrix, r: Matrix, residual: Matrix, noise: Matrix, prior: float, h: np.float32) -> Matrix:
        """Return theta + h sqrt(theta) r with the new momentum."""
        root, kept = np.sqrt(theta), np.exp(-h * theta)
        r[:] = kept * r + h * ((np.float32(prior - 0.5) + residual) / root - root) + np.sqrt(1 - kept * kept) * noise
        return theta + h * root * r


def _gradient(theta: Matrix, residual: Matrix, prior: float) -> Matrix:
    """Return the gradient of the log density in theta."""
    return (np.float32(prior - 1) + residual) / theta - 1
