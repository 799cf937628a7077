"""Partially collapsed Gibbs: all assignments given the topics, then the topics given all assignments, both exactly.

    z_di | z_-di, phi  by  p(k) ~ (alpha_k + n_dk) phi_kw      (theta integrated out; `kernels.assignments`)
    phi_k | z  ~  Dirichlet(beta + n_k1, ..., beta + n_kV).

Documents are independent given phi, so a sweep runs on all threads and does not depend on their number. If they are
spread over processes (`lda.spread`), the counts are summed over them after the sweep, and each process draws its part
of the topics: whole numbers add up exactly, and every part has random streams of its own, so the draws do not depend on
the number of processes either.

In the warm-up the topics are set to the mean of their conditional law, which moves faster than draws, and the corpus
grows: many sweeps over a few thousand documents cost as much as one over all, and leave the arbitrary start at once.
Documents that join are assigned given topics that are good already. From the end of the warm-up on, when alpha is
fixed, every transition is an exact Gibbs step on the posterior of all documents.
"""

from __future__ import annotations

import numpy as np

from orthodrome.core.pytree import pytree, static
from orthodrome.errors import BadInput
from orthodrome.kernels.assignments import Tokens, assign_topics, sweep_order
from orthodrome.kernels.tokens.order import Order
from orthodrome.models.lda.documents import TokenDocuments
from orthodrome.models.lda.prior import LEARN_EVERY, learnt_prior
from orthodrome.models.lda.sampler import AllocationInfo, AllocationProblem, AllocationSampler, AllocationState
from orthodrome.models.lda.weights import draw_topics, mean_topics


class KnownOrder:
    """The order in which sweeps visit the tokens of the first documents, found when these are others than before."""

    def __init__(self) -> None:
        self.tokens: Tokens | None = None
        self.found: Order | None = None

    def of(self, tokens: Tokens, num_words: int, num_topics: int) -> Order | None:
        """Return the order of the tokens, which are those of the corpus up to some document."""
        if self.tokens is None or not _same(tokens, self.tokens):
            self.tokens, self.found = tokens, sweep_order(tokens, num_words, num_topics)
        return self.found


def _same(one: Tokens, other: Tokens) -> bool:
    """Return whether tokens are as many from the same place of memory; who holds the others keeps it from reuse."""
    return one.words.ctypes.data == other.words.ctypes.data and np.array_equal(one.starts, other.starts)


@pytree
class AllocationGibbs(AllocationSampler):
    """Topics by exact Gibbs sweeps.

    stages: (documents, sweeps) of the warm-up while the corpus grows; after them all documents are swept
    order: of the tokens, kept between sweeps; no draw depends on it
    """

    given: AllocationProblem
    stages: tuple[tuple[int, int], ...] = static(default=())
    order: KnownOrder = static(default_factory=KnownOrder)

    @property
    def adjusted(self) -> bool:
        """Whether the law is exact, which it is: all conditionals are."""
        return True

    def begin(self, state: AllocationState, seed: int) -> AllocationState:
        """Return the state with tokens that have no topic yet."""
        size = self.given.data.num_own_tokens
        return state._replace(assignments=np.full(size, -1, np.int32), counts=np.zeros(state.topics.shape, np.int32))

    def with_documents(
        self, data: TokenDocuments, total: int, state: AllocationState
    ) -> tuple[AllocationGibbs, AllocationState]:
        """Raise BadInput: an exact chain needs all documents at every transition."""
        raise BadInput("method='gibbs' needs all documents at once; for a stream use method='scir'")

    def active(self, taken: int) -> int:
        """Return how many documents the transition number `taken` sweeps."""
        if taken < self.num_warmup:
            for documents, sweeps in self.stages:
                if taken < sweeps:
                    return min(documents, self.given.data.count)
                taken -= sweeps
        return self.given.data.count

    def move(self, seed: int, state: AllocationState, left: float) -> tuple[AllocationState, AllocationInfo]:
        """Sweep the assignments given the topics, then renew the topics given the assignments."""
        size, given = self.active(int(state.taken)), self.given
        tokens = given.data.first(size)
        own = state.assignments[: tokens.words.shape[0]]
        names = given.data.names(size)
        order = self.order.of(tokens, *state.topics.shape)
        found = assign_topics(seed, tokens, state.topics, state.prior, assignments=own, names=names, order=order)
        state.counts[:] = 0
        state.counts[found.words] = found.counts
        given.data.total_of_topics(state.counts)
        if left > 0 and given.learns and self._learns_now(int(state.taken), size):
            state.prior[:] = learnt_prior(state.prior, own, tokens.starts, given.data)
        if left > 0:
            mean_topics(state.counts, self._smoothing(size), state.topics)
        else:
            draw_topics(seed ^ 1, state.counts, given.topic_word_prior, state.topics, given.data)
        return state, AllocationInfo(size, 0.0, float(state.prior.sum()))

    def _smoothing(self, size: int) -> float:
        """Return beta, less for a part of the corpus, whose counts are smaller: beta (n / D)^(1/3), by measurement."""
        return float(self.given.topic_word_prior * (size / max(1, self.given.data.count)) ** (1 / 3))

    def _learns_now(self, taken: int, size: int) -> bool:
        """Return whether alpha is learnt now: every few sweeps over all documents.

        Not in the first half of the warm-up: while topics are still vague it would starve those that are behind.
        """
        if 2 * taken < self.num_warmup or size < self.given.data.count:
            return False
        return (taken + 1) % LEARN_EVERY == 0 or taken + 1 == self.num_warmup
