"""Two components that may explain the rows of one or two clusters, for splits and merges.

A launch begins with two rows, the anchors, as the only ones of two parts. Some other rows, chosen at random, are then
divided between the parts and redistributed a number of times given typical parameters; then more rows. Few rows come
first because they forget the anchors sooner: among many, parameters that are nearly equal stay so for long. More come
later because a proposal from parameters that are known to one part in sqrt(m) loses some (p / 2) n / m nats for p
parameters and n rows: with a thousand of ten thousand rows and three hundred categories no split would be accepted.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from orthodrome.core.types import Reals
from orthodrome.models.mixture.compiled.choices import divide, log_probability
from orthodrome.models.mixture.components.contract import Components, Names

STAGES = ((1_000, 20), (10_000, 10))
"""Rows, and how often they are redistributed."""
NOBODY = -1


def launch_margins(
    rng: np.random.Generator, components: Components, data: Any, rows: Names, anchors: NDArray[np.int64]
) -> Reals:
    """Return log p_i - log (1 - p_i) of all rows, from a launch with some of them."""
    found = ends = components.statistics(data, anchors, np.arange(2, dtype=np.int32), 2)
    most = min(STAGES[-1][0], rows.shape[0])
    order = rng.choice(rows, most, replace=False)
    order = order[(order != anchors[0]) & (order != anchors[1])]
    for size, sweeps in STAGES:
        for _ in range(sweeps):
            parts = divided(rng, order[:size], margins_of(components, data, order[:size], found))
            found = ends + components.statistics(data, order[:size], parts, 2)
    return margins_of(components, data, rows, found)


def margins_of(components: Components, data: Any, rows: Names, statistics: Reals) -> Reals:
    """Return log [n_1 f(x | theta_1)] - log [n_2 f(x | theta_2)] with typical parameters of two parts."""
    densities = components.all_densities(data, rows, components.centre(statistics))
    return densities[:, 0] - densities[:, 1] + math.log(statistics[0, 0] / statistics[1, 0])


def divided(rng: np.random.Generator, rows: Names, margins: Reals) -> NDArray[np.int32]:
    """Draw the parts of rows, 0 with probability p."""
    parts = np.empty(rows.shape[0], np.int32)
    divide(np.uint64(rng.integers(1 << 63)), rows, margins, parts)
    return parts


def explains_both(components: Components, data: Any, rows: Names, parts: NDArray[np.int32], statistics: Reals) -> bool:
    """Return whether one component explains the rows of two clusters as well as two do, whoever is in which.

    Compared are the likelihoods of the rows under one component, theta, and under two with the clusters' shares s_1 and
    s_2, at typical parameters. What the second component costs is the difference of log likelihood and log marginal
    likelihood m that each cluster has, less that of both together, and log(n) / 2 for its share: with many rows and
    regular parameters the criterion of Schwarz (1978), while categories that no row has cost next to nothing. The
    likelihoods under theta cancel, and with r_i the probability of row i's own cluster one is as good as two if

        log [m_1 m_2 / m] + n_1 log s_1 + n_2 log s_2 - sum_i log r_i < log(n) / 2.

    It is no Metropolis test: two halves of one cluster have millions of equivalent divisions, of which a proposal would
    have to hit the present one. So it serves the warm-up alone.

    parts: the cluster of each row, 0 or 1; statistics: those of the two
    """
    bound = least_evidence(components, statistics)
    if bound >= 0.0:
        return False
    margins = margins_of(components, data, rows, statistics)
    return bound - float(log_probability(margins, parts, rows, NOBODY, NOBODY)) < 0.0


def least_evidence(components: Components, statistics: Reals) -> float:
    """Return the least that speaks for two components, every r_i being 1: above zero no row has to be looked at."""
    lines = np.concatenate([statistics, statistics.sum(axis=0, keepdims=True)])
    one, two, both = components.log_marginal(lines)
    sizes = lines[:, 0]
    shares = sizes[0] * math.log(sizes[0] / sizes[2]) + sizes[1] * math.log(sizes[1] / sizes[2])
    return float(one + two - both + shares) - 0.5 * math.log(sizes[2])
