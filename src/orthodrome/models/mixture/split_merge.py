"""Splits and merges of clusters, weights and parameters integrated out (Jain & Neal 2004, with another proposal).

Two rows, the anchors, are chosen at random. If they are in one cluster, it is proposed to split it in two, each with
one of the anchors; else to merge their two clusters. What either decides about is the set U of all rows of these
clusters.

There are two kinds of proposals, which take turns. A division of U is proposed with probability q, a merge always.

    guided   a launch finds two components that may explain U: some rows of U, chosen at random, are divided between the
             anchors and redistributed a few times given typical parameters of the two parts. It depends on U and the
             anchors alone, never on how U is divided now, so it is the same chance variable for a move and for its
             reverse. Given the launch, row i goes to the first part with a probability p_i, independently:
             q = prod_i (p_i or 1 - p_i). It finds clusters that are different.
    blind    all rows have one p, uniform on (0, 1): q = Gamma(n_1) Gamma(n_2) / Gamma(n). It hardly ever splits, but
             merges clusters that are alike, whose division no launch would repeat (Chang & Fisher 2013), at the cost of
             a look at their statistics.

So a launch may come from few rows, while

    p(split) / p(merged) = alpha Gamma(n_1) Gamma(n_2) / Gamma(n) * m(S_1) m(S_2) / m(S)

is a ratio of the exact law of all rows, and a split is accepted with probability min(1, ratio / q), a merge with
min(1, q / ratio). Every move leaves the posterior of the partition invariant. In the warm-up, which only looks for a
start, guided merges are judged by another criterion (`explains_both`).
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from orthodrome.core.types import Reals
from orthodrome.models.mixture.compiled.choices import log_probability
from orthodrome.models.mixture.components.contract import Components, Labels, Names
from orthodrome.models.mixture.sampler import MixtureProblem, MixtureState, clear, free_slots, relabel

LAUNCH_ROWS, LAUNCH_SWEEPS, MOST_MOVES = 1_000, 6, 50
"""Rows of a launch, how often they are redistributed, and the most guided proposals in a transition of the warm-up."""


class Tally(NamedTuple):
    """What became of the proposals; capped: whether a split found no free slot."""

    splits: int = 0
    merges: int = 0
    attempts: int = 0
    capped: bool = False
    touched: int = 0


def split_and_merge(
    rng: np.random.Generator, given: MixtureProblem, state: MixtureState, moves: int, budget: int = 0
) -> Tally:
    """Propose moves of both kinds, and carry out those that are accepted.

    budget: propose more, until guided moves have touched so many rows, and blind ones as long as they merge; a number
        of moves that depends on the state is for the warm-up only
    """
    tally = Tally()
    if given.data.count < 2 or not moves:
        return tally
    tally = merge_alike(rng, given, state, tally) if budget else tally
    for _ in range(moves):
        tally = propose(rng, given, state, tally, blind=True)
    guided = 0
    tally = tally._replace(touched=0)
    while guided < moves or (tally.touched < budget and guided < MOST_MOVES):
        tally, guided = propose(rng, given, state, tally, blind=False, settling=budget > 0), guided + 1
    return tally


def merge_alike(rng: np.random.Generator, given: MixtureProblem, state: MixtureState, tally: Tally) -> Tally:
    """Propose blind moves, twice as many as there are clusters at a time, until few of them merge."""
    while (clusters := int(np.count_nonzero(state.sizes))) > 1:
        before = tally.merges
        for _ in range(2 * clusters):
            tally = propose(rng, given, state, tally, blind=True)
        if 10 * (tally.merges - before) < clusters:
            break
    return tally


def propose(
    rng: np.random.Generator,
    given: MixtureProblem,
    state: MixtureState,
    tally: Tally,
    blind: bool,
    settling: bool = False,
) -> Tally:
    """Propose one split or merge; settling: merge what one component explains as well (`explains_both`)."""
    anchors = rng.choice(given.data.count, 2, replace=False)
    first, second = (int(label) for label in state.labels[anchors])
    tally = tally._replace(attempts=tally.attempts + 1)
    if first != second:
        return _merge(rng, given, state, tally, anchors, blind, settling)
    free = free_slots(state, np.flatnonzero(state.sizes).astype(np.int32))
    if not free.shape[0]:
        return tally._replace(capped=True)
    return _split(rng, given, state, tally, anchors, blind, int(free[0]))


def _split(
    rng: np.random.Generator,
    given: MixtureProblem,
    state: MixtureState,
    tally: Tally,
    anchors: NDArray[np.int64],
    blind: bool,
    other: int,
) -> Tally:
    """Propose to give some of a cluster's rows to a free slot."""
    first = int(state.labels[anchors[0]])
    rows = np.flatnonzero(state.labels == first)
    tally = tally._replace(touched=tally.touched + rows.shape[0])
    margins = None if blind else launch_margins(rng, given.components, given.data, rows, anchors)
    p = rng.random() if margins is None else 1 / (1 + np.exp(-margins))
    goes_first = rng.random(rows.shape[0]) < p
    goes_first[rows == anchors[0]], goes_first[rows == anchors[1]] = True, False
    parts = given.components.statistics(given.data, rows, np.where(goes_first, 0, 1).astype(np.int32), 2)
    log_q = log_proposal(margins, goes_first, rows, anchors)
    if math.log(1 - rng.random()) >= log_ratio(given.components, parts, float(state.concentration)) - log_q:
        return tally
    relabel(given, state, rows, np.where(goes_first, first, other).astype(np.int32))
    return tally._replace(splits=tally.splits + 1)


def _merge(
    rng: np.random.Generator,
    given: MixtureProblem,
    state: MixtureState,
    tally: Tally,
    anchors: NDArray[np.int64],
    blind: bool,
    settling: bool,
) -> Tally:
    """Propose to give all rows of the second anchor's cluster to the first's."""
    first, second = (int(label) for label in state.labels[anchors])
    ratio = log_ratio(given.components, state.statistics[[first, second]], float(state.concentration))
    if blind:
        log_q = blind_proposal(state.sizes[first], state.sizes[second])
    else:
        rows = np.flatnonzero((state.labels == first) | (state.labels == second))
        tally = tally._replace(touched=tally.touched + rows.shape[0])
        if settling:
            alike = explains_both(given, rows, state.labels[rows] == first, state.statistics[[first, second]])
            log_q = math.inf if alike else -math.inf
        else:
            margins = launch_margins(rng, given.components, given.data, rows, anchors)
            log_q = log_proposal(margins, state.labels[rows] == first, rows, anchors)
    if math.log(1 - rng.random()) >= log_q - ratio:
        return tally
    own = np.flatnonzero(state.labels == second)
    relabel(given, state, own, np.full(own.shape[0], first, np.int32))
    clear(state, second)
    return tally._replace(merges=tally.merges + 1)


def explains_both(given: MixtureProblem, rows: Names, in_first: NDArray[np.bool_], parts: Reals) -> bool:
    """Return whether one component explains the rows of two clusters as well as two do, whoever is in which.

    Compared are the likelihoods of the rows under one component and under two with the clusters' shares, at typical
    parameters. What the second component costs is the difference of log likelihood and log marginal likelihood that
    each cluster has, less that of both together, and log(n) / 2 for its share: with many rows and regular parameters
    the criterion of Schwarz (1978), while categories that no row has cost next to nothing. It is no Metropolis test:
    two halves of one cluster have millions of equivalent divisions, of which a proposal would have to hit the present
    one. So it serves the warm-up alone.

    in_first: which rows are in the first cluster; parts: the statistics of the two
    """
    lines = np.concatenate([parts, parts.sum(axis=0, keepdims=True)])
    densities = given.components.all_densities(given.data, rows, given.components.centre(lines))
    fits = np.array([densities[in_first, 0].sum(), densities[~in_first, 1].sum(), densities[:, 2].sum()])
    one, two, both = fits - given.components.log_marginal(lines)
    shares = np.log(lines[:2, 0] / lines[2, 0])
    gain = float(np.sum(np.logaddexp(densities[:, 0] + shares[0], densities[:, 1] + shares[1]) - densities[:, 2]))
    return gain < one + two - both + math.log(rows.shape[0]) / 2


def log_proposal(
    margins: Reals | None, goes_first: NDArray[np.bool_], rows: Names, anchors: NDArray[np.int64]
) -> float:
    """Return log q; margins: log p - log (1 - p) of all rows, of which the anchors do not count, None if blind."""
    if margins is None:
        return blind_proposal(goes_first.sum(), (~goes_first).sum())
    return float(log_probability(margins, goes_first, rows, *anchors))


def blind_proposal(first: Any, second: Any) -> float:
    """Return log [ Gamma(n_1) Gamma(n_2) / Gamma(n) ], the mean over p of p^(n_1 - 1) (1 - p)^(n_2 - 1)."""
    return float(gammaln(first) + gammaln(second) - gammaln(first + second))


def log_ratio(components: Components, parts: Reals, concentration: float) -> float:
    """Return log [ p(split) / p(merged) ] of the partition and all rows, from the statistics of the two parts."""
    lines = np.concatenate([parts, parts.sum(axis=0, keepdims=True)])
    one, two, both = components.log_marginal(lines) + gammaln(lines[:, 0])
    return math.log(concentration) + float(one + two - both)


def launch_margins(
    rng: np.random.Generator, components: Components, data: Any, rows: Names, anchors: NDArray[np.int64]
) -> Reals:
    """Return log p_i - log (1 - p_i) of all rows, from a launch with some of them."""
    some = rows if rows.shape[0] <= LAUNCH_ROWS else rng.choice(rows, LAUNCH_ROWS, replace=False)
    some = some[(some != anchors[0]) & (some != anchors[1])]
    ends = components.statistics(data, anchors, np.arange(2, dtype=np.int32), 2)
    found = ends
    for _ in range(LAUNCH_SWEEPS):
        margins = margins_of(components, data, some, found)
        labels: Labels = (rng.random(some.shape[0]) >= 1 / (1 + np.exp(-margins))).astype(np.int32)
        found = ends + components.statistics(data, some, labels, 2)
    return margins_of(components, data, rows, found)


def margins_of(components: Components, data: Any, rows: Names, statistics: Reals) -> Reals:
    """Return log [n_1 f(x | theta_1)] - log [n_2 f(x | theta_2)] with typical parameters of two parts."""
    densities = components.all_densities(data, rows, components.centre(statistics))
    gap = densities[:, 0] - densities[:, 1] + math.log(statistics[0, 0] / statistics[1, 0])
    return np.clip(gap, -700.0, 700.0)
