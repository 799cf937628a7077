"""The weights of a Dirichlet process: sticks, components that are opened, and the concentration.

Sethuraman's sticks: w_j = v_j prod_{l<j} (1 - v_l) with v_j ~ Beta(1, alpha). Given a partition of the rows into
clusters of the sizes m_1, ..., m_K, the weights of the clusters and the rest are, in no order,

    (w_1, ..., w_K, w_*) ~ Dirichlet(m_1, ..., m_K, alpha),

and the rest is broken by further sticks (Ferguson 1973; Pitman 1996). As the clusters have no order here, nothing has
to switch labels. Beyond the clusters, sticks are broken until the rest is below every slice.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from orthodrome.core.types import Reals


def log_gammas(rng: np.random.Generator, shapes: Reals) -> Reals:
    """Draw logarithms of Gamma(shape, 1) numbers; with a shape a < 1, G(a) = G(a + 1) U^(1 / a), without underflow."""
    shapes = np.asarray(shapes, np.float64)
    small = shapes < 1
    raised = np.log(rng.standard_gamma(np.where(small, shapes + 1, shapes)))
    return raised - np.where(small, rng.standard_exponential(shapes.shape) / shapes, 0.0)


def cluster_weights(rng: np.random.Generator, sizes: Any, concentration: float) -> tuple[Reals, float]:
    """Draw the logarithms of the clusters' weights given their sizes, and of the rest."""
    logs = log_gammas(rng, np.append(sizes, concentration))
    logs -= np.logaddexp.reduce(logs)
    return logs[:-1], float(logs[-1])


def broken_off(rng: np.random.Generator, log_rest: float, concentration: float) -> tuple[Reals, float, float]:
    """Break a stick off the rest: return (log g_0, log g_1), the log weight, and the log of what is left."""
    pair = log_gammas(rng, np.array([1.0, concentration]))
    total = np.logaddexp(pair[0], pair[1])
    return pair, log_rest + float(pair[0] - total), log_rest + float(pair[1] - total)


def open_components(
    rng: np.random.Generator, log_rest: float, concentration: float, lowest: float, most: int
) -> tuple[Reals, Reals, float]:
    """Break sticks off the rest until it is below the lowest slice, `most` of them at most.

    Return the pairs (log g_0, log g_1) of Gamma(1) and Gamma(alpha) numbers with v = g_0 / (g_0 + g_1), the log
    weights, and the log of what is left. All lowest, log_rest and weights are logarithms.
    """
    pairs: list[Reals] = []
    weights: list[float] = []
    while log_rest > lowest and len(pairs) < most:
        pair, weight, log_rest = broken_off(rng, log_rest, concentration)
        weights.append(weight)
        pairs.append(pair)
    return np.array(pairs).reshape(-1, 2), np.array(weights), log_rest


def stick_weights(sticks: Reals) -> tuple[Reals, float]:
    """Return the log weights of sticks (log g_0, log g_1), and of the rest."""
    total = np.logaddexp(sticks[:, 0], sticks[:, 1])
    kept = np.concatenate([[0.0], np.cumsum(sticks[:, 1] - total)])
    return sticks[:, 0] - total + kept[:-1], float(kept[-1])


def escobar_west(
    rng: np.random.Generator, concentration: float, clusters: int, rows: float, prior: tuple[float, float]
) -> float:
    """Draw the concentration given the number of clusters (Escobar & West 1995); prior: Gamma(shape, rate).

    With eta ~ Beta(alpha + 1, n): alpha ~ Gamma(a + k, b - log eta) with odds (a + k - 1) : n (b - log eta), else
    Gamma(a + k - 1, b - log eta).
    """
    a, b = prior
    if rows <= 0:
        return float(rng.gamma(a, 1 / b))
    rate = b - math.log(max(rng.beta(concentration + 1, rows), 1e-300))
    odds = (a + clusters - 1) / (rows * rate)
    more = rng.random() < odds / (1 + odds)
    return max(float(rng.gamma(a + clusters - (not more), 1 / rate)), 1e-12)


def size_biased(
    rng: np.random.Generator, log_weights: Reals, log_rest: float, concentration: float, most: int
) -> tuple[np.ndarray, Reals, float]:
    """Draw the places of clusters in the order of the sticks, given their weights and that of the rest.

    The order of the sticks is a size-biased one of all components, those without rows included (Pitman 1996): one after
    the other, with probabilities proportional to the weights left. Where the rest is chosen, its first stick is broken
    off: a component without rows takes the place; `most` of them at most.

    Return the number of the cluster in every place, -1 without one; the log weights by place; the log of what is left.
    """
    left, places, logs = np.array(log_weights), [], []
    for _ in range(left.shape[0]):
        while most > 0 and math.log1p(-rng.random()) < log_rest - np.logaddexp(log_rest, np.logaddexp.reduce(left)):
            _, weight, log_rest = broken_off(rng, log_rest, concentration)
            places.append(-1)
            logs.append(weight)
            most -= 1
        cluster = int(np.argmax(left + rng.gumbel(size=left.shape[0])))
        places.append(cluster)
        logs.append(float(log_weights[cluster]))
        left[cluster] = -np.inf
    return np.array(places, np.int64), np.array(logs), log_rest


def sticks_of(rng: np.random.Generator, log_weights: Reals, log_rest: float, shapes: Reals) -> Reals:
    """Return sticks (log g_0, log g_1) with these weights, in their order; g_0 + g_1 ~ Gamma(shape)."""
    tails = np.logaddexp.accumulate(np.append(log_weights, log_rest)[::-1])[::-1]
    totals = log_gammas(rng, shapes)
    return np.stack([log_weights - tails[:-1], tails[1:] - tails[:-1]], axis=1) + totals[:, None]
