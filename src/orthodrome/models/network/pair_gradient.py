"""The gradient of a network's posterior from a batch of its edges and a batch of its other pairs.

With E edges and P = m (m - 1) / 2 pairs of nodes the log likelihood is estimated without bias by

    sum over n strata of edges of (size of the stratum) log F(eta_ij)  +  sum over k pairs of w_ij log F(-eta_ij) / q_ij

where w_ij = 0 if a pair has an edge or is unknown. The pairs without an edge, nearly all of a sparse network, say
little each, the few edges much: drawn apart, neither drowns in the noise of the other.

Edges, sorted by their first node, are cut into n strata of nearly equal sizes, of each of which one edge is drawn: none
comes twice, and every node has its share of the batch. Of the k = 3 n pairs half are a node and any other one, and half
the ends of two edges, nodes with probabilities proportional to their degrees d_i, so that the pairs that nearly had an
edge come more often. In both halves the first nodes are taken in order from a random place on, with steps that spread
them over all nodes (or all ends): each comes in its share, and each is as likely as any other at every place. So the
pair ij is expected

    q_ij = k / (2 P) + k d_i d_j / (2 E)^2

times; a node that meets itself counts as w = 0. An estimate costs O(n + m p), whatever the numbers of pairs and edges.

With an anchor a near the mode, where the log likelihood of all pairs and its gradient are known (`all_pairs`), the
batch only has to tell the difference from it (Baker, Fearnhead, Fox & Nemeth 2019):

    log L(x) = log L(a) + the estimate at x - the estimate at a, of the same batch.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from orthodrome.core import trees
from orthodrome.core.programs import keeps_programs
from orthodrome.core.pytree import pytree, static
from orthodrome.core.types import Key, Tree
from orthodrome.gradients.control_variate import Anchor
from orthodrome.gradients.estimator import Estimate
from orthodrome.gradients.rows import draw_rows, upper_product
from orthodrome.manifolds import Euclidean, Product, Stiefel
from orthodrome.manifolds.manifold import Manifold
from orthodrome.models.network.law import INTERCEPT_VARIANCE
from orthodrome.models.network.links import log_cdf
from orthodrome.models.network.listed import Listed, is_listed, listed, narrow
from orthodrome.models.network.pairs import SparseNetwork, each_once

PAIRS_PER_EDGE = 3
"""Pairs drawn for each edge of a batch. On a planted network of 10,000 nodes (.9 % of the pairs are edges), without an
anchor, the other pairs still have twice the variance of the edges."""


@pytree
class PairGradient:
    """Batches of edges and of other pairs, drawn from the key at every estimate.

    edges: pairs i < j with an edge (E, 2), sorted
    strata: where each stratum of them begins, and E at the end (n + 1)
    ends: every node as often as it has edges, sorted (2 E)
    degrees: d, how many edges each node has
    known: the pairs that have an edge or are unknown
    anchor: a, with the log likelihood there and its gradient; None: there is none
    nodes: m
    link: 'probit' or 'logit'
    batch_size: n
    """

    edges: Array
    strata: Array
    ends: Array
    degrees: Array
    known: Listed
    anchor: Anchor | None
    nodes: int = static()
    link: str = static()
    batch_size: int = static()

    @property
    def target(self) -> PairGradient:
        """The law whose gradient is estimated."""
        return self

    @property
    def manifold(self) -> Manifold:
        """The manifold of {"frame": U, "eigenvalues": L, "intercept": c}."""
        return Product({"frame": Stiefel(), "eigenvalues": Euclidean(), "intercept": Euclidean()})

    def init(self, x: Tree) -> None:
        """Return None: there is nothing to remember."""
        return

    def estimate(self, key: Key, x: Tree, memory: Any) -> tuple[Estimate, Any]:
        """Return an estimate from new batches."""
        return Estimate(*_estimated(self, key, x)), memory


class PairBatch(NamedTuple):
    """Pairs i < j, 1 where they have an edge and -1 where not, and how much each counts."""

    i: Array
    j: Array
    sign: Array
    weight: Array


@keeps_programs
@jax.jit
def _estimated(gradient: PairGradient, key: Array, x: Tree) -> tuple[Array, Tree]:
    i, j, sign, weight = drawn(gradient, key, x["frame"].dtype)

    def likelihood(x: Tree) -> Array:
        return jnp.sum(weight * log_cdf(gradient.link, sign * predictor(x, i, j)))

    def prior(x: Tree) -> Array:
        return -jnp.sum(x["eigenvalues"] ** 2) / (2 * gradient.nodes) - x["intercept"] ** 2 / (2 * INTERCEPT_VARIANCE)

    found = trees.add(jax.value_and_grad(likelihood)(x), jax.value_and_grad(prior)(x))
    if gradient.anchor is None:
        return found
    position, *whole = gradient.anchor
    return trees.add(trees.subtract(found, jax.value_and_grad(likelihood)(position)), tuple(whole))


def drawn(gradient: PairGradient, key: Array, dtype: Any) -> PairBatch:
    """Draw a batch of both kinds."""
    edge_key, pair_key = jax.random.split(key)
    one, other = _edges(gradient, edge_key, dtype), _other_pairs(gradient, pair_key, dtype)
    return PairBatch(*(jnp.concatenate(both) for both in zip(one, other, strict=True)))


def _edges(gradient: PairGradient, key: Array, dtype: Any) -> PairBatch:
    """Draw an edge of every stratum."""
    sizes = jnp.diff(gradient.strata)
    within = upper_product(jax.random.bits(key, sizes.shape, jnp.uint32), sizes)
    pairs = gradient.edges[gradient.strata[:-1] + within.astype(gradient.strata.dtype)].astype(jnp.int32)
    return PairBatch(pairs[:, 0], pairs[:, 1], jnp.ones(sizes.shape, dtype), sizes.astype(dtype))


def _other_pairs(gradient: PairGradient, key: Array, dtype: Any) -> PairBatch:
    """Draw pairs, half of them with a node and any other one, half with the ends of edges."""
    m, ends = gradient.nodes, gradient.ends.shape[0]
    size = PAIRS_PER_EDGE * gradient.batch_size
    by_degree = size // 2 if ends else 0
    keys = jax.random.split(key, 4)
    one = _in_turn(keys[0], m, size - by_degree)
    two = draw_rows(keys[1], m - 1, size - by_degree, True).astype(one.dtype)
    two = two + (two >= one).astype(one.dtype)  # any node but the first, each as likely as any other
    if by_degree:
        rows = _in_turn(keys[2], ends, by_degree), draw_rows(keys[3], ends, by_degree, True)
        one, two = (
            jnp.concatenate([a, gradient.ends[b].astype(jnp.int32)]) for a, b in zip((one, two), rows, strict=True)
        )
    i, j = jnp.minimum(one, two), jnp.maximum(one, two)
    free = (i < j) & ~is_listed(gradient.known, i, j)
    degrees = gradient.degrees[i] * gradient.degrees[j] / float(max(ends, 1)) ** 2
    expected = 2 * (size - by_degree) / (m * (m - 1)) + 2 * by_degree * degrees
    return PairBatch(i, j, jnp.full(i.shape, -1, dtype), jnp.where(free, 1 / expected, 0).astype(dtype))


def _in_turn(key: Array, num_rows: int, count: int) -> Array:
    """Return row numbers at equal distances from a random one on, over all rows: each is uniform, they are spread."""
    first = draw_rows(key, num_rows, 1, True).astype(jnp.int32)
    return (first + jnp.arange(count, dtype=jnp.int32) % num_rows * max(1, num_rows // count)) % num_rows


def predictor(x: Tree, i: Array, j: Array) -> Array:
    """Return eta of pairs, [U L U']_ij + c, column by column: a gather of numbers is faster than one of short rows."""
    columns = zip(x["frame"].T, x["eigenvalues"], strict=True)
    return sum((value * u[i] * u[j] for u, value in columns), x["intercept"])


def pair_gradient(network: SparseNetwork, link: str, batch_size: int, anchor: Anchor | None = None) -> PairGradient:
    """Return the estimator of a network's posterior."""
    m, total = len(network.nodes), len(network.edges)
    edges = each_once(network.edges, m)
    known = listed(each_once(np.concatenate([network.edges, network.unknown]), m), m)
    degrees = np.bincount(edges.reshape(-1), minlength=m)
    count = min(batch_size, total)
    strata = jnp.asarray(np.arange(count + 1) * total // max(count, 1), jnp.int32)
    ends = jnp.asarray(np.repeat(np.arange(m, dtype=narrow(m)), degrees))
    often = jnp.asarray(degrees, jnp.float32)
    return PairGradient(jnp.asarray(edges, narrow(m)), strata, ends, often, known, anchor, m, link, batch_size)
