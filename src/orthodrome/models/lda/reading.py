"""What a fitted `LDA` says: proportions of documents with their uncertainty, perplexity, words of topics."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp
from sklearn.utils.validation import check_is_fitted

from orthodrome.core.types import Reals
from orthodrome.errors import BadInput
from orthodrome.kernels.assignments import assign_topics
from orthodrome.kernels.threads.computing import computing
from orthodrome.models.lda.documents import TokenDocuments
from orthodrome.models.topics.coherence import coherence
from orthodrome.models.topics.completion import completion_task, perplexity_of, predictions, split_documents
from orthodrome.models.topics.estimator import TopicEstimator
from orthodrome.models.topics.left_to_right import PARTICLES, left_to_right

TOPIC_DRAWS, SWEEPS = 8, 20
"""Draws of the topics over which documents are averaged, and sweeps before the first of the proportions is taken."""


class AllocationReading(TopicEstimator):
    """The part of `LDA` that reads its draws."""

    components_: Reals
    doc_topic_prior_: Reals
    n_jobs: int | None

    def documents(self, X: Any, *, reset: bool = False) -> TokenDocuments:
        """Return the rows of X as tokens."""
        raise NotImplementedError

    def table(self, X: Any) -> Any:
        """Return X as a checked matrix of counts."""
        raise NotImplementedError

    def proportions(self, X: Any, *, num_draws: int = 5) -> tuple[NDArray[np.floating], NDArray[np.floating]]:
        """Return mean and standard deviation of the topic proportions, over the draws of topics and assignments.

        Given the assignments theta_d is Dirichlet(alpha + n_d), whose moments are averaged; num_draws: assignments for
        each draw of the topics
        """
        check_is_fitted(self)
        documents, alpha = self.documents(X), self.doc_topic_prior_
        mean, square = (np.zeros((documents.count, alpha.shape[0])) for _ in range(2))
        chosen = self.some_draws(TOPIC_DRAWS)
        with computing(self.n_jobs):
            for step, topics in enumerate(chosen):
                self._add_moments(step, topics, documents, num_draws, mean, square)
        count = len(chosen) * num_draws
        return mean / count, np.sqrt(np.maximum(square / count - (mean / count) ** 2, 0.0))

    def _add_moments(
        self, step: int, topics: Reals, documents: TokenDocuments, num_draws: int, mean: Reals, square: Reals
    ) -> None:
        """Add E[theta | n] and E[theta^2 | n] at some assignments given one draw of the topics."""
        phi, tokens = np.ascontiguousarray(topics.T, np.float32), documents.first(documents.count)
        names, z, alpha = documents.keys(), np.full(documents.num_tokens, -1, np.int32), self.doc_topic_prior_
        for i in range(num_draws):
            sweeps, at = (SWEEPS if i == 0 else 2), step * num_draws + i
            found = assign_topics(
                *(self.seed_, tokens, phi, alpha),
                assignments=z,
                sweeps=sweeps,
                burn=sweeps - 1,
                step=at,
                names=names,
                mixes=True,
            )
            shapes = np.asarray(found.mixes, np.float64) + alpha
            total = shapes.sum(axis=1, keepdims=True)
            mean += shapes / total
            square += shapes * (shapes + 1) / (total * (total + 1))

    def perplexity(
        self, X: Any, held_back: Any = None, *, evaluation: str = "completion", particles: int = PARTICLES
    ) -> float:
        """Return the perplexity of documents, averaged over draws of the topics; the prior is `doc_topic_prior_`.

        held_back: the words to predict, a matrix like X, which then is what is seen; None: every tenth token of X
        evaluation: 'completion' predicts held-back words; 'left-to-right' estimates the probability of whole documents,
            exp(-sum_d log p(w_d) / tokens), with so many particles; it takes far longer
        """
        check_is_fitted(self)
        if evaluation == "left-to-right" and held_back is None:
            return self._left_to_right(self.table(X), particles)
        if evaluation != "completion":
            raise BadInput(
                f"evaluation is {evaluation!r}; it must be 'completion', or 'left-to-right' without held-back words"
            )
        table = self.table(X)
        parts = split_documents(table, self.seed_) if held_back is None else (table, self.table(held_back))
        task = completion_task(*parts, seed=self.seed_)
        with computing(self.n_jobs):
            found = [predictions(task, topics, self.doc_topic_prior_) for topics in self.some_draws(TOPIC_DRAWS)]
        return perplexity_of(task, np.mean(found, axis=0))

    def _left_to_right(self, table: Any, particles: int) -> float:
        """Return the perplexity of whole documents; their probabilities are averaged over draws of the topics."""
        if table.sum() == 0:
            raise BadInput("no document of X has a word, so there is nothing to predict")
        with computing(self.n_jobs):
            logs = [
                left_to_right(table, topics, self.doc_topic_prior_, particles=particles, seed=self.seed_)
                for topics in self.some_draws(TOPIC_DRAWS)
            ]
        return float(np.exp(-np.sum(logsumexp(logs, axis=0) - np.log(len(logs))) / table.sum()))

    def score(self, X: Any, y: Any = None) -> float:
        """Return the mean log prediction of a held-back token, minus the logarithm of `perplexity`."""
        return -float(np.log(self.perplexity(X)))

    def coherence(self, X: Any, count: int = 10) -> NDArray[np.float64]:
        """Return the NPMI of every topic's top words in the documents X."""
        check_is_fitted(self)
        return coherence(self.components_, self.table(X), count)

    def top_words(self, vocabulary: Any, count: int = 10) -> list[list[str]]:
        """Return the most probable words of every topic."""
        check_is_fitted(self)
        return self.largest(self.components_, vocabulary, count)
