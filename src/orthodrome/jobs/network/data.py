"""An edge list: two columns of a CSV file, the names of the nodes, and pairs whose edge is not known."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np

from orthodrome.corpora.opening import lines, opened
from orthodrome.errors import BadInput
from orthodrome.jobs.cells import place, read_cells
from orthodrome.jobs.network.job import NetworkJob

MOST_NODES = 10_000
"""The model holds a number for every pair of nodes."""
Pairs = list[tuple[int, int]]


class EdgeList(NamedTuple):
    """A network: the names of its nodes, and pairs of their places, the smaller first.

    edges: joined; missing: not known; held_out: left out of the fit, to measure it
    """

    nodes: list[str]
    edges: Pairs
    missing: Pairs
    held_out: Pairs

    @property
    def matrix(self) -> np.ndarray:
        """The adjacency matrix, with NaN where the fit must not look."""
        found = np.zeros((len(self.nodes), len(self.nodes)))
        for pairs, value in ((self.edges, 1.0), (self.missing, np.nan), (self.held_out, np.nan)):
            for i, j in pairs:
                found[i, j] = found[j, i] = value
        return found


def read_edges(job: NetworkJob, path: Path) -> EdgeList:
    """Return the network of a file, checked."""
    named = read_pairs(path, job)
    unknown = [] if job.missing is None else read_pairs(Path(job.missing), job)
    nodes = listed(job) or sorted({name for _, *pair in named + unknown for name in pair}, key=natural)
    check_nodes(nodes, job, path)
    where = {name: n for n, name in enumerate(nodes)}
    edges = placed(named, where, path)
    missing = [] if job.missing is None else placed(unknown, where, Path(job.missing))
    kept_back = held_out(len(nodes), missing, job)
    return EdgeList(nodes, edges, missing, kept_back)


def read_pairs(path: Path, job: NetworkJob) -> list[tuple[int, str, str]]:
    """Return the line and both names of every edge."""
    cells = read_cells(path, job.encoding, None, None)
    if len(cells.columns) < 2:
        raise BadInput(
            f"{path}, line 1: an edge has two ends, but there is one column; are fields separated by commas?"
        )
    head = list(cells.columns)
    first = 0 if job.source is None else place(head, job.source, path)
    second = 1 if job.target is None else place(head, job.target, path)
    if first == second:
        raise BadInput(f"{path}: both ends of an edge are the column {head[first]!r}; say --source and --target")
    found = [(line, row[first], row[second]) for line, row in zip(cells.at, cells.texts, strict=True)]
    empty = [line for line, *pair in found if not all(pair)]
    if empty:
        raise BadInput(f"{path}, line {empty[0]}: an end of the edge is empty ({len(empty)} such lines)")
    return found


def listed(job: NetworkJob) -> list[str]:
    """Return the names of the nodes if the job says them."""
    if job.num_nodes is not None:
        return [str(n) for n in range(min(job.num_nodes, MOST_NODES + 1))]
    if job.nodes is None:
        return []
    with opened(Path(job.nodes), job.encoding) as file:
        names = [name for _, line in lines(file, Path(job.nodes)) if (name := line.strip())]
    if twice := sorted({name for name in names if names.count(name) > 1} if len(names) <= MOST_NODES else set()):
        raise BadInput(f"{job.nodes}: the node {twice[0]!r} is there twice")
    return names


def check_nodes(nodes: list[str], job: NetworkJob, path: Path) -> None:
    """Raise if there are too few nodes for a network or a rank, or too many for the memory."""
    if len(nodes) > MOST_NODES:
        raise BadInput(
            f"{path} has more than {MOST_NODES:,} nodes; the model holds every pair of them: choose a part of it"
        )
    if len(nodes) < 3:
        raise BadInput(f"{path} has {len(nodes)} nodes: too few for a network")
    if job.rank > len(nodes):
        raise BadInput(f"--rank is {job.rank}, but there are {len(nodes)} nodes; take 1 to that many")


def placed(named: list[tuple[int, str, str]], where: dict[str, int], path: Path) -> Pairs:
    """Return pairs of places, each once; raise for a node that is not there and for a self-loop."""
    found: dict[tuple[int, int], None] = {}
    for line, a, b in named:
        for name in (a, b):
            if name not in where:
                raise BadInput(f"{path}, line {line}: {name!r:.60} is no node of the network")
        if a == b:
            raise BadInput(f"{path}, line {line}: {a!r:.60} is joined to itself; leave self-loops out")
        i, j = sorted((where[a], where[b]))
        found[i, j] = None
    return list(found)


def held_out(count: int, missing: Pairs, job: NetworkJob) -> Pairs:
    """Return pairs that are kept back, drawn at random."""
    rows, columns = np.triu_indices(count, 1)
    chosen = np.random.default_rng(job.seed).permutation(len(rows))[: round(job.held_out * len(rows))]
    known = set(missing)
    pairs = zip(rows[np.sort(chosen)].tolist(), columns[np.sort(chosen)].tolist(), strict=True)
    return [pair for pair in pairs if pair not in known]


def natural(name: str) -> tuple[bool, int, str]:
    """Return a sort key that puts numbers first and in their order."""
    number = name.isascii() and name.isdigit() and len(name) < 19
    return not number, int(name) if number else 0, name
