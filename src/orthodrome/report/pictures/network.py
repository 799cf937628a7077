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
SURPRISES = 200
"""Pairs in the table: those on which network and model differ most."""
TEXT = "Nodes are placed by the first two columns of the fitted frame. Choose a node to see its probable neighbours."


def network(model: Any) -> list[Section]:
    """Return the sections of a fitted network model (nodes_, edges_, edge_probability_, frame_, eigenvalues_)."""
    nodes = [short(str(name)) for name in model.nodes_]
    edges, fitted = np.asarray(model.edges_, float), np.asarray(model.edge_probability_, float)
    if len(nodes) > MOST:
        degree = np.nansum(edges, axis=1)
        kept = np.sort(np.argsort(-degree, kind="stable")[:MOST])
        nodes, edges, fitted = [nodes[k] for k in kept], edges[np.ix_(kept, kept)], fitted[np.ix_(kept, kept)]
        places = positions(model)[kept]
    else:
        places = positions(model)
    found = [graph(nodes, edges, fitted, places), matrices(nodes, edges, fitted, np.asarray(model.frame_)[:, 0])]
    return [*found, frame(model.draws_["posterior"].dataset["frame"])]


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
        "probability": packed(fitted, 8),
        "observed": packed(np.where(np.isfinite(edges), edges, np.nan), 8),
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
    order = np.argsort(first[: len(nodes)] if len(first) == len(nodes) else fitted.mean(axis=0))
    square = np.ix_(order, order)
    both = [
        {"name": "Edges", "values": packed(with_ends(np.where(np.isfinite(edges), edges, np.nan)[square]), 8)},
        {"name": "Fitted probabilities", "values": packed(with_ends(fitted[square]), 8)},
    ]
    data = {"matrices": both, "names": [nodes[k] for k in order], "what": "the probability of an edge"}
    degree, expected = np.nansum(edges, axis=1), fitted.sum(axis=1) - np.diagonal(fitted)
    rows = [[nodes[k], int(degree[k]), expected[k]] for k in order]
    table = TableTwin("Nodes in the order of the matrices", ("node", "edges", "edges expected by the model"), rows)
    text = "Rows and columns are nodes in the order of the first column of the frame. Grey cells were not observed."
    return Section("heatmap", "Edges and fitted probabilities", text, data, table)


def with_ends(values: Reals) -> Reals:
    """Return probabilities whose extremes are 0 and 1, so that eight bits are of this range: on the diagonal."""
    found = values.copy()
    np.fill_diagonal(found, 0.0)
    found[0, 0] = 1.0 if len(found) > 1 and np.nanmax(found) < 1 else found[0, 0]
    return found
