"""Clusters: their profiles with intervals, their rows, and which rows are together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from orthodrome.core.display import short
from orthodrome.core.types import Reals
from orthodrome.report.packing import packed
from orthodrome.report.section import Section, TableTwin

MOST, ENTRIES, ROWS = 60, 60, 40
"""The largest numbers of clusters, of entries of a profile, and of rows of a cluster in the page."""
CLUSTER_TEXT = (
    "Clusters are numbered by size, as in the tables of the fit. A profile says what the rows of a cluster are like, "
    "what distinguishes it most first."
)
PAIR_TEXT = (
    "Some rows in the order of their clusters: the stronger the colour of a cell, the more often its two rows are in "
    "one cluster over the draws. Sharp blocks are certain clusters, pale ones may be cut elsewhere."
)


class ClusterTables(NamedTuple):
    """The arrays of fitted clusters.

    labels, probability: of every row, its cluster and how sure that is; names: of the rows
    weights: mean, sd, low and high of every cluster; profiles: the same, clusters x numbers; overall: of all rows
    entries: the name of every number; top: for each cluster the numbers that say most first
    together: clusters x clusters; sample, pairs: some rows, and the probabilities that any two of them are together
    """

    labels: np.ndarray
    probability: Reals
    names: Sequence[str]
    weights: Sequence[Reals]
    profiles: Sequence[Reals]
    overall: Reals
    entries: Sequence[str]
    top: Sequence[np.ndarray]
    together: Reals
    sample: np.ndarray
    pairs: Reals


def mixture(found: ClusterTables) -> list[Section]:
    """Return the clusters and the co-clustering."""
    return [clusters(found), co_clustering(found)]


def clusters(found: ClusterTables) -> Section:
    """Return the clusters with their profiles."""
    count = min(MOST, len(found.weights[0]))
    sizes = np.bincount(found.labels, minlength=count)
    rows = [
        [k, int(sizes[k]), *(float(part[k]) for part in found.weights), found.together[k, k]] for k in range(len(sizes))
    ]
    head = ("cluster", "rows", "weight", "sd", "5 %", "95 %", "two of its rows together")
    data = {"clusters": [one_cluster(found, k, int(sizes[k])) for k in range(count)]}
    return Section("clusters", "Clusters", CLUSTER_TEXT, data, TableTwin("Clusters, the largest first", head, rows))


def one_cluster(found: ClusterTables, k: int, size: int) -> dict[str, Any]:
    """Return what the page shows of one cluster."""
    mean, _, low, high = found.weights
    values = (found.profiles[0][k], found.profiles[2][k], found.profiles[3][k], found.overall)
    lines = [[short(found.entries[n]), *(part[n] for part in values)] for n in found.top[k][:ENTRIES]]
    own = np.flatnonzero(found.labels == k)
    surest = own[np.argsort(-found.probability[own], kind="stable")][:ROWS]
    members = [[short(found.names[n]), found.probability[n]] for n in surest]
    return {
        "rows": size,
        "weight": mean[k],
        "bounds": [low[k], high[k]],
        "together": found.together[k, k],
        "entries": lines,
        "members": members,
    }


def co_clustering(found: ClusterTables) -> Section:
    """Return the probabilities that two rows are together, as an image, and by clusters as a table."""
    labels = found.labels[found.sample]
    data = {
        "matrices": [{"name": "Rows together", "values": packed(np.clip(found.pairs, 0, 1), 8, (0.0, 1.0))}],
        "names": [f"{short(found.names[n])} (cluster {found.labels[n]})" for n in found.sample],
        "ends": np.flatnonzero(np.diff(labels)) + 1,
        "what": "the probability that two rows are in one cluster",
    }
    count = len(found.together)
    rows = [[k, other, found.together[k, other]] for k in range(count) for other in range(k, count)]
    table = TableTwin("Probability that rows of two clusters are together", ("cluster", "other", "probability"), rows)
    return Section("heatmap", "Which rows are together", PAIR_TEXT, data, table)
