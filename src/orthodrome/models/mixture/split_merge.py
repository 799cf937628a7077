"""Splits and merges of clusters, weights and parameters integrated out (Jain & Neal 2004, with another proposal).

Two rows, the anchors, are chosen at random. If they are in one cluster, it is proposed to split it in two, each with
one of the anchors; else to merge their two clusters. What either decides about is the set U of all rows of these
clusters.

A launch finds two components that may explain U: some rows of U, chosen at random, are divided between the anchors and
redistributed a few times given typical parameters of the two parts. It depends on U and the anchors alone, never on how
U is divided now, so it is the same chance variable for a move and for its reverse. Given the launch, row i goes to the
first component with a probability p_i, independently, and a division of U is proposed with probability q = prod_i (p_i
or 1 - p_i); a merge is proposed with probability 1. So the launch may come from few rows, while

    p(split) / p(merged) = alpha Gamma(n_1) Gamma(n_2) / Gamma(n) * m(S_1) m(S_2) / m(S)

is a ratio of the exact law of all rows, and a split is accepted with probability min(1, ratio / q), a merge with
min(1, q / ratio). Every move leaves the posterior of the partition invariant.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from orthodrome.core.types import Reals
from orthodrome.models.mixture.components.contract import Components, Labels, Names
from orthodrome.models.mixture.sampler import MixtureProblem, MixtureState, free_slots, relabel

LAUNCH_ROWS, LAUNCH_SWEEPS, MOST_MOVES = 1_000, 6, 50
"""Rows of a launch, how often they are redistributed, and the most proposals in a transition of the warm-up."""


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
    """Propose moves, and carry out those that are accepted.

    budget: propose more, until so many rows were touched; a number of moves that depends on the state is for the
        warm-up only
    """
    tally = Tally()
    if given.data.count < 2:
        return tally
    while tally.attempts < moves or (tally.touched < budget and tally.attempts < MOST_MOVES):
        tally = propose(rng, given, state, tally)
    return tally


def propose(rng: np.random.Generator, given: MixtureProblem, state: MixtureState, tally: Tally) -> Tally:
    """Propose one split or merge."""
    anchors = rng.choice(given.data.count, 2, replace=False)
    first, second = (int(label) for label in state.labels[anchors])
    splits = first == second
    rows = np.flatnonzero((state.labels == first) | (state.labels == second))
    tally = tally._replace(attempts=tally.attempts + 1, touched=tally.touched + rows.shape[0])
    free = free_slots(state, np.flatnonzero(state.sizes).astype(np.int32))
    if splits and not free.shape[0]:
        return tally._replace(capped=True)
    margins = launch_margins(rng, given.components, given.data, rows, anchors)
    goes_first = rng.random(rows.shape[0]) < 1 / (1 + np.exp(-margins)) if splits else state.labels[rows] == first
    goes_first[rows == anchors[0]], goes_first[rows == anchors[1]] = True, False
    log_q = log_proposal(margins, goes_first, (rows != anchors[0]) & (rows != anchors[1]))
    ratio = log_ratio(given, rows, goes_first, float(state.concentration))
    if math.log(1 - rng.random()) >= (ratio - log_q if splits else log_q - ratio):
        return tally
    other = int(free[0]) if splits else first
    labels = np.where(goes_first, first, other if splits else first).astype(np.int32)
    relabel(given, state, rows, labels)
    return tally._replace(splits=tally.splits + splits, merges=tally.merges + (not splits))


def log_proposal(margins: Reals, goes_first: NDArray[np.bool_], counted: NDArray[np.bool_]) -> float:
    """Return log q, the anchors not counted; margins: log p - log (1 - p)."""
    signed = np.where(goes_first, margins, -margins)[counted]
    return -float(np.logaddexp(0.0, -signed).sum())


def log_ratio(given: MixtureProblem, rows: Names, goes_first: NDArray[np.bool_], concentration: float) -> float:
    """Return log [ p(split) / p(merged) ] of the partition and all rows."""
    parts = given.components.statistics(given.data, rows, np.where(goes_first, 0, 1).astype(np.int32), 2)
    lines = np.concatenate([parts, parts.sum(axis=0, keepdims=True)])
    one, two, both = given.components.log_marginal(lines) + gammaln(lines[:, 0])
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
