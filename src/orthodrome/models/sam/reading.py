"""What a fitted `SAM` says: proportions of documents with their uncertainty, log-perplexity, words of topics."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

import orthodrome.models.sam.evaluation as evaluation
from orthodrome.errors import BadInput
from orthodrome.kernels.threads.computing import computing
from orthodrome.models.sam.documents import DocumentVectors
from orthodrome.models.sam.kernels.topics import inner_products
from orthodrome.models.sam.law import AdmixtureLaw, Reals
from orthodrome.models.sam.proportions import Sweep, by_document, draw_proportions, first_guess, gram_of
from orthodrome.models.topics.estimator import TopicEstimator

TOPIC_DRAWS = 8
"""Draws of the topics over which `proportions` averages."""


class Reading(TopicEstimator):
    """The part of `SAM` that reads its draws."""

    law_: AdmixtureLaw
    components_: Reals
    proportion_step_: float
    proportion_steps: int
    proportion_space: str
    n_jobs: int | None

    def documents(self, X: Any, *, reset: bool = False) -> DocumentVectors:
        """Return the rows of X as unit vectors."""
        raise NotImplementedError

    def proportions(
        self, X: Any, *, num_warmup: int = 100, num_draws: int = 50
    ) -> tuple[NDArray[np.floating], NDArray[np.floating]]:
        """Return the mean and standard deviation of the topic proportions over the draws of topics and proportions."""
        check_is_fitted(self)
        documents = self.documents(X)
        chosen = self.some_draws(TOPIC_DRAWS)
        sweep = Sweep(num_warmup, num_draws, self.proportion_steps, self.proportion_space == "flat")
        with computing(self.n_jobs):
            draws = np.concatenate([self._proportions_at(topics, documents, sweep) for topics in chosen], axis=1)
        return draws.mean(axis=1), draws.std(axis=1)

    def score(self, X: Any, y: Any = None) -> float:
        """Return the mean log predictive density of the documents by annealed importance sampling (`evaluation`)."""
        check_is_fitted(self)
        return -self.log_perplexity(X)

    def log_perplexity(
        self, X: Any, *, estimator: str = "annealed", num_topics: int = 8, num_draws: int = 200
    ) -> float:
        """Return minus the mean log predictive density: 'annealed' (almost unbiased) or 'prior' (as published).

        num_topics: draws of the topics, evenly spaced; num_draws: 'prior' draws of theta, shared by all documents
        """
        check_is_fitted(self)
        documents, topics = self.documents(X), self.some_draws(num_topics)
        if estimator not in ("annealed", "prior"):
            raise BadInput(f"estimator is {estimator!r}; it must be 'annealed' or 'prior'")
        if estimator == "prior":
            return evaluation.log_perplexity(self.law_, documents, topics, num_draws, seed=self.seed_)
        with computing(self.n_jobs):
            return -float(evaluation.annealed_log_density(self.law_, documents, topics, seed=self.seed_).mean())

    def top_words(self, vocabulary: Any, count: int = 10) -> list[list[str]]:
        """Return the words of largest weight of every topic."""
        check_is_fitted(self)
        return self.largest(self.components_, vocabulary, count)

    def bottom_words(self, vocabulary: Any, count: int = 10) -> list[list[str]]:
        """Return the words of smallest weight relative to the corpus mean: what a topic says is absent."""
        check_is_fitted(self)
        return self.largest(self.law_.mean - self.components_, vocabulary, count)

    def _proportions_at(self, topics: Reals, documents: DocumentVectors, sweep: Sweep) -> Reals:
        """Draw proportions (D, kept, K) at one draw of the topics."""
        rows = np.arange(documents.count)
        b = inner_products(topics, documents.indptr, documents.indices, documents.values, rows)
        gram, law = gram_of(topics), self.law_
        kappa, alpha = law.document_concentration, law.doc_topic_prior
        start = first_guess(gram, b)
        drawn = draw_proportions(
            gram, b, start, kappa, alpha, self.proportion_step_, sweep, self.seed_, 1 << 60, documents.keys()
        )
        return by_document(drawn.draws, documents.count, topics.shape[0])
