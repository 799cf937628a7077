"""Mean-field variational inference (Reisinger et al. 2010) and its stochastic form; equations in erratum 3.7.

    q(mu) = vMF(mt, kappa0),   q(beta_t) = vMF(mut_t, sigma),   q(theta_d) = Dirichlet(at_d)

One iteration: every document's Dirichlet (of a batch, for 'stovi'), some ascents of the mean directions mut along their
projected gradient, and the closed form of mt. 'stovi' mixes the new mut with the old by (t + 5)^-0.8.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from orthodrome.kernels.bessel import mean_length
from orthodrome.kernels.timing import Timed
from orthodrome.models.sam.documents import Documents
from orthodrome.models.sam.kernels.topics import add_documents, inner_products
from orthodrome.models.sam.kernels.variational import ascend_documents, document_statistics
from orthodrome.models.sam.law import Law, Reals, unit_rows
from orthodrome.models.sam.proportions import Sweep, gram_of, tuned_step
from orthodrome.models.sam.state import State

DOCUMENT_STEPS, TOPIC_STEPS = 60, 10
DELAY, FORGETTING = 5.0, 0.8


class AscentReport(NamedTuple):
    """bound: of the log evidence (of the batch, scaled, for 'stovi'), up to terms that do not change."""

    bound: float
    cosine: float
    step_size: float


class Ascent(Timed):
    """The optimiser."""

    def __init__(self, model: Any, law: Law, documents: Documents, seed: int, total: int) -> None:
        super().__init__()
        self.law, self.seed, self.total = law, seed, total
        self.stochastic = model.method == "stovi"
        self.batch_size = documents.count if model.batch_size is None else min(model.batch_size, documents.count)
        self.length = mean_length(law.num_words, law.topic_concentration)
        self.corpus_length = mean_length(law.num_words, law.corpus_concentration)
        self.sweep = Sweep(3, 0, model.proportion_steps, model.proportion_space == "flat")
        self.exchange(documents, total)

    def exchange(self, documents: Documents, total: int) -> None:
        """Other documents from now on."""
        self.documents, self.total = replace(documents, values=documents.values.astype(np.float64)), total

    def proportion_step(self, state: State) -> float:
        """For `proportions` after the fit: tuned on some of the documents."""
        rows = np.arange(0, self.documents.count, max(1, self.documents.count // 64))
        b, law = self._products(state.position, rows), self.law
        settings = (law.document_concentration, law.doc_topic_prior, self.sweep, self.seed)
        return tuned_step(gram_of(state.position), b, *settings)

    def begin(self, topics: Reals) -> State:
        """mut and mt positive, at by the cosines."""
        rng = np.random.default_rng(self.seed)
        mut = unit_rows(rng.random(topics.shape))
        state = State(mut, unit_rows(rng.random((1, topics.shape[1]))), np.empty((0, topics.shape[0])))
        state.numbers = {"count": 0, "rate": 1e-8}
        return state

    def draw(self, state: State, tune: float) -> AscentReport:
        """One iteration."""
        step = int(state.numbers["count"])
        rows = self._rows(step)
        at, bounds = self._documents_part(state, rows)
        new, rho = self._topics_part(state, rows, at)
        weight = (step + 1 + DELAY) ** -FORGETTING if self.stochastic else 1.0
        state.position = unit_rows((1 - weight) * state.position + weight * new)
        sigma = self.law.topic_concentration * self.length
        mean = self.law.corpus_concentration * self.law.mean + sigma * state.position.sum(axis=0)
        state.velocity = mean[None] / np.sqrt(mean @ mean)
        state.numbers["count"] += 1
        return AscentReport(float(bounds.mean()) * self.total, float(rho.mean()), state.numbers["rate"])

    def _rows(self, step: int) -> NDArray[np.int64]:
        count = self.documents.count
        if not self.stochastic or self.batch_size >= count:
            return np.arange(count)
        rng = np.random.Generator(np.random.Philox(key=[self.seed, step]))
        return rng.choice(count, self.batch_size, replace=False)

    def _products(self, topics: Reals, rows: NDArray[np.int64]) -> Reals:
        documents = self.documents
        return inner_products(topics, documents.indptr, documents.indices, documents.values, rows)

    def _documents_part(self, state: State, rows: NDArray[np.int64]) -> tuple[Reals, Reals]:
        topics = state.position
        gram, b = topics @ topics.T, self.timed("gradient", self._products, topics, rows)
        if len(state.proportions) != self.documents.count:
            state.proportions = np.full((self.documents.count, topics.shape[0]), np.nan)
        at = state.proportions[rows]
        fresh = np.isnan(at[:, 0])
        share = np.abs(b[fresh]) + 0.01
        at[fresh] = 3 * share / share.sum(axis=1, keepdims=True)
        settings = (self.length, self.law.document_concentration, self.law.doc_topic_prior, DOCUMENT_STEPS)
        at, bounds = self.timed("proportions", ascend_documents, at, gram, b, *settings)
        state.proportions[rows] = at
        return at, bounds

    def _topics_part(self, state: State, rows: NDArray[np.int64], at: Reals) -> tuple[Reals, Reals]:
        """Ascents of mut; a step that lowers the bound is taken back and the rate halved."""
        topics, rate = state.position, state.numbers["rate"]
        value, slope, rho = self.timed("gradient", self._value_and_slope, topics, state.velocity[0], rows, at)
        for _ in range(TOPIC_STEPS):
            trial = unit_rows(topics + rate * slope)
            new, new_slope, new_rho = self.timed("gradient", self._value_and_slope, trial, state.velocity[0], rows, at)
            if new > value:
                topics, value, slope, rho, rate = trial, new, new_slope, new_rho, 1.5 * rate
            else:
                rate *= 0.5
        state.numbers["rate"] = rate
        return topics, rho

    def _value_and_slope(
        self, topics: Reals, centre: Reals, rows: NDArray[np.int64], at: Reals
    ) -> tuple[float, Reals, Reals]:
        """The bound as a function of mut, and its gradient projected on the spheres."""
        law, scale = self.law, self.law.document_concentration * self.total / len(rows)
        b = self._products(topics, rows)
        rho, weights, factors = document_statistics(at, topics @ topics.T, b, self.length)
        slope = -scale * ((at * factors[:, None]).T @ at) @ topics
        documents = self.documents
        add_documents(slope, documents.indptr, documents.indices, documents.values, rows, weights, scale)
        slope += self.length * self.corpus_length * law.topic_concentration * centre
        value = scale * float(rho.sum())
        value += law.topic_concentration * self.length * self.corpus_length * float(topics.sum(axis=0) @ centre)
        return value, slope - topics * np.sum(slope * topics, axis=1, keepdims=True), rho
