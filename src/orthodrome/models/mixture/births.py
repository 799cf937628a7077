"""Births and deaths of small clusters, weights and parameters integrated out.

The number of clusters moves mostly by clusters of few rows that lie inside larger ones. Splits and merges
(`split_merge`) choose clusters by their rows, and a cluster of three rows of a thousand is hardly ever looked at. Here
a death chooses among the K clusters, whatever their sizes are.

    birth   a row a is chosen at random; of the n rows U of its cluster a part T, with a in it, becomes a new cluster.
            A row of U other than a joins it with a probability p_i, independently: q(T) is the product of p_i or
            1 - p_i. If nothing is left of U the state stays as it is.
    death   a cluster T is chosen at random, a row a of it at random, and one of the other clusters, k, with the
            probability t_k ~ n_k f(x_a | theta_k), theta_k being typical of k's rows. T joins it.

The p_i are those of two components, of U, with typical parameters, and of the new cluster, with parameters drawn from
their law given row a alone and a share drawn log-uniformly between 1 / n and 1. All of this depends on U and a, never
on how U is divided, so it is the same chance variable for a birth and for the death that undoes it. With N rows and the
partition's exact law

    r = p(split) / p(merged) = alpha Gamma(|T|) Gamma(n - |T|) / Gamma(n) * m(S_T) m(S_rest) / m(S_U)

a birth, after which there are K clusters, is accepted with probability min(1, r N t / (K |T| q)), t being that of the
rest of U, and a death with that of the inverse (Green 1995). Births and deaths are proposed equally often.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy.special import logsumexp

from orthodrome.core.types import Reals
from orthodrome.models.mixture.compiled.choices import log_probability
from orthodrome.models.mixture.components.contract import Components, Labels, Names
from orthodrome.models.mixture.launch import divided
from orthodrome.models.mixture.sampler import MixtureProblem, MixtureState, free_slots, relabel
from orthodrome.models.mixture.settling import NOBODY, absorb, rows_of_two
from orthodrome.models.mixture.tally import Tally, log_ratio

MOST, ROWS = 4, 40_000
"""Proposals for each of a split or merge, and the rows that they may look at: many rows have fewer of them."""


def births_and_deaths(
    rng: np.random.Generator, given: MixtureProblem, state: MixtureState, tally: Tally, moves: int
) -> Tally:
    """Propose births and deaths, as many as the number of rows allows, and carry out those that are accepted."""
    for _ in range(moves * min(MOST, max(1, ROWS // given.data.count))):
        tally = tally._replace(attempts=tally.attempts + 1)
        tally = birth(rng, given, state, tally) if rng.random() < 0.5 else death(rng, given, state, tally)
    return tally


def birth(rng: np.random.Generator, given: MixtureProblem, state: MixtureState, tally: Tally) -> Tally:
    """Propose that some rows of a cluster become a new one."""
    row, components = int(rng.integers(given.data.count)), given.components
    slot = int(state.labels[row])
    if state.sizes[slot] == 1:
        return tally
    held = np.flatnonzero(state.sizes).astype(np.int32)
    free = free_slots(state, held)
    if not free.shape[0]:
        return tally._replace(capped=True)
    rows = np.flatnonzero(state.labels == slot)
    margins = birth_margins(rng, components, given.data, rows, row, state.statistics[slot])
    parts = divided(rng, rows, margins)
    parts[np.searchsorted(rows, row)] = 1
    if parts.all():
        return tally
    statistics = components.statistics(given.data, rows, parts, 2)
    others = np.concatenate([statistics[:1], state.statistics[held[held != slot]]])
    chosen = target_logs(components, given.data, row, others)[0]
    gain = log_ratio(components, statistics, float(state.concentration))
    gain += log_hastings(given.data.count, held.shape[0] + 1, statistics[1, 0], chosen)
    if math.log(1 - rng.random()) >= gain - part_log_probability(margins, parts, rows, row):
        return tally
    relabel(given, state, rows, np.where(parts == 0, slot, free[0]).astype(np.int32))
    return tally._replace(splits=tally.splits + 1)


def death(rng: np.random.Generator, given: MixtureProblem, state: MixtureState, tally: Tally) -> Tally:
    """Propose that a cluster joins another one."""
    held, components = np.flatnonzero(state.sizes).astype(np.int32), given.components
    if held.shape[0] < 2:
        return tally
    slot = int(rng.choice(held))
    row = int(rng.choice(np.flatnonzero(state.labels == slot)))
    others = held[held != slot]
    logs = target_logs(components, given.data, row, state.statistics[others])
    place = int(rng.choice(others.shape[0], p=np.exp(logs)))
    pair = np.array([others[place], slot], np.int32)
    level = math.log(1 - rng.random()) + log_ratio(components, state.statistics[pair], float(state.concentration))
    level += log_hastings(given.data.count, held.shape[0], state.sizes[slot], logs[place])
    if level >= 0.0:  # even with q = 1
        return tally
    rows, parts = rows_of_two(state, pair)
    margins = birth_margins(rng, components, given.data, rows, row, state.statistics[pair].sum(axis=0))
    if level >= part_log_probability(margins, parts, rows, row):
        return tally
    absorb(given, state, pair)
    return tally._replace(merges=tally.merges + 1)


def birth_margins(
    rng: np.random.Generator, components: Components, data: Any, rows: Names, row: int, statistics: Reals
) -> Reals:
    """Return log (1 - p_i) - log p_i of all rows of a cluster, p_i that of joining the new one; statistics: its own."""
    alone = components.statistics(data, np.array([row]), np.zeros(1, np.int32), 1)
    seed, share = int(rng.integers(1 << 62)), -rng.random() * math.log(rows.shape[0])
    parameters = np.concatenate([components.centre(statistics[None]), components.draw(seed, alone)])
    densities = components.all_densities(data, rows, parameters)
    found: Reals = densities[:, 0] - densities[:, 1] - share
    return found


def part_log_probability(margins: Reals, parts: Labels, rows: Names, row: int) -> float:
    """Return log q of a division, in which the row itself does not count."""
    return float(log_probability(margins, parts, rows, row, NOBODY))


def target_logs(components: Components, data: Any, row: int, statistics: Reals) -> Reals:
    """Return log t_k, the probabilities of the clusters with these statistics to be joined by that of the row."""
    logs = components.all_densities(data, np.array([row]), components.centre(statistics))[0] + np.log(statistics[:, 0])
    found: Reals = logs - logsumexp(logs)
    return found


def log_hastings(count: int, clusters: int, size: float, chosen: float) -> float:
    """Return log [N t / (K |T|)], for K clusters after the birth."""
    return math.log(count) + chosen - math.log(clusters) - math.log(size)
