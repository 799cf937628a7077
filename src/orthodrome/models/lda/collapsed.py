"""Fully collapsed Gibbs: each assignment given all others, topics and proportions integrated out.

The sweeps are in `kernels.tokens.collapsed`. The first transition assigns every token given the topics of the start.
Draws of the topics are exact draws given the assignments, phi_k | z ~ Dirichlet(beta + n_k1, ..., beta + n_kV); no
transition depends on them.
"""

from __future__ import annotations

import numpy as np

from orthodrome.core.pytree import pytree
from orthodrome.errors import BadInput
from orthodrome.kernels.assignments import assign_topics
from orthodrome.kernels.tokens.collapsed import sweep_collapsed
from orthodrome.models.lda.documents import TokenDocuments
from orthodrome.models.lda.prior import LEARN_EVERY, learnt_prior
from orthodrome.models.lda.sampler import AllocationInfo, AllocationProblem, AllocationSampler, AllocationState
from orthodrome.models.lda.weights import draw_topics, mean_topics


@pytree
class CollapsedGibbs(AllocationSampler):
    """Topics by serial sweeps over all assignments, the exact reference."""

    given: AllocationProblem

    @property
    def adjusted(self) -> bool:
        """Whether the law is exact, which it is: all conditionals are."""
        return True

    def begin(self, state: AllocationState, seed: int) -> AllocationState:
        """Return the state with tokens assigned given the topics of the start."""
        data = self.given.data
        found = assign_topics(seed, data.first(data.count), state.topics, state.prior)
        counts = np.zeros(state.topics.shape, np.int32)
        counts[found.words] = found.counts
        return state._replace(assignments=found.assignments, counts=counts)

    def with_documents(
        self, data: TokenDocuments, total: int, state: AllocationState
    ) -> tuple[CollapsedGibbs, AllocationState]:
        """Raise BadInput: an exact chain needs all documents at every transition."""
        raise BadInput("method='collapsed' needs all documents at once; for a stream use method='scir'")

    def move(self, seed: int, state: AllocationState, left: float) -> tuple[AllocationState, AllocationInfo]:
        """Sweep the assignments, then renew the topics given them: their mean in the warm-up, afterwards a draw."""
        given, data = self.given, self.given.data
        beta, z, (words, starts) = given.topic_word_prior, state.assignments, data.first(data.count)
        sweep_collapsed(seed, starts, words, z, state.counts, state.prior.astype(np.float64), beta)
        late = 2 * int(state.taken) >= self.num_warmup  # topics are vague before that
        if left > 0 and given.learns and late and (int(state.taken) + 1) % LEARN_EVERY == 0:
            state.prior[:] = learnt_prior(state.prior, z, starts, data)
        if left > 0:
            mean_topics(state.counts, beta, state.topics)
        else:
            draw_topics(seed ^ 1, state.counts, beta, state.topics, data)
        return state, AllocationInfo(data.count, 0.0, float(state.prior.sum()))
