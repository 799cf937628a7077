"""Minibatches with a memory: SCIR whose counts are those of all documents at their present assignments.

A minibatch's counts times D / |S| are unbiased, but their variance widens the law of the topics: where the step is h,
by tanh(h / 2) Var[n] (Baker et al. 2018, Theorem 3.1). Here every document keeps its assignments z_d, and n = n(z)
counts all of them; a minibatch renews those of its documents only, so n(z) is the estimate with a control variate for
each document, and it has no noise that the posterior does not have. A transition is

    1. z_d | z_d', phi   for the documents of the minibatch, by Gibbs sweeps from where they are;
    2. theta_k. ~ Gamma(V beta + n_k., 1) anew, with phi_k = theta_k / theta_k. as it is;
    3. theta'            by the exact transition of the CIR process over the time h with the shapes beta + n(z).

It leaves pi(z, theta) = p(z | words) prod_kw Gamma(theta_kw; beta + n_kw, 1) as it is, at any h and any minibatch, so
the law of the topics is exact: under pi, phi | z is Dirichlet(beta + n), independent of the sums theta_k., which are
Gamma; step 1 is a Gibbs step on the posterior of (z, phi); step 2 draws what it left behind; and Gamma(beta + n, 1) is
the stationary law of step 3. Minibatches follow an order that no state affects: once around all documents, then anew
in another order. Until each has had its turn, n is the count of those that had, times all tokens over theirs.

The price is memory, 4 bytes for each token, and that all documents must be there: a stream cannot have it.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from orthodrome.core.pytree import pytree, static
from orthodrome.errors import BadInput
from orthodrome.kernels.assignments import assign_topics
from orthodrome.kernels.generator import OPTIONS
from orthodrome.models.lda.documents import TokenDocuments
from orthodrome.models.lda.prior import LEARN_EVERY, learnt_prior
from orthodrome.models.lda.sampler import AllocationInfo, AllocationProblem, AllocationSampler, AllocationState
from orthodrome.models.lda.updates import SCIRUpdate
from orthodrome.models.lda.weights import Matrix, normalised_exp
from orthodrome.schedules import Polynomial

ORDER, WEIGHTS, TOTALS = 1, 2, 3
"""Streams: the order of the documents; and, of a transition, the noise of the weights and of their sums."""


@njit(**OPTIONS)
def _taken_out(begins, starts, words, z, own, counts):  # type: ignore[no-untyped-def]
    """Copy the assignments of some documents into `own`, and count them no longer; begins: where they are in z."""
    for d in range(begins.shape[0]):
        for i in range(starts[d], starts[d + 1]):
            own[i] = z[begins[d] + i - starts[d]]
            if own[i] >= 0:
                counts[words[i], own[i]] -= np.int32(1)


@njit(**OPTIONS)
def _put_back(begins, starts, words, z, own, counts):  # type: ignore[no-untyped-def]
    """Copy the assignments of some documents from `own`, and count them."""
    for d in range(begins.shape[0]):
        for i in range(starts[d], starts[d + 1]):
            z[begins[d] + i - starts[d]] = own[i]
            counts[words[i], own[i]] += np.int32(1)


@pytree
class RememberedAllocation(AllocationSampler):
    """Topics by SCIR with remembered assignments.

    batch_size: documents of a minibatch; sweeps: over them in a transition
    step_size_at: h (1 + m / tau)^(-kappa) by m, the updates so far
    """

    given: AllocationProblem
    batch_size: int = static()
    sweeps: int = static()
    step_size_at: Polynomial = static()

    def begin(self, state: AllocationState, seed: int) -> AllocationState:
        """Return the state with weights at the topics, and tokens that have no topic yet."""
        given = self.given
        weights = SCIRUpdate().first_weights(
            state.topics, given.topic_word_prior, given.data.num_tokens / given.num_topics
        )
        assignments = np.full(given.data.num_own_tokens, -1, np.int32)
        return state._replace(weights=weights, assignments=assignments, counts=np.zeros(weights.shape, np.int32))

    def with_documents(
        self, data: TokenDocuments, total: int, state: AllocationState
    ) -> tuple[RememberedAllocation, AllocationState]:
        """Raise BadInput: documents that are not there cannot be remembered."""
        raise BadInput("remember=True needs all documents at once; for a stream use remember=False")

    def move(self, seed: int, state: AllocationState, left: float) -> tuple[AllocationState, AllocationInfo]:
        """Sweep the documents of a batch from where they are, and move the weights."""
        given, data, taken = self.given, self.given.data, int(state.taken)
        rows = self.rows(taken)
        self._sweep(seed, rows, state)
        counts = state.counts.astype(np.float32)
        if (counted := int(state.counts.sum(dtype=np.int64))) < data.num_tokens:
            counts *= np.float32(data.num_tokens / max(1, counted))
        step = float(self.step_size_at(taken))
        self._draw_totals(seed, state.weights, counts)
        state.weights[:] = data.drawn_weights(seed ^ WEIGHTS, state.weights, given.topic_word_prior, counts, step)
        normalised_exp(state.weights, state.topics)
        late = 2 * taken >= self.num_warmup and counted == data.num_tokens  # topics are vague before that
        if left > 0 and given.learns and late and (taken + 1) % LEARN_EVERY == 0:
            tokens = data.first(data.count)
            state.prior[:] = learnt_prior(state.prior, state.assignments, tokens.starts, data)
        return state, AllocationInfo(rows.shape[0], step, float(state.prior.sum()))

    def rows(self, taken: int) -> NDArray[np.int64]:
        """Return the documents of transition number `taken`: the next ones in the order of this time around."""
        count = self.given.data.count
        turns = -(-count // self.batch_size)
        order = np.random.default_rng([taken // turns, ORDER]).permutation(count)
        return order[taken % turns :: turns]

    def _sweep(self, seed: int, rows: NDArray[np.int64], state: AllocationState) -> None:
        """Renew the assignments of these documents, and the counts."""
        data = self.given.data
        tokens, names = data.batch(rows)
        begins, own = data.places(names), np.empty(tokens.words.shape[0], np.int32)
        change = np.zeros_like(state.counts) if data.is_spread else state.counts
        _taken_out(begins, tokens.starts, tokens.words, state.assignments, own, change)
        assign_topics(
            seed,
            tokens,
            state.topics,
            state.prior,
            assignments=own,
            sweeps=self.sweeps,
            burn=self.sweeps - 1,
            names=names,
        )
        _put_back(begins, tokens.starts, tokens.words, state.assignments, own, change)
        if data.is_spread:
            state.counts[:] += data.total(change)

    def _draw_totals(self, seed: int, weights: Matrix, counts: Matrix) -> None:
        """Give the weights of every topic a new sum, Gamma(V beta + n_k., 1); weights: logarithms, (V, K)."""
        shape = weights.shape[0] * self.given.topic_word_prior + counts.sum(axis=0, dtype=np.float64)
        drawn = np.random.default_rng([seed, TOTALS]).standard_gamma(shape)
        top = weights.max(axis=0)
        sums = np.exp(weights - top).sum(axis=0, dtype=np.float64)
        weights += (np.log(drawn) - np.log(sums) - top).astype(np.float32)
