"""Networks as lists of pairs: what a network with millions of pairs is read into.

A pair i < j is one row. The edges and the pairs that are not known are kept; all others are pairs without an edge,
which are never written down (whether a pair is one of them: `listed`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from orthodrome.errors import BadInput
from orthodrome.models.network.adjacency import file_pairs, read_network

Pairs = NDArray[np.int32]


class SparseNetwork(NamedTuple):
    """An undirected network.

    nodes: their names
    edges: pairs of numbers i < j (n, 2), each once
    unknown: pairs whose edge is not known, likewise
    """

    nodes: tuple[Any, ...]
    edges: Pairs
    unknown: Pairs


def read_pairs(edges: Any, missing: Iterable[Any] = (), nodes: Sequence[Any] | None = None) -> SparseNetwork:
    """Read a network without writing down its matrix.

    edges: a sparse matrix (stored entries other than 0 are edges), or as in `read_network`; a dense matrix is taken
        apart
    missing: pairs whose edge is unknown
    nodes: all names, in order (None: those seen)
    """
    if scipy.sparse.issparse(edges):
        return _with_missing(_from_sparse(edges, nodes), missing)
    if isinstance(edges, np.ndarray) and edges.ndim == 2 and edges.shape[0] == edges.shape[1]:
        names, matrix = read_network(edges, missing, nodes)
        above = np.triu(np.ones(matrix.shape, bool), 1)
        found = (np.argwhere(mask & above).astype(np.int32) for mask in (matrix == 1, np.isnan(matrix)))
        return SparseNetwork(names, *found)
    if isinstance(edges, str | Path):
        edges = file_pairs(Path(edges))
    elif hasattr(edges, "nodes") and hasattr(edges, "edges"):  # a networkx graph
        edges, nodes = [tuple(pair)[:2] for pair in edges.edges], list(edges.nodes) if nodes is None else nodes
    return _with_missing(_from_list(edges, nodes), missing)


def _from_sparse(matrix: Any, nodes: Sequence[Any] | None) -> SparseNetwork:
    matrix = scipy.sparse.coo_array(matrix)
    if matrix.shape[0] != matrix.shape[1]:
        raise BadInput(f"the matrix has the shape {matrix.shape}; a network needs a square matrix")
    kept = matrix.data != 0
    if not np.all(matrix.data[kept] == 1):
        raise BadInput("the entries of the matrix must be 0 or 1; pass unknown pairs as `missing`")
    pairs = np.stack([matrix.row[kept], matrix.col[kept]], axis=1)
    names = tuple(range(matrix.shape[0]) if nodes is None else nodes)
    if len(names) != matrix.shape[0]:
        raise BadInput(f"nodes has {len(names)} names, but the matrix has {matrix.shape[0]} rows")
    _check_symmetric(pairs, names)
    return SparseNetwork(names, _sorted(pairs, names), np.zeros((0, 2), np.int32))


def _check_symmetric(pairs: Any, names: tuple[Any, ...]) -> None:
    """Refuse a matrix with both triangles that differ; one triangle alone stands for both."""
    upper, lower = pairs[pairs[:, 0] < pairs[:, 1]], pairs[pairs[:, 0] > pairs[:, 1]][:, ::-1]
    if not len(upper) or not len(lower):
        return
    one, two = ({tuple(pair) for pair in part.tolist()} for part in (upper, lower))
    if apart := one ^ two:
        i, j = min(apart)
        raise BadInput(f"the matrix is not symmetric: only one of [{i}, {j}] and [{j}, {i}] is 1")


def _from_list(edges: Any, nodes: Sequence[Any] | None) -> SparseNetwork:
    if isinstance(edges, type) or not isinstance(edges, Iterable):
        raise BadInput(f"edges is {edges!r:.60}; give a matrix, a file or list of pairs, or a networkx graph")
    table = edges if isinstance(edges, np.ndarray) else [tuple(pair) for pair in edges]
    if isinstance(table, np.ndarray) and (table.ndim != 2 or table.shape[1] != 2):
        raise BadInput(f"edges has the shape {table.shape}; give a square matrix, or a table of pairs")
    if isinstance(table, np.ndarray) and table.dtype.kind in "iu" and (nodes is None or numbered(nodes)):
        if len(table) and table.min() < 0:
            raise BadInput(f"the edge {tuple(table[np.argmin(table.min(1))].tolist())} has a negative number")
        nodes = range(int(table.max(initial=-1)) + 1) if nodes is None else nodes
        if table.max(initial=-1) >= len(nodes):
            far = tuple(table[np.argmax(table.max(1))].tolist())
            raise BadInput(f"the edge {far} does not join two of the {len(nodes)} nodes")
        return SparseNetwork(tuple(nodes), _sorted(table, tuple(nodes)), np.zeros((0, 2), np.int32))
    pairs = [tuple(pair) for pair in (table.tolist() if isinstance(table, np.ndarray) else table)]
    seen = {name for pair in pairs for name in pair}
    if nodes is None and all(isinstance(name, int | np.integer) for name in seen):
        nodes = range(max(seen, default=-1) + 1)
    names = tuple(sorted(seen, key=str)) if nodes is None else tuple(nodes)
    return SparseNetwork(names, _sorted(_numbers(pairs, names), names), np.zeros((0, 2), np.int32))


def numbered(nodes: Sequence[Any]) -> bool:
    """Return whether the names of the nodes are 0, 1, 2, ..., and so need no looking up."""
    return isinstance(nodes, range) and nodes == range(len(nodes))


def _numbers(pairs: Any, names: tuple[Any, ...]) -> NDArray[np.int64]:
    where = {name: i for i, name in enumerate(names)}
    for pair in pairs:
        if len(pair) != 2 or any(name not in where for name in pair):
            raise BadInput(f"the edge {tuple(pair)} does not join two of the {len(names)} nodes")
    return np.array([[where[a], where[b]] for a, b in pairs], np.int64).reshape(-1, 2)


def _sorted(pairs: Any, names: tuple[Any, ...]) -> Pairs:
    """Return each pair once, its smaller number first."""
    pairs = np.asarray(pairs, np.int64).reshape(-1, 2)
    loops = pairs[pairs[:, 0] == pairs[:, 1]]
    if len(loops):
        raise BadInput(f"node {names[loops[0, 0]]!r} is joined to itself; leave self-loops out")
    return each_once(np.sort(pairs, axis=1), len(names))


def _with_missing(network: SparseNetwork, missing: Iterable[Any]) -> SparseNetwork:
    missing = missing if isinstance(missing, np.ndarray) else [tuple(pair) for pair in missing]
    if not len(missing):
        return network
    where = {name: i for i, name in enumerate(network.nodes)}
    unknown = [name for pair in (missing.tolist() if isinstance(missing, np.ndarray) else missing) for name in pair]
    if strangers := [name for name in unknown if name not in where]:
        raise BadInput(f"missing names {strangers[0]!r}, which is not a node of the network")
    numbers = np.array([where[name] for name in unknown]).reshape(-1, 2)
    left = _sorted(numbers, network.nodes)
    size = len(network.nodes)
    known = ~np.isin(codes(network.edges, size), codes(left, size))
    return SparseNetwork(network.nodes, network.edges[known], left)


def codes(pairs: Any, size: int) -> NDArray[np.int64]:
    """Return one number for each pair of nodes below `size`, in the order of the pairs."""
    return pairs[:, 0].astype(np.int64) * size + pairs[:, 1]


def each_once(pairs: Any, size: int) -> Pairs:
    """Return pairs without repetitions, sorted."""
    return np.stack(np.divmod(np.unique(codes(pairs, size)), size), axis=1).astype(np.int32)
