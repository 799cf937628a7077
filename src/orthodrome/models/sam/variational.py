"""Mean-field variational inference (Reisinger et al. 2010) and its stochastic form; equations in erratum 3.7.

    q(mu) = vMF(mt, kappa0),   q(beta_t) = vMF(mut_t, sigma),   q(theta_d) = Dirichlet(at_d)

One iteration: every document's Dirichlet (of a batch, for 'stovi'), some ascents of the mean directions mut along their
projected gradient, and the closed form of mt. 'stovi' mixes the new mut with the old by
(t + 5)^-g, g = 0.8 (the authors' for 20News; theirs for Wikipedia is 1).
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from orthodrome.core.pytree import pytree, static
from orthodrome.core.types import Reals
from orthodrome.kernels.bessel import mean_length
from orthodrome.kernels.timing import timed
from orthodrome.models.sam.chain_settings import PUBLISHED_FORGETTING, data_set
from orthodrome.models.sam.documents import DocumentVectors
from orthodrome.models.sam.kernels.topics import add_documents, inner_products
from orthodrome.models.sam.kernels.variational import ascend_documents, document_statistics
from orthodrome.models.sam.law import AdmixtureLaw, unit_rows
from orthodrome.models.sam.proportions import Sweep, gram_of, tuned_step
from orthodrome.models.sam.sampler import AdmixtureSampler, TopicProblem
from orthodrome.models.sam.state import VariationalState

DOCUMENT_STEPS, TOPIC_STEPS = 60, 10
"""Ascents in one iteration: of each document's Dirichlet at most, and of the mean directions."""
DELAY = 5.0
FIRST_RATE = 1e-8
"""The step size of the first ascent, which grows by half with each success."""


class AscentInfo(NamedTuple):
    """bound: of the log evidence (of the batch, scaled, for 'stovi'), up to terms that do not change."""

    bound: float
    cosine: float
    step_size: float
    log_perplexity: float | None = None


@pytree
class VariationalTopics(AdmixtureSampler):
    """The optimiser as a sampler: an iteration is a `step`, the mean directions of the topics are its draws.

    batch_size: documents of an iteration; None: all of them ('vi')
    forgetting: the exponent g of the weight (t + 5)^-g of a batch
    """

    given: TopicProblem
    batch_size: int | None = static(default=None)
    forgetting: float = static(default=0.8)

    @cached_property
    def lengths(self) -> tuple[float, float]:
        """E|beta| and E|mu| under q: A_V(sigma) and A_V(kappa0)."""
        law = self.given.law
        return mean_length(law.num_words, law.topic_concentration), mean_length(law.num_words, law.corpus_concentration)

    def first_topics(self, seed: int) -> Reals:
        """Return random directions, all of whose coordinates are positive."""
        shape = self.given.num_topics, self.given.law.num_words
        return unit_rows(np.random.default_rng(seed).random(shape))

    def begin(self, topics: Reals, seed: int) -> VariationalState:
        """Return the state with mut at these topics and a random mt; at by the cosines at a document's first visit."""
        centre = unit_rows(np.random.default_rng([seed, 1]).random((1, topics.shape[1])))[0]
        return VariationalState(topics.astype(np.float64), centre, self._no_proportions(topics.shape[0]), FIRST_RATE)

    def with_documents(
        self, data: DocumentVectors, total: int, state: VariationalState
    ) -> tuple[VariationalTopics, VariationalState]:
        """Return the same ascent with other documents, whose proportions begin anew."""
        other = replace(self, given=replace(self.given, data=data.in_float64(), total=total))
        return other, state._replace(proportions=other._no_proportions(state.topics.shape[0]))

    def move(self, seed: int, state: VariationalState, left: float) -> tuple[VariationalState, AscentInfo]:
        """Take one iteration."""
        rows, law = self._rows(seed), self.given.law
        at, bounds = self._documents_part(state, rows)
        new, rho, rate = self._topics_part(state, rows, at)
        weight = 1.0 if self.batch_size is None else (int(state.taken) + 1 + DELAY) ** -self.forgetting
        topics = unit_rows((1 - weight) * state.topics + weight * new)
        sigma = law.topic_concentration * self.lengths[0]
        mean = law.corpus_concentration * law.mean + sigma * topics.sum(axis=0)
        state = state._replace(topics=topics, centre=mean / np.sqrt(mean @ mean), rate=rate)
        return state, AscentInfo(float(bounds.mean()) * self.given.total, float(rho.mean()), rate)

    def _no_proportions(self, num_topics: int) -> Reals:
        return np.full((self.given.data.count, num_topics), np.nan)

    def _rows(self, seed: int) -> NDArray[np.int64]:
        count = self.given.data.count
        if self.batch_size is None or self.batch_size >= count:
            return np.arange(count)
        rng = np.random.Generator(np.random.Philox(key=[seed, 0]))
        return rng.choice(count, self.batch_size, replace=False)

    def _documents_part(self, state: VariationalState, rows: NDArray[np.int64]) -> tuple[Reals, Reals]:
        """Ascend the bound in the Dirichlet parameters of the documents, and write them back in place."""
        topics, law = state.topics, self.given.law
        gram, b = topics @ topics.T, timed("gradient", products, topics, self.given.data.own, rows)
        at = state.proportions[rows]
        fresh = np.isnan(at[:, 0])
        share = np.abs(b[fresh]) + 0.01
        at[fresh] = 3 * share / share.sum(axis=1, keepdims=True)
        settings = (self.lengths[0], law.document_concentration, law.doc_topic_prior, DOCUMENT_STEPS)
        at, bounds = timed("proportions", ascend_documents, at, gram, b, *settings)
        state.proportions[rows] = at
        return at, bounds

    def _topics_part(self, state: VariationalState, rows: NDArray[np.int64], at: Reals) -> tuple[Reals, Reals, float]:
        """Ascend the bound in mut; a step that lowers it is undone and the rate halved."""
        topics, rate = state.topics, float(state.rate)
        value, slope, rho = timed("gradient", self._value_and_slope, topics, state.centre, rows, at)
        for _ in range(TOPIC_STEPS):
            trial = unit_rows(topics + rate * slope)
            new, new_slope, new_rho = timed("gradient", self._value_and_slope, trial, state.centre, rows, at)
            if new > value:
                topics, value, slope, rho, rate = trial, new, new_slope, new_rho, 1.5 * rate
            else:
                rate *= 0.5
        return topics, rho, rate

    def _value_and_slope(
        self, topics: Reals, centre: Reals, rows: NDArray[np.int64], at: Reals
    ) -> tuple[float, Reals, Reals]:
        """Return the bound as a function of mut, and its gradient projected on the spheres."""
        law, (length, corpus_length), documents = self.given.law, self.lengths, self.given.data.own
        scale = law.document_concentration * self.given.total / len(rows)
        rho, weights, factors = document_statistics(at, topics @ topics.T, products(topics, documents, rows), length)
        slope = -scale * ((at * factors[:, None]).T @ at) @ topics
        add_documents(slope, documents.indptr, documents.indices, documents.values, rows, weights, scale)
        slope += length * corpus_length * law.topic_concentration * centre
        value = scale * float(rho.sum())
        value += law.topic_concentration * length * corpus_length * float(topics.sum(axis=0) @ centre)
        return value, slope - topics * np.sum(slope * topics, axis=1, keepdims=True), rho


def products(topics: Reals, documents: DocumentVectors, rows: NDArray[np.int64]) -> Reals:
    """Return beta' v of some documents."""
    return inner_products(topics, documents.indptr, documents.indices, documents.values, rows)


def variational_topics(model: Any, problem: TopicProblem) -> VariationalTopics:
    """Return the optimiser with the settings of a `SAM`; 'vi' has all documents in every iteration."""
    size = problem.data.count if model.batch_size is None else min(model.batch_size, problem.data.count)
    forgetting = PUBLISHED_FORGETTING[data_set(model) if model.published else "20news"]
    stochastic = size if model.method == "stovi" else None
    return VariationalTopics(replace(problem, data=problem.data.in_float64()), stochastic, forgetting)


def proportion_step(law: AdmixtureLaw, topics: Reals, documents: DocumentVectors, sweep: Sweep, seed: int) -> float:
    """Return a step size of the proportions' moves at these topics, tuned on some of the documents."""
    rows = looked_at(documents.count)
    b = products(topics, documents.in_float64(), rows)
    return tuned_step(gram_of(topics), b, law.document_concentration, law.doc_topic_prior, sweep, seed)


def looked_at(count: int) -> NDArray[np.int64]:
    """Return the rows on which a step size is tuned, 64 to 127 of them; of so few, all."""
    return np.arange(0, count, max(1, count // 64))
