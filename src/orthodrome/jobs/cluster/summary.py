"""Clusters with uncertainty, from draws that number their components each in its own way.

The clusters are the parts of one partition, that of the reference draw. With s_ij the probability that row i is in
component j of a draw, and M_jk = sum_{i in k} s_ij, a draw says of cluster k, whatever its numbers are,

    weight      sum_j w_j M_jk / sum_l M_jl
    profile     sum_j moments_j M_jk / n_k                  the law of the rows of k
    row i       sum_j s_ij M_jk / sum_l M_jl                its probability
    together    sum_j (M_jk / n_k) (M_jl / n_l)             that a row of k and a row of l are in one component

and means, standard deviations and 90 % intervals are those of these numbers over draws.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse

from orthodrome.core.types import Reals
from orthodrome.jobs.cluster.profiles import Profile

LEVELS = (0.05, 0.95)
"""The ends of the intervals."""


class DrawSummary(NamedTuple):
    """A number over draws: mean, standard deviation, and the ends of the 90 % interval."""

    mean: Reals
    sd: Reals
    low: Reals
    high: Reals

    @classmethod
    def of(cls, draws: Any) -> DrawSummary:
        """Return the summary of draws (draw, ...)."""
        values = np.asarray(draws)
        low, high = np.quantile(values, LEVELS, axis=0)
        return cls(values.mean(axis=0), values.std(axis=0), low, high)


class Clusters(NamedTuple):
    """What the draws say of clusters 0, 1, ..., the largest first.

    labels: the cluster of each row; probability: that the row is in it; sizes: rows of each cluster
    other, other_probability: the most probable of the other clusters (the same one if there is no other)
    weights, profiles: over draws; overall: the profile of all rows; together: clusters x clusters
    """

    labels: np.ndarray
    probability: Reals
    other: np.ndarray
    other_probability: Reals
    sizes: np.ndarray
    weights: DrawSummary
    profiles: DrawSummary
    overall: Reals
    together: Reals


def renumbered(labels: np.ndarray) -> np.ndarray:
    """Return labels 0, 1, ... of the clusters that have rows, the largest first."""
    sizes = np.bincount(labels)
    order = np.argsort(-sizes, kind="stable")
    place = np.empty(order.shape[0], np.int64)
    place[order] = np.arange(order.shape[0])
    found: np.ndarray = place[labels]
    return found


def clusters_of(model: Any, rows: Any, labels: np.ndarray, profile: Profile) -> Clusters:
    """Return the clusters of a fitted mixture; labels: those of the reference."""
    labels = renumbered(labels)
    sizes = np.bincount(labels)
    members = scipy.sparse.csr_matrix((np.ones(labels.shape[0]), (labels, np.arange(labels.shape[0]))))
    weights, moments = [], []
    together, belongs = np.zeros((sizes.shape[0], sizes.shape[0])), np.zeros((labels.shape[0], sizes.shape[0]))
    draws = model.some_draws()
    for w, parameters in draws:
        own = np.flatnonzero(w > 0)
        shares = model.shares(rows, w[own], parameters[own])
        mass = np.asarray(members @ shares)  # M, transposed
        parts = mass / np.maximum(mass.sum(axis=0), 1e-300)
        inside = mass / sizes[:, None]
        weights.append(parts @ w[own])
        moments.append(inside @ profile.moments(model.components_law_.named(parameters[own])))
        together += inside @ inside.T / len(draws)
        belongs += shares @ parts.T / len(draws)
    overall = profile.shown(sizes @ np.mean(moments, axis=0) / labels.shape[0])
    profiles = DrawSummary.of([profile.shown(lines) for lines in moments])
    return Clusters(labels, *memberships(belongs, labels), sizes, DrawSummary.of(weights), profiles, overall, together)


def memberships(belongs: Reals, labels: np.ndarray) -> tuple[Reals, np.ndarray, Reals]:
    """Return the probability of each row's own cluster, the most probable other one, and its probability."""
    rows = np.arange(labels.shape[0])
    own = belongs[rows, labels].copy()
    if belongs.shape[1] == 1:
        return own, labels, np.zeros(labels.shape[0])
    belongs[rows, labels] = -1.0
    other = belongs.argmax(axis=1)
    return own, other, belongs[rows, other]
