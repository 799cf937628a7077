"""Exact slice Gibbs sampling of a Dirichlet-process mixture, truncation-free.

The slices are Walker's (2007), in the efficient form of Kalli, Griffin & Walker (2011) and Papaspiliopoulos (2008); the
weights of the clusters are drawn without an order (`weights`). One transition:

    alpha | number of clusters                                                      (Escobar & West 1995)
    the partition, by splits and merges with weights and parameters integrated out  (`split_merge`)
    w | partition;  theta | partition
    u_i ~ U(0, w_{z_i});  sticks broken off the rest, down to the lowest u_i, theta of those drawn from G_0
    z_i among {j: w_j >= u_i}, with probabilities proportional to f(x_i | theta_j).

With a batch the last two lines are for some rows only, chosen at random; as the statistics of all rows are kept up to
date, this is a Gibbs sampler of the same posterior with a random scan: exact, and O(batch) for each transition.
Components that lose their last row are forgotten: one that is opened later has fresh parameters.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from orthodrome.core.pytree import pytree, static
from orthodrome.models.mixture.assigning import batch_rows, choose_components, levels_of
from orthodrome.models.mixture.components.contract import Labels, Names
from orthodrome.models.mixture.sampler import (
    MixtureInfo,
    MixtureProblem,
    MixtureSampler,
    MixtureState,
    free_slots,
    keep,
    places_of,
    relabel,
)
from orthodrome.models.mixture.search import searched_labels
from orthodrome.models.mixture.split_merge import Tally, split_and_merge
from orthodrome.models.mixture.spread import lowest_of_all, own_rows
from orthodrome.models.mixture.weights import cluster_weights, escobar_west, open_components

PARAMETERS, FRESH, ROWS = 1, 2, 3
"""Streams of a transition."""


def stream(seed: int, which: int) -> int:
    """Return the seed of a stream of a transition."""
    return (seed ^ (which * 0x9E3779B97F4A7C15)) & 0x7FFFFFFFFFFFFFFF


@pytree
class MixtureGibbs(MixtureSampler):
    """Clusters by exact Gibbs steps.

    moves: proposals of a split or a merge for each transition, at least so many in the warm-up; None for none
    batch_size: rows of a transition, None for all
    """

    given: MixtureProblem
    moves: int | None = static(default=None)
    batch_size: int | None = static(default=None)

    @property
    def adjusted(self) -> bool:
        """Whether the law is exact, which it is: all conditionals are."""
        return True

    @property
    def num_auxiliary(self) -> int:
        """None are needed."""
        return 0

    def begin(self, seed: int, state: MixtureState) -> MixtureState:
        """Draw weights and parameters of the first clusters."""
        held = np.flatnonzero(state.sizes).astype(np.int32)
        rng = np.random.default_rng(seed)
        logs, _ = cluster_weights(rng, state.sizes[held], float(state.concentration))
        state.parameters[held] = self.given.components.draw(stream(seed, PARAMETERS), state.statistics[held])
        return self._kept(state, held, np.exp(logs))

    def search(self, seed: int, labels: Labels) -> Labels:
        """Find clusters in parts of the rows, if the warm-up is to find any."""
        return search_by_gibbs(seed, self.given, labels, self.moves)

    def move(self, seed: int, state: MixtureState) -> tuple[MixtureState, MixtureInfo]:
        """Draw concentration, partition, weights, parameters and labels, each given the rest."""
        given, rng = self.given, np.random.Generator(np.random.Philox(seed))
        clusters = int(np.count_nonzero(state.sizes))
        if given.prior is not None:
            alpha = escobar_west(rng, float(state.concentration), clusters, given.data.count, given.prior)
            state = state._replace(concentration=alpha)
        tally = self._split_and_merge(rng, state)
        held = np.flatnonzero(state.sizes).astype(np.int32)
        log_weights, log_rest = cluster_weights(rng, state.sizes[held], float(state.concentration))
        state.parameters[held] = given.components.draw(stream(seed, PARAMETERS), state.statistics[held])
        rows = self.rows(seed)
        levels = levels_of(seed, rows, places_of(state, held, state.labels[rows]), log_weights)
        free, lowest = free_slots(state, held), lowest_of_all(given.data, float(levels.min(initial=0.0)))
        _, new, log_rest = open_components(rng, log_rest, float(state.concentration), lowest, free.shape[0])
        held = np.concatenate([held, free[: new.shape[0]]]).astype(np.int32)
        log_weights = np.concatenate([log_weights, new])
        self._open(seed, state, free[: new.shape[0]])
        facts = (given.components, given.data, rows, levels, log_weights, state.parameters, held)
        relabel(given, state, rows, choose_components(stream(seed, ROWS), *facts))
        capped = log_rest > lowest or tally.capped
        state = self._kept(state, held, np.exp(log_weights))
        counts = (new.shape[0], tally.splits, tally.merges, tally.attempts)
        return state, MixtureInfo(int(state.held), *counts, bool(capped), 0.0)

    def rows(self, seed: int) -> Names:
        """Return the rows of a transition."""
        count = self.given.data.count
        if self.batch_size is None or self.batch_size >= count:
            return own_rows(self.given.data)
        return batch_rows(seed, count, self.batch_size)

    def _split_and_merge(self, rng: np.random.Generator, state: MixtureState) -> Tally:
        """Propose splits and merges, more of them in the warm-up."""
        return split_and_merge(rng, self.given, state, self.moves or 0, self.warm(state))

    def _open(self, seed: int, state: MixtureState, slots: NDArray[np.int64]) -> None:
        """Draw the parameters of new components from the base measure."""
        if slots.shape[0]:
            nothing = np.zeros((slots.shape[0], self.given.components.num_statistics))
            state.parameters[slots] = self.given.components.draw(stream(seed, FRESH), nothing)

    def _kept(self, state: MixtureState, held: NDArray[np.int32], weights: NDArray[np.float64]) -> MixtureState:
        """Return the state with the clusters that have rows."""
        kept = state.sizes[held] > 0
        keep(state, held, weights, kept)
        state.order[: kept.sum()] = held[kept]
        return state._replace(held=int(kept.sum()))


def search_by_gibbs(seed: int, given: MixtureProblem, labels: Labels, moves: int | None) -> Labels:
    """Return labels from a search by Gibbs steps with splits and merges; those given where either is not wanted."""
    if not moves or not given.num_warmup:
        return labels
    return searched_labels(seed, given, labels, lambda part: MixtureGibbs(part, moves))
