"""Minibatches: the assignments of some documents given the topics, then an update of the topics' weights.

The mean counts of the kept sweeps, times D / |S|, are an estimate of E[n_kw | phi] over the whole corpus (Fisher's
identity; erratum section 2). Sweeps begin with each token drawn given those before it; the first half is thrown away.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from orthodrome.core.pytree import pytree, static
from orthodrome.kernels.assignments import assign_topics
from orthodrome.models.lda.documents import TokenDocuments
from orthodrome.models.lda.prior import learnt_prior
from orthodrome.models.lda.sampler import AllocationInfo, AllocationProblem, AllocationSampler, AllocationState
from orthodrome.models.lda.updates import WeightUpdate
from orthodrome.schedules import Polynomial

BATCH, WEIGHTS = 1, 2
"""Streams of a transition: the choice of the documents, and the noise of the weights."""


@pytree
class StochasticAllocation(AllocationSampler):
    """Topics by stochastic gradients.

    update: how weights move; batch_size: |S|; replace: whether a document may be chosen twice in a batch
    sweeps: over the documents of a batch, half of them kept; step: h (1 + m / tau)^(-kappa) by m, updates so far
    """

    given: AllocationProblem
    update: WeightUpdate
    batch_size: int = static()
    sweeps: int = static()
    step_size_at: Polynomial = static()
    repeated: bool = static(default=False)

    def begin(self, state: AllocationState, seed: int) -> AllocationState:
        """Return the state with weights at the topics."""
        given = self.given
        tokens = given.data.num_tokens * given.total / max(1, given.data.count) / given.num_topics
        weights = self.update.first_weights(state.topics, given.topic_word_prior, tokens)
        momentum = np.zeros_like(weights) if self.update.has_momentum else state.momentum
        return state._replace(weights=weights, momentum=momentum)

    def with_documents(
        self, data: TokenDocuments, total: int, state: AllocationState
    ) -> tuple[StochasticAllocation, AllocationState]:
        """Return the same chain with other documents, all of which are the next batch."""
        given = replace(self.given, data=data, total=total)
        return replace(self, given=given, batch_size=max(1, data.count)), state

    def move(self, seed: int, state: AllocationState, left: float) -> tuple[AllocationState, AllocationInfo]:
        """Sweep the documents of a batch, and move the weights."""
        rows, given = self._rows(seed), self.given
        (tokens, names), burn = given.data.batch(rows), self.sweeps // 2
        found = assign_topics(seed, tokens, state.topics, state.prior, sweeps=self.sweeps, burn=burn, names=names)
        counts = np.zeros(state.topics.shape, np.float32)
        words, whole = given.data.total_of_words(found.words, found.counts)
        counts[words] = whole * np.float32(given.total / rows.shape[0] / found.kept)
        step = float(self.step_size_at(int(state.taken)))
        others = (state.weights, state.momentum, state.topics, counts, given.topic_word_prior, step)
        self.update.advance(seed ^ WEIGHTS, *others)
        if left > 0 and given.learns and 2 * int(state.taken) >= self.num_warmup:  # topics are vague before that
            self._learn(state, found.assignments, tokens.starts)
        return state, AllocationInfo(rows.shape[0], step, float(state.prior.sum()))

    def _rows(self, seed: int) -> NDArray[np.int64]:
        """Return the documents of the batch; all of them, in order, if it is as large as the corpus."""
        count = self.given.data.count
        if self.batch_size >= count and not self.repeated:
            return np.arange(count)
        rng = np.random.default_rng([seed, BATCH])
        return rng.choice(count, self.batch_size, replace=self.repeated)

    def _learn(self, state: AllocationState, assignments: NDArray[np.int32], starts: NDArray[np.int64]) -> None:
        """Move alpha towards what the batch says, less and less."""
        rate = np.float32((10 + int(state.taken)) ** -0.6)
        learnt = learnt_prior(state.prior, assignments, starts, self.given.data)
        state.prior[:] = (1 - rate) * state.prior + rate * learnt
