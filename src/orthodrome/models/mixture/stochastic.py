"""The minibatched slice sampler (Baker et al. 2018, section 4.2, with the corrections of errata 1.3 and 1.6).

Components have an order, that of their sticks; z* is the last place with a row. One transition, with a batch S of n of
the N rows and m_j = (N / n) #{i in S: z_i = j}:

    sticks of the places up to z*, towards Beta(1 + m_j, alpha + sum_{l>j} m_l), and parameters, by a step of `update`
    components change places                                             (`compiled.places`, on the sizes of all rows)
    u_i ~ U(0, w_{z_i}) for i in S
    alpha | sticks ~ Gamma(a + z*, b - sum_j log(1 - v_j))
    sticks broken off the rest, down to the lowest u_i; parameters of those drawn from G_0
    z_i among {j: w_j >= u_i}, with probabilities proportional to f(x_i | theta_j), for i in S.

With `control`, m_j and the parameters' statistics are those of all rows at their present labels: the control variate
that leaves no noise of the batch at all. Then, as with all rows in a batch, and as far as an update is exact, so is the
sampler, whatever n and h: auxiliary numbers are drawn anew given the present labels, from which SCIR's transitions
leave the conditional laws of sticks and parameters invariant, and labels are a random scan.

Components behind the last one with a row are forgotten, so that what is opened again has fresh parameters. Now and then
clusters are split and merged on the statistics of all rows (`split_merge`), after which sticks are drawn anew.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from orthodrome.core.pytree import pytree, static
from orthodrome.core.types import Reals
from orthodrome.models.mixture.assigning import Batch, batch_of, batch_rows, choose_components
from orthodrome.models.mixture.compiled.places import slice_batch
from orthodrome.models.mixture.compiled.rows import count_unlabelled, hold_up_to_last
from orthodrome.models.mixture.compiled.sticks import stick_shapes
from orthodrome.models.mixture.components.contract import Labels, Names
from orthodrome.models.mixture.gibbs import FRESH, PARAMETERS, ROWS, search_by_gibbs, stream
from orthodrome.models.mixture.sampler import (
    MixtureInfo,
    MixtureProblem,
    MixtureSampler,
    MixtureState,
    keep,
    places_of,
    relabel,
)
from orthodrome.models.mixture.split_merge import Tally, split_and_merge
from orthodrome.models.mixture.updates.contract import ComponentUpdate
from orthodrome.models.mixture.weights import cluster_weights, size_biased, stick_weights, sticks_of

STICKS, AUXILIARY, ANEW = 4, 5, 6
"""Streams of a transition, beside those of Gibbs. What is drawn anew after a split moves on in the same transition, so
that it has a stream of its own."""


@pytree
class StochasticMixture(MixtureSampler):
    """Clusters by stochastic gradients.

    update: how parameters and sticks move; batch_size: n; parameter_step, stick_step: h of either
    moves: proposals of a split or a merge at a time; moves_every: transitions from one time to the next, None for never
    swaps: proposals of an exchange of two places for each transition
    control: whether sums of all rows at their present labels take the place of those of the batch times N / n, which
        estimate them; they are kept up to date, so it costs nothing
    """

    given: MixtureProblem
    update: ComponentUpdate
    batch_size: int = static()
    parameter_step: float = static()
    stick_step: float = static()
    moves: int | None = static(default=None)
    moves_every: int | None = static(default=None)
    swaps: int | None = static(default=None)
    control: bool = static(default=False)

    @property
    def num_auxiliary(self) -> int:
        """What the update needs."""
        return self.update.num_auxiliary(self.given.components)

    def begin(self, seed: int, state: MixtureState) -> MixtureState:
        """Draw parameters and sticks given the first clusters."""
        return self._drawn_anew(seed, state, np.flatnonzero(state.sizes).astype(np.int32))

    def search(self, seed: int, labels: Labels) -> Labels:
        """Find clusters in parts of the rows by exact transitions, if the warm-up is to find any."""
        return search_by_gibbs(seed, self.given, labels, self.moves)

    def go_on(self, draw: Any, state: MixtureState) -> MixtureState:
        """Return the state at the weights and parameters of a draw, the largest clusters first."""
        rng, alpha = np.random.default_rng(0), float(draw["concentration"])
        count = int(np.count_nonzero(draw["weights"]))
        order = np.argsort(-draw["weights"], kind="stable")[:count]
        weights = draw["weights"][order]
        state.sizes[:count] = np.maximum(1, np.rint(weights * self.given.total))
        state.parameters[:count] = self.given.components.unnamed(draw)[order]
        totals = self._stick_totals(alpha, state, np.arange(count, dtype=np.int32))
        log_rest = np.log(max(1.0 - weights.sum(), 1e-300))
        state.sticks[:count] = sticks_of(rng, np.log(weights), float(log_rest), totals)
        self._refresh(0, state, np.arange(count), np.zeros((count, self.given.components.num_statistics)))
        state.weights[:count], state.order[:count] = weights, np.arange(count)
        return state._replace(held=count, concentration=alpha)

    def with_documents(self, data: Any, total: int, state: MixtureState) -> tuple[StochasticMixture, MixtureState]:
        """Return the same chain with other rows (its documents), all of which are the next batch.

        Sizes and statistics go on counting: they are those of all rows seen so far.
        """
        given = replace(self.given, data=data, total=total)
        labels = np.full(data.count, -1, np.int32)
        # the labels of earlier rows are gone, and without them nothing can be split or merged
        own = replace(self, given=given, batch_size=data.count, moves_every=None, control=False)
        return own, state._replace(labels=labels)

    def move(self, seed: int, state: MixtureState) -> tuple[MixtureState, MixtureInfo]:
        """Move sticks and parameters, then the labels of a batch."""
        given, tally = self.given, Tally()
        rows = self.rows(seed)
        self._label_new(seed, state, rows)
        if self.moves_every and int(state.taken) % self.moves_every == 0:
            state, tally = self._split_and_merge(seed, state)
        before = int(state.held)
        batch = batch_of(given.data, rows)
        self._advance(seed, state, state.order[:before], batch)
        levels, weights = np.empty(rows.shape[0]), np.empty(state.sizes.shape[0])
        chain = (state.labels, state.order, before, state.sticks, state.sizes)
        prior = given.prior or (0.0, 0.0)
        total, alpha, log_rest, lowest = slice_batch(
            seed, rows, *chain, self.swaps or 0, float(state.concentration), prior, levels, weights
        )
        state = state._replace(concentration=float(alpha))
        self._open(seed, state, state.order[before:total])
        held, log_weights = state.order[:total], weights[:total]
        among = (given.components, batch.data, batch.places, levels, log_weights, state.parameters, held)
        relabel(given, state, rows, choose_components(stream(seed, ROWS), *among), batch)
        kept = (state.weights, state.parameters, state.auxiliary)
        state = state._replace(held=hold_up_to_last(state.order, total, state.sizes, log_weights, *kept))
        counts = (total - before, tally.splits, tally.merges, tally.attempts)
        clusters = int(np.count_nonzero(state.sizes))
        return state, MixtureInfo(clusters, *counts, bool(log_rest > lowest or tally.capped), self.parameter_step)

    def rows(self, seed: int) -> Names:
        """Return the rows of a batch."""
        count = self.given.data.count
        if self.batch_size >= count:
            return np.arange(count)
        return batch_rows(seed, count, self.batch_size)

    def estimated(self, state: MixtureState, held: NDArray[np.int32], batch: Batch) -> Reals:
        """Return the statistics of a batch times N / n, by place."""
        places = places_of(state, held, state.labels[batch.rows])
        found = self.given.components.statistics(batch.data, batch.places, places, held.shape[0])
        found *= self.given.total / batch.rows.shape[0]
        return found

    def _advance(self, seed: int, state: MixtureState, held: NDArray[np.int32], batch: Batch) -> None:
        """Take a step of sticks and parameters."""
        size, alpha = held.shape[0], float(state.concentration)
        exact = self.control or batch.rows.shape[0] == self.given.total
        statistics: Reals = state.statistics if self.control else self.estimated(state, held, batch)
        lines = held if self.control else np.arange(size, dtype=np.int32)
        shapes, prior = stick_shapes(alpha, statistics, lines), np.array([1.0, alpha])
        sticks = (state.sticks[:size], shapes, prior, self.stick_step, exact)
        state.sticks[:size] = self.update.advance_sticks(stream(seed, STICKS), *sticks)
        places = (state.parameters, state.auxiliary, held, statistics, lines)
        own = stream(seed, PARAMETERS)
        self.update.advance_slots(own, self.given.components, *places, self.parameter_step, exact)

    def _stick_totals(self, alpha: float, state: MixtureState, held: NDArray[np.int32]) -> Reals:
        """Return the shapes of the laws of the sticks' totals."""
        shapes = stick_shapes(alpha, state.sizes[:, None].astype(float), held)
        return self.update.stick_totals(shapes, np.array([1.0, alpha]))

    def _label_new(self, seed: int, state: MixtureState, rows: Names) -> None:
        """Draw labels of rows that have none among the components that are held."""
        if not count_unlabelled(rows, state.labels):
            return
        new = rows[state.labels[rows] < 0]
        held = state.order[: state.held].copy()
        log_weights, _ = stick_weights(state.sticks[: held.shape[0]])
        levels = np.full(new.shape[0], -np.inf)
        among = (self.given.components, self.given.data, new, levels, log_weights, state.parameters, held)
        relabel(self.given, state, new, choose_components(stream(seed, AUXILIARY), *among, weighted=True))

    def _split_and_merge(self, seed: int, state: MixtureState) -> tuple[MixtureState, Tally]:
        """Propose splits and merges, and draw sticks and parameters anew if any was accepted.

        In the warm-up there are more of them, as in `MixtureGibbs`.
        """
        rng = np.random.Generator(np.random.Philox(seed))
        tally = split_and_merge(rng, self.given, state, self.moves or 0, self.warm(state))
        if not tally.splits + tally.merges:
            return state, tally
        return self._drawn_anew(seed, state, np.flatnonzero(state.sizes).astype(np.int32)), tally

    def _drawn_anew(self, seed: int, state: MixtureState, clusters: NDArray[np.int32]) -> MixtureState:
        """Draw weights, the order of the sticks and parameters from their law given the partition."""
        rng, given, alpha = np.random.default_rng([seed, STICKS]), self.given, float(state.concentration)
        logs, log_rest = cluster_weights(rng, state.sizes[clusters], alpha)
        free = np.flatnonzero(state.sizes == 0).astype(np.int32)
        places, logs, log_rest = size_biased(rng, logs, log_rest, alpha, free.shape[0])
        empty = places < 0
        held = np.where(empty, np.append(free, 0)[np.cumsum(empty) - empty], clusters[places]).astype(np.int32)
        state.sticks[: held.shape[0]] = sticks_of(rng, logs, log_rest, self._stick_totals(alpha, state, held))
        state.parameters[held] = given.components.draw(stream(seed, ANEW), state.statistics[held])
        self._refresh(seed, state, held, state.statistics[held])
        keep(state, held, np.exp(logs), np.ones(held.shape[0], bool))
        state.order[: held.shape[0]] = held
        return state._replace(held=held.shape[0])

    def _open(self, seed: int, state: MixtureState, slots: NDArray[np.int32]) -> None:
        """Draw the parameters of new components from the base measure."""
        if slots.shape[0]:
            places = (state.parameters, state.auxiliary, slots)
            self.update.open_slots(stream(seed, FRESH), self.given.components, *places)

    def _refresh(self, seed: int, state: MixtureState, slots: Any, statistics: Reals) -> None:
        """Draw the auxiliary numbers of parameters that were just drawn."""
        components = self.given.components
        state.auxiliary[slots] = self.update.fresh(
            stream(seed, AUXILIARY), components, state.parameters[slots], statistics
        )
