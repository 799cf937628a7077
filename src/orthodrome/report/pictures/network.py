"""A network: its nodes on a map, the fitted probability of every edge beside the edges, and the surprises.

Nodes lie at their rows of the frame, scaled by the roots of the eigenvalues: near nodes attract each other along
columns with positive eigenvalues. Matrices are sorted by the first column, so that structure shows as blocks.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from orthodrome.core.display import short
from orthodrome.core.types import Reals
from orthodrome.report.packing import packed, packed_codes
from orthodrome.report.pictures.frames import frame
from orthodrome.report.section import Section, TableTwin

MOST = 600
"""The largest network whose matrices are in a page."""
MOST_PAIRED = 200
"""The same of a network that is given by its pairs."""
UNIT = (0.0, 1.0)
"""The range of probabilities."""
SURPRISES = 200
"""Pairs in the table: those on which network and model differ most."""
TEXT = "Nodes are placed by the first two columns of the fitted frame. Choose a node to see its probable neighbours."
MATRIX_TEXT = (
    "Rows and columns are nodes in the order of the first column of the frame. Grey cells are no pairs, or were not "
    "observed."
)


def network(model: Any) -> list[Section]:
    """Return the sections of a fitted network model; of a large network, those of the nodes with most edges."""
    edges = np.asarray(model.edges_, float)
    listed = edges.shape != (len(model.nodes_),) * 2  # pairs, where a matrix would be too large
    kept, known, fitted = from_pairs(model) if listed else from_matrices(model)
    nodes = [short(str(model.nodes_[k])) for k in kept]
    found = [graph(nodes, known, fitted, positions(model)[kept])]
    found.append(matrices(nodes, known, fitted, np.asarray(model.frame_)[kept, 0]))
    return [*found, frame(model.draws_["posterior"].dataset["frame"])]


def from_matrices(model: Any) -> tuple[np.ndarray, Reals, Reals]:
    """Return the nodes that are shown, their edges (NaN: not known) and the fitted probabilities."""
    edges, fitted = np.asarray(model.edges_, float), np.asarray(model.edge_probability_, float)
    kept = np.sort(np.argsort(-np.nansum(edges, axis=1), kind="stable")[:MOST])
    return kept, edges[np.ix_(kept, kept)], fitted[np.ix_(kept, kept)]


def from_pairs(model: Any) -> tuple[np.ndarray, Reals, Reals]:
    """Return the same of a model that was fitted to pairs; probabilities are computed for the shown pairs alone."""
    pairs = np.asarray(model.edges_, int)
    kept = np.sort(np.argsort(-np.bincount(pairs.ravel(), minlength=len(model.nodes_)), kind="stable")[:MOST_PAIRED])
    place = np.full(len(model.nodes_), -1)
    place[kept] = np.arange(len(kept))
    inside = place[pairs][np.all(place[pairs] >= 0, axis=1)]
    edges, fitted = np.zeros((2, len(kept), len(kept)))
    edges[inside[:, 0], inside[:, 1]] = edges[inside[:, 1], inside[:, 0]] = 1.0
    i, j = np.triu_indices(len(kept), 1)
    names = [model.nodes_[k] for k in kept]
    fitted[i, j] = fitted[j, i] = model.predict_proba([(names[a], names[b]) for a, b in zip(i, j, strict=True)])
    return kept, edges, fitted


def positions(model: Any) -> Reals:
    """Return a place in the plane for every node."""
    scaled = np.asarray(model.frame_ * np.sqrt(np.abs(model.eigenvalues_)), float)
    return scaled[:, :2] if scaled.shape[1] > 1 else np.stack([np.arange(len(scaled)), scaled[:, 0]], axis=1)


def graph(nodes: list[str], edges: Reals, fitted: Reals, places: Reals) -> Section:
    """Return the map of the nodes."""
    links = np.argwhere(np.triu(edges == 1, 1))
    data = {
        "nodes": nodes,
        "places": packed(places),
        "links": packed_codes(links),
        "probability": packed(fitted, 8, UNIT),
        "observed": packed(edges, 8, UNIT),
        "first": int(np.argmax(np.nansum(edges, axis=1))),
    }
    return Section("network", "The network", TEXT, data, surprises(nodes, edges, fitted))


def surprises(nodes: list[str], edges: Reals, fitted: Reals) -> TableTwin:
    """Return the pairs on which the network and the fitted probabilities differ most, and those not observed."""
    i, j = np.triu_indices(len(nodes), 1)
    seen, probability = edges[i, j], fitted[i, j]
    unseen = ~np.isfinite(seen)
    off = np.where(unseen, probability, np.abs(np.where(unseen, 0, seen) - probability))
    order = np.argsort(-off, kind="stable")[:SURPRISES]
    word = lambda k: "not observed" if unseen[k] else "edge" if seen[k] > 0.5 else "no edge"
    rows = [[nodes[i[k]], nodes[j[k]], word(k), probability[k]] for k in order]
    caption = "Pairs of nodes on which network and model differ most, and pairs that were not observed"
    return TableTwin(caption, ("node", "other", "observed", "fitted probability"), rows)


def matrices(nodes: list[str], edges: Reals, fitted: Reals, first: Reals) -> Section:
    """Return the matrices of edges and of fitted probabilities, nodes sorted by the first column of the frame."""
    edges, fitted = (np.where(np.eye(len(nodes)) == 1, np.nan, values) for values in (edges, fitted))
    order = np.argsort(first)
    square = np.ix_(order, order)
    both = [
        {"name": "Edges", "values": packed(edges[square], 8, UNIT)},
        {"name": "Fitted probabilities", "values": packed(fitted[square], 8, UNIT)},
    ]
    data = {"matrices": both, "names": [nodes[k] for k in order], "what": "the probability of an edge"}
    degree, expected = np.nansum(edges, axis=1), np.nansum(fitted, axis=1)
    rows = [[nodes[k], int(degree[k]), expected[k]] for k in order]
    table = TableTwin("Nodes in the order of the matrices", ("node", "edges", "edges expected by the model"), rows)
    return Section("heatmap", "Edges and fitted probabilities", MATRIX_TEXT, data, table)
