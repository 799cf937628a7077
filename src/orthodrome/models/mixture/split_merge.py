"""Splits and merges of clusters, weights and parameters integrated out (Jain & Neal 2004, with other proposals).

A first row is chosen at random, and a second one, with equal probabilities, in the same cluster or outside of it. These
two are the anchors. If they are in one cluster, of n rows, it is proposed to split it in two, each with one of the
anchors; else to merge their two clusters. What either decides about is the set U of all rows of these clusters. With N
rows, of which n_1 go with the first anchor, a pair of anchors has the probabilities

    c = [1 / (N - n_1)] / [1 / (n - 1)] = (n - 1) / (N - n_1)

for a merge over those for the split that undoes it.

There are two kinds of proposals, which take turns. A division of U is proposed with probability q, a merge always.

    guided   a launch finds two components that may explain U (`launch`). It depends on U and the anchors alone, never
             on how U is divided now, so it is the same chance variable for a move and for its reverse. Given the
             launch, row i goes to the first part with a probability p_i, independently: q = prod_i (p_i or 1 - p_i).
             It finds clusters that are different.
    blind    all rows have one p, uniform on (0, 1): q = Gamma(n_1) Gamma(n_2) / Gamma(n). It hardly ever splits, but
             merges clusters that are alike, whose division no launch would repeat (Chang & Fisher 2013), at the cost of
             a look at their statistics.

So a launch may come from few rows, while

    p(split) / p(merged) = alpha Gamma(n_1) Gamma(n_2) / Gamma(n) * m(S_1) m(S_2) / m(S)

is a ratio of the exact law of all rows, and a split is accepted with probability min(1, c ratio / q), a merge with
min(1, q / (c ratio)). Every move leaves the posterior of the partition invariant. As q is at most 1, a merge whose
chance would be too small with q = 1 needs no launch. Births and deaths of small clusters follow (`births`). In the
warm-up, which only looks for a start, guided merges are judged by another criterion (`settling`).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, logit

from orthodrome.core.types import Reals
from orthodrome.models.mixture.births import births_and_deaths
from orthodrome.models.mixture.compiled.choices import log_probability
from orthodrome.models.mixture.components.contract import Names
from orthodrome.models.mixture.launch import divided, launch_margins
from orthodrome.models.mixture.sampler import MixtureProblem, MixtureState, free_slots, relabel
from orthodrome.models.mixture.settling import absorb, explains_both, least_evidence, rows_of_two, settle
from orthodrome.models.mixture.tally import Tally, log_ratio

MOST_MOVES, WARM_PART, LEAST_TOUCHED = 50, 8, 2_000
"""The most guided proposals in a transition of the warm-up, and the rows that they touch without success: one in so
many, or so many."""
TRIES = 64
"""Draws of a row until all rows are looked at."""


def split_and_merge(
    rng: np.random.Generator, given: MixtureProblem, state: MixtureState, moves: int, warm: bool = False
) -> Tally:
    """Propose moves of both kinds, then births and deaths, and carry out those that are accepted.

    warm: propose guided moves until they have touched a part of the rows without success, and blind merges as long as
        they are accepted, and ask of one cluster whether it is needed; as this depends on the state, and as blind
        splits, the reverse of blind merges, are left out, it is for the warm-up only
    """
    tally = Tally()
    if given.data.count < 2 or not moves:
        return tally
    if warm:
        return _many(rng, given, state, tally)
    for blind in (True, False):
        for _ in range(moves):
            tally = propose(rng, given, state, tally, blind)
    return births_and_deaths(rng, given, state, tally, moves)


def _many(rng: np.random.Generator, given: MixtureProblem, state: MixtureState, tally: Tally) -> Tally:
    """Propose what the warm-up does; none of it needs a reverse."""
    tally = merge_alike(rng, given, state, tally)
    chosen = rng.choice(np.flatnonzero(state.sizes), 1)
    tally = tally._replace(merges=tally.merges + settle(given, state, chosen), attempts=tally.attempts + 1, touched=0)
    budget, guided = max(given.data.count // WARM_PART, min(given.data.count, LEAST_TOUCHED)), 0
    while tally.touched < budget and guided < MOST_MOVES:
        done = tally.splits + tally.merges
        tally, guided = propose(rng, given, state, tally, blind=False, settling=True), guided + 1
        if tally.splits + tally.merges > done:
            tally = tally._replace(touched=0)
    return tally


def merge_alike(rng: np.random.Generator, given: MixtureProblem, state: MixtureState, tally: Tally) -> Tally:
    """Propose blind merges, as many as there are clusters at a time, until few of them are accepted."""
    while (clusters := int(np.count_nonzero(state.sizes))) > 1:
        before = tally.merges
        for _ in range(clusters):
            first = int(rng.integers(given.data.count))
            if state.sizes[state.labels[first]] == given.data.count:
                break
            anchors = np.array([first, row_outside(rng, state, first)])
            tally = tally._replace(attempts=tally.attempts + 1)
            tally = _merge(rng, given, state, tally, anchors, blind=True, settling=False)
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
    first = int(rng.integers(given.data.count))
    size = int(state.sizes[state.labels[first]])
    tally = tally._replace(attempts=tally.attempts + 1)
    if rng.random() < 0.5:
        if size == 1:
            return tally
        free = free_slots(state, np.flatnonzero(state.sizes).astype(np.int32))
        if not free.shape[0]:
            return tally._replace(capped=True)
        return _split(rng, given, state, tally, first, blind, int(free[0]))
    if size == given.data.count:
        return tally
    return _merge(rng, given, state, tally, np.array([first, row_outside(rng, state, first)]), blind, settling)


def row_outside(rng: np.random.Generator, state: MixtureState, first: int) -> int:
    """Draw a row that is not in the cluster of the first."""
    for row in rng.integers(state.labels.shape[0], size=TRIES):
        if state.labels[row] != state.labels[first]:
            return int(row)
    return int(rng.choice(np.flatnonzero(state.labels != state.labels[first])))


def _split(
    rng: np.random.Generator,
    given: MixtureProblem,
    state: MixtureState,
    tally: Tally,
    first: int,
    blind: bool,
    other: int,
) -> Tally:
    """Propose to give some of a cluster's rows to a free slot."""
    slot, components = int(state.labels[first]), given.components
    rows = np.flatnonzero(state.labels == slot)
    anchors = np.array([first, rng.choice(rows[rows != first])])
    tally = tally._replace(touched=tally.touched + rows.shape[0])
    margins = None if blind else launch_margins(rng, components, given.data, rows, anchors)
    parts = divided(rng, rows, np.full(rows.shape[0], logit(rng.random())) if margins is None else margins)
    parts[np.searchsorted(rows, anchors)] = 0, 1
    log_q = log_proposal(margins, parts, rows, anchors)
    statistics = components.statistics(given.data, rows, parts, 2)
    gain = log_ratio(components, statistics, float(state.concentration)) + log_choice(statistics[:, 0], state)
    if math.log(1 - rng.random()) >= gain - log_q:
        return tally
    relabel(given, state, rows, np.where(parts == 0, slot, other).astype(np.int32))
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
    pair = state.labels[anchors]
    statistics, sizes = state.statistics[pair], state.sizes[pair]
    if settling and not blind:
        if least_evidence(given.components, statistics) >= 0.0:
            return tally
        rows, parts = rows_of_two(state, pair)
        tally = tally._replace(touched=tally.touched + rows.shape[0])
        accepted = explains_both(given.components, given.data, rows, parts, statistics)
    else:
        level = math.log(1 - rng.random()) + log_choice(sizes, state)
        level += log_ratio(given.components, statistics, float(state.concentration))
        if level >= 0.0:
            return tally
        if blind:
            accepted = level < blind_proposal(*sizes)
        else:
            rows, parts = rows_of_two(state, pair)
            tally = tally._replace(touched=tally.touched + rows.shape[0])
            margins = launch_margins(rng, given.components, given.data, rows, anchors)
            accepted = level < log_proposal(margins, parts, rows, anchors)
    if not accepted:
        return tally
    absorb(given, state, pair)
    return tally._replace(merges=tally.merges + 1)


def log_proposal(margins: Reals | None, parts: NDArray[np.int32], rows: Names, anchors: NDArray[np.int64]) -> float:
    """Return log q; margins: log p - log (1 - p) of all rows, of which the anchors do not count, None if blind."""
    if margins is None:
        return blind_proposal(*np.bincount(parts, minlength=2))
    return float(log_probability(margins, parts, rows, *anchors))


def blind_proposal(first: Any, second: Any) -> float:
    """Return log [ Gamma(n_1) Gamma(n_2) / Gamma(n) ], the mean over p of p^(n_1 - 1) (1 - p)^(n_2 - 1)."""
    return float(gammaln(first) + gammaln(second) - gammaln(first + second))


def log_choice(sizes: Any, state: MixtureState) -> float:
    """Return log c, the probability of the anchors for a merge over that for the split that undoes it."""
    return math.log((sizes[0] + sizes[1] - 1) / (state.labels.shape[0] - sizes[0]))
