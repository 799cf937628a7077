"""What the warm-up merges beyond exact moves: clusters that one component explains as well as two.

Two halves of one cluster have millions of equivalent divisions, of which a proposal would have to repeat the present
one. So an exact merge of them is hardly ever accepted, and the warm-up, which only looks for a start, asks instead
whether the second component is needed, whoever is in which.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from orthodrome.core.types import Reals
from orthodrome.models.mixture.compiled.choices import log_probability
from orthodrome.models.mixture.components.contract import Components, Names
from orthodrome.models.mixture.launch import margins_of
from orthodrome.models.mixture.sampler import MixtureProblem, MixtureState, clear, relabel

NOBODY = -1


def explains_both(components: Components, data: Any, rows: Names, parts: NDArray[np.int32], statistics: Reals) -> bool:
    """Return whether one component explains the rows of two clusters as well as two do.

    Compared are the likelihoods of the rows under one component, theta, and under two with the clusters' shares s_1 and
    s_2, at typical parameters. What the second component costs is the difference of log likelihood and log marginal
    likelihood m that each cluster has, less that of both together, and log(n) / 2 for its share: with many rows and
    regular parameters the criterion of Schwarz (1978), while categories that no row has cost next to nothing. The
    likelihoods under theta cancel, and with r_i the probability of row i's own cluster one is as good as two if

        log [m_1 m_2 / m] + n_1 log s_1 + n_2 log s_2 - sum_i log r_i < log(n) / 2.

    parts: the cluster of each row, 0 or 1; statistics: those of the two
    """
    bound = least_evidence(components, statistics)
    if bound >= 0.0:
        return False
    margins = margins_of(components, data, rows, statistics)
    return bound - float(log_probability(margins, parts, rows, NOBODY, NOBODY)) < 0.0


def least_evidence(components: Components, statistics: Reals) -> float:
    """Return the least that speaks for two components, every r_i being 1: above zero no row has to be looked at."""
    return float(least_evidences(components, statistics[0], statistics[1:])[0])


def least_evidences(components: Components, own: Reals, others: Reals) -> Reals:
    """Return the least that speaks for two components, for a cluster and each of the others."""
    lines = np.concatenate([own[None], others, own + others])
    marginals, count = components.log_marginal(lines), others.shape[0]
    first, second = own[0], others[:, 0]
    total = first + second
    shares = first * np.log(first / total) + second * np.log(second / total)
    found: Reals = marginals[0] + marginals[1 : 1 + count] - marginals[1 + count :] + shares - 0.5 * np.log(total)
    return found


def settle(given: MixtureProblem, state: MixtureState, slots: NDArray[np.int64]) -> int:
    """Merge each of some clusters with the one that needs it least, if one component explains both; count merges."""
    merges = 0
    for slot in slots:
        others = np.flatnonzero(state.sizes)
        others = others[others != slot]
        if not state.sizes[slot] or not others.shape[0]:
            continue
        evidence = least_evidences(given.components, state.statistics[slot], state.statistics[others])
        if evidence.min() >= 0.0:
            continue
        pair = np.array([others[evidence.argmin()], slot], np.int32)
        rows, parts = rows_of_two(state, pair)
        if explains_both(given.components, given.data, rows, parts, state.statistics[pair]):
            absorb(given, state, pair)
            merges += 1
    return merges


def rows_of_two(state: MixtureState, pair: NDArray[np.int32]) -> tuple[Names, NDArray[np.int32]]:
    """Return the rows of two clusters, and the part of each, 0 or 1."""
    rows = np.flatnonzero((state.labels == pair[0]) | (state.labels == pair[1]))
    return rows, (state.labels[rows] == pair[1]).astype(np.int32)


def absorb(given: MixtureProblem, state: MixtureState, pair: NDArray[np.int32]) -> None:
    """Give all rows of the second cluster of a pair to the first."""
    own = np.flatnonzero(state.labels == pair[1])
    relabel(given, state, own, np.full(own.shape[0], pair[0], np.int32))
    clear(state, pair[1])
