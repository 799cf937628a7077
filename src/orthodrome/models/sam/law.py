"""The law of the spherical admixture model (Reisinger et al. 2010), with the corpus mean integrated out.

    beta_k ~ vMF(mu, sigma),  mu ~ vMF(m, kappa0):    log p(beta) = K log c(sigma) + log c(kappa0) - log c(|mbar|),
    mbar = kappa0 m + sigma sum_k beta_k                                                              (Eq. 9)
    theta_d ~ Dirichlet(alpha),  v_d ~ vMF(beta theta_d / |beta theta_d|, kappa1).

The gradient of log p(beta) in any topic is sigma A_V(|mbar|) mbar / |mbar|, the same for all (erratum 3.5). Bessel
functions enter by their logarithms and ratios only, so no concentration overflows.
"""

from __future__ import annotations

import math
from functools import cached_property

import numpy as np

from orthodrome.core.pytree import pytree
from orthodrome.core.types import Reals
from orthodrome.kernels.bessel import log_constant, mean_length


@pytree
class AdmixtureLaw:
    """The hyper-parameters: m, kappa0, sigma, kappa1 and alpha."""

    mean: Reals
    corpus_concentration: float
    topic_concentration: float
    document_concentration: float
    doc_topic_prior: float

    @property
    def num_words(self) -> int:
        """The number of words V."""
        return self.mean.shape[0]

    @cached_property
    def _mean_square(self) -> float:
        return float(self.mean @ self.mean)

    def pull(self, topics: Reals) -> Reals:
        """Return mbar in float64."""
        return self.corpus_concentration * self.mean + self.topic_concentration * topics.sum(axis=0).astype(np.float64)

    def prior_gradient(self, topics: Reals) -> Reals:
        """Return the gradient of log p(beta) in any one topic, in the dtype of the topics."""
        pull = self.pull(topics)
        return (self._factor(float(np.sqrt(pull @ pull))) * pull).astype(topics.dtype)

    def prior_scale(self, total: float, along: float) -> float:
        """Return by what mbar is multiplied in the gradient of log p(beta), without the topics themselves.

        total: the sum of all entries of beta' beta, |sum_k beta_k|^2; along: m . sum_k beta_k
        """
        first, each = self.corpus_concentration, self.topic_concentration
        square = first * first * self._mean_square + 2 * first * each * along + each * each * total
        return self._factor(math.sqrt(max(0.0, square)))

    def _factor(self, length: float) -> float:
        """Return sigma A_V(|mbar|) / |mbar|, or 0 where mbar is."""
        return self.topic_concentration * mean_length(self.num_words, length) / length if length > 0 else 0.0

    def log_prior(self, topics: Reals) -> float:
        """Return log p(beta)."""
        pull = self.pull(topics)
        constants = log_constant(self.num_words, self.corpus_concentration)
        constants += topics.shape[0] * log_constant(self.num_words, self.topic_concentration)
        return constants - log_constant(self.num_words, float(np.sqrt(pull @ pull)))

    def log_document_constant(self) -> float:
        """Return log c_V(kappa1)."""
        return log_constant(self.num_words, self.document_concentration)


def random_topics(law: AdmixtureLaw, count: int, rng: np.random.Generator, dtype: np.dtype) -> Reals:
    """Draw topics around the corpus mean, at about 45 degrees: normalise(m + N(0, I) / sqrt(V))."""
    noise = rng.standard_normal((count, law.num_words)) / np.sqrt(law.num_words)
    return unit_rows(law.mean + noise).astype(dtype)


def unit_rows(x: Reals) -> Reals:
    """Divide rows by their lengths."""
    return x / np.sqrt(np.einsum("ij,ij->i", x, x))[:, None]
