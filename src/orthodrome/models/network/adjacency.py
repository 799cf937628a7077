"""Networks as adjacency matrices: 1 for an edge, 0 for none, NaN where it is unknown.

From a square matrix, a table of edges (a CSV file or pairs of nodes) or a networkx graph. Edges have no direction and
there are no self-loops.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from orthodrome.errors import BadInput


class Network(NamedTuple):
    """An undirected network.

    nodes: their names
    edges: the adjacency matrix
    """

    nodes: tuple[Any, ...]
    edges: NDArray[np.float64]


def read_network(edges: Any, missing: Iterable[tuple[Any, Any]] = (), nodes: Sequence[Any] | None = None) -> Network:
    """Read a network.

    edges: a square matrix (NaN: unknown), a file or list of pairs, or a networkx graph
    missing: pairs whose edge is unknown
    nodes: all names, in order (None: those seen)
    """
    network = _read(edges, nodes)
    where = {name: i for i, name in enumerate(network.nodes)}
    matrix = network.edges.copy()
    for a, b in missing:
        unknown = [name for name in (a, b) if name not in where]
        if unknown:
            raise BadInput(f"missing names {unknown[0]!r}, which is not a node of the network")
        matrix[where[a], where[b]] = matrix[where[b], where[a]] = np.nan
    if not np.any(np.isfinite(matrix[np.triu_indices(len(matrix), 1)])):
        raise BadInput("no pair of nodes is observed: there is nothing to learn from")
    return Network(network.nodes, matrix)


def _read(edges: Any, nodes: Sequence[Any] | None) -> Network:
    if isinstance(edges, str | Path):
        return _from_pairs(file_pairs(Path(edges)), nodes)
    if hasattr(edges, "nodes") and hasattr(edges, "edges"):  # a networkx graph, without importing networkx
        return _from_pairs([tuple(pair)[:2] for pair in edges.edges], list(edges.nodes) if nodes is None else nodes)
    if isinstance(edges, np.ndarray) and edges.ndim == 2 and edges.shape[0] == edges.shape[1]:
        return _from_matrix(edges, nodes)
    if isinstance(edges, np.ndarray) and not (edges.ndim == 2 and edges.shape[1] == 2):
        raise BadInput(f"edges has the shape {edges.shape}; give a square matrix, or a table of pairs")
    if isinstance(edges, type) or not isinstance(edges, Iterable):
        raise BadInput(f"edges is {edges!r:.60}; give a square matrix, a file or list of pairs, or a networkx graph")
    return _from_pairs([tuple(pair) for pair in np.asarray(edges).tolist()], nodes)


def file_pairs(path: Path) -> list[tuple[Any, ...]]:
    """Return the pairs of a CSV file; a first line that is no pair of numbers is a header."""
    try:
        rows = list(csv.reader(path.read_text(encoding="utf-8").splitlines()))
    except OSError as error:
        raise BadInput(f"cannot read {path}: {error.strerror}") from error
    body = rows[1:] if rows and not all(cell.strip().isdigit() for cell in rows[0]) else rows
    return [tuple(int(cell) if cell.strip().isdigit() else cell.strip() for cell in row[:2]) for row in body if row]


def _from_pairs(pairs: Sequence[tuple[Any, ...]], nodes: Sequence[Any] | None) -> Network:
    seen = {name for pair in pairs for name in pair}
    if nodes is None and all(isinstance(name, int | np.integer) for name in seen):
        nodes = range(max(seen, default=-1) + 1)
    names = tuple(sorted(seen, key=str)) if nodes is None else tuple(nodes)
    where = {name: i for i, name in enumerate(names)}
    matrix = np.zeros((len(names), len(names)))
    for pair in pairs:
        if len(pair) != 2 or any(name not in where for name in pair):
            raise BadInput(f"the edge {pair} does not join two of the {len(names)} nodes")
        if pair[0] == pair[1]:
            raise BadInput(f"the edge {pair} joins a node to itself; leave self-loops out")
        i, j = where[pair[0]], where[pair[1]]
        matrix[i, j] = matrix[j, i] = 1
    return Network(names, matrix)


def _from_matrix(edges: NDArray[Any], nodes: Sequence[Any] | None) -> Network:
    matrix = np.asarray(edges, float)
    names = tuple(range(len(matrix)) if nodes is None else nodes)
    if len(names) != len(matrix):
        raise BadInput(f"nodes has {len(names)} names, but the matrix has {len(matrix)} rows")
    loops = np.flatnonzero(np.nan_to_num(np.diag(matrix)))
    if loops.size:
        raise BadInput(
            f"the matrix has {loops.size} self-loop(s), the first at node {names[loops[0]]}; set its diagonal to 0"
        )
    if not np.array_equal(matrix, matrix.T, equal_nan=True):
        i, j = np.argwhere(~((matrix == matrix.T) | (np.isnan(matrix) & np.isnan(matrix.T))))[0]
        raise BadInput(f"the matrix is not symmetric: [{i}, {j}] is {matrix[i, j]} and [{j}, {i}] is {matrix[j, i]}")
    values = matrix[np.isfinite(matrix)]
    if np.any(np.isinf(matrix)) or not np.all((values == 0) | (values == 1)):
        raise BadInput("the entries of the matrix must be 0, 1 or NaN (unknown)")
    return Network(names, matrix)
