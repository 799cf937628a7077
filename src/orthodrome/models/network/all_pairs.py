"""All pairs of a large network, by blocks of rows: the sums of which a gradient and Newton steps are made.

With eta = U L U' + c let r_ij be the slope of the log likelihood of the pair ij in eta_ij, and h_ij minus its
curvature. A block of rows is a dense matrix of all its pairs, as if none had an edge; then the listed ones, the few
that have an edge or are unknown (and a node with itself), are set right. No matrix of all pairs is ever written down:
a pass takes O(m^2) time and O(BLOCK m + edges) memory. From

    r U and h U (m, p),    the sums over j of h_ij u_j u_j' (m, p, p),    the sums of r, h and the log likelihood

over ordered pairs follow, each pair of nodes being met twice,

    d/dU = (r U) L,    d/dL_k = sum_i u_ik (r U)_ik / 2,    d/dc = sum r / 2.
"""

from __future__ import annotations

import itertools
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from orthodrome.core.types import Tree
from orthodrome.models.network.links import LINKS
from orthodrome.models.network.pairs import SparseNetwork

BLOCK = 256
"""Rows at a time."""


class NetworkRows(NamedTuple):
    """The listed pairs of every block of rows, padded to the same number.

    nodes: the numbers of the rows (blocks, BLOCK); m where there is none
    row, column: a listed pair, its row counted from the first of the block; BLOCK where there is none
    edge: 1 if it has an edge, 0 if it does not count
    """

    nodes: Array
    row: Array
    column: Array
    edge: Array


class PairSums(NamedTuple):
    """Of a block of rows, or of all: r U, h U, the matrices of h, and the sums of r, h and the log likelihood."""

    pull: Array
    weight: Array
    curvature: Array
    slope: Array
    bend: Array
    loglikelihood: Array


def rows_of(network: SparseNetwork) -> NetworkRows:
    """Return the listed pairs by blocks of rows."""
    m = len(network.nodes)
    both = [np.concatenate([pairs, pairs[:, ::-1]]) for pairs in (network.edges, network.unknown)]
    pairs = np.concatenate([*both, np.stack([np.arange(m)] * 2, axis=1)])
    edge = np.arange(len(pairs)) < len(both[0])
    order = np.argsort(pairs[:, 0], kind="stable")
    pairs, edge = pairs[order], edge[order]
    blocks = -(-m // BLOCK)
    begin = np.searchsorted(pairs[:, 0], np.arange(blocks + 1) * BLOCK)
    width = int(np.max(np.diff(begin)))
    row, column = np.full((blocks, width), BLOCK, np.int32), np.zeros((blocks, width), np.int32)
    kind = np.zeros((blocks, width), np.float32)
    for block, (one, two) in enumerate(itertools.pairwise(begin)):
        row[block, : two - one] = pairs[one:two, 0] - block * BLOCK
        column[block, : two - one] = pairs[one:two, 1]
        kind[block, : two - one] = edge[one:two]
    nodes = np.minimum(np.arange(blocks * BLOCK), m).reshape(blocks, BLOCK).astype(np.int32)
    return NetworkRows(*map(jnp.asarray, (nodes, row, column, kind)))


def sums(rows: NetworkRows, x: Tree, link: str) -> PairSums:
    """Return the sums over all ordered pairs."""
    found = jax.lax.map(lambda block: block_sums(block, x, link), rows)
    m, p = x["frame"].shape
    pull, weight = found.pull.reshape(-1, p)[:m], found.weight.reshape(-1, p)[:m]
    return PairSums(pull, weight, found.curvature.reshape(-1, p, p)[:m], *(jnp.sum(part) for part in found[3:]))


def block_sums(block: NetworkRows, x: Tree, link: str) -> PairSums:
    """Return the sums over the pairs of one block of rows with all nodes."""
    frame, c = x["frame"], x["intercept"]
    here = block.nodes < frame.shape[0]
    scaled = frame[jnp.minimum(block.nodes, frame.shape[0] - 1)] * x["eigenvalues"][None]
    value, slope, bend = _terms(link, -(scaled @ frame.T + c))
    mask, p = here.astype(frame.dtype), frame.shape[1]
    features = jnp.concatenate([frame, (frame[:, :, None] * frame[:, None, :]).reshape(-1, p * p)], axis=1)
    pull, weighted = -slope @ frame * mask[:, None], bend @ features * mask[:, None]
    totals = -jnp.sum(slope, 1), jnp.sum(bend, 1), jnp.sum(value, 1)
    # what the listed pairs really have, less what they had as pairs without an edge
    inside = (block.row < BLOCK).astype(frame.dtype)
    ends = frame[block.column]
    eta = jnp.sum(scaled[jnp.minimum(block.row, BLOCK - 1)] * ends, axis=1) + c
    (v0, s0, b0), (v1, s1, b1) = _terms(link, -eta), _terms(link, eta)
    edge = block.edge.astype(frame.dtype)
    r, h, value = ((edge * a - b) * inside for a, b in ((s1, -s0), (b1, b0), (v1, v0)))
    add = lambda old, new: old.at[block.row].add(new, mode="drop")
    weighted = add(weighted, h[:, None] * features[block.column])
    return PairSums(
        add(pull, r[:, None] * ends),
        weighted[:, :p],
        weighted[:, p:].reshape(-1, p, p),
        *(jnp.sum(total * mask) + jnp.sum(new) for total, new in zip(totals, (r, h, value), strict=True)),
    )


def _terms(link: str, z: Array) -> tuple[Array, Array, Array]:
    """Return log F(z), its slope, and minus its curvature, which is s (s + z) for probits and s (1 - s) for logits."""
    value, slope = LINKS[link](z)
    return value, slope, slope * (slope + z if link == "probit" else 1 - slope)


def gradient(found: PairSums, x: Tree) -> tuple[Array, Tree]:
    """Return the log likelihood, each pair of nodes counted once, and its gradient in the ambient space."""
    whole: dict[str, Any] = {
        "frame": found.pull * x["eigenvalues"][None],
        "eigenvalues": jnp.sum(x["frame"] * found.pull, axis=0) / 2,
        "intercept": found.slope / 2,
    }
    return found.loglikelihood / 2, whole
