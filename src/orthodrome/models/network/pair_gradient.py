"""The gradient of a network's posterior from a batch of its edges and a batch of its other pairs.

With E edges and P = m (m - 1) / 2 pairs of nodes the log likelihood is estimated without bias by

    (E / n) sum over n edges of log F(eta_ij)  +  (1 / k) sum over k pairs of w_ij log F(-eta_ij) / q_ij,

the edges drawn without replacement, the k = 3 n pairs with replacement and with probabilities q_ij, and w_ij = 0 where
a pair has an edge or is unknown. The pairs without an edge, nearly all of a sparse network, say little each, the few
edges much: drawn apart, neither drowns in the noise of the other. Half of the pairs are drawn uniformly and half as the
ends of two edges, nodes with probabilities proportional to their degrees d_i, so that the pairs that nearly had an edge
come more often:

    q_ij = 1 / (2 P) + d_i d_j / (2 E)^2;    a node that meets itself counts as w = 0.

On a planted network of 3,000 nodes (.8 % of the pairs are edges) that leaves 42 % of the variance which uniform pairs
give to the second sum; three pairs for each edge make the variances of both sums alike. An estimate costs
O(n log degree + m p), whatever the number of pairs.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from orthodrome.core.programs import keeps_programs
from orthodrome.core.pytree import pytree, static
from orthodrome.core.types import Key, Tree
from orthodrome.gradients.estimator import Estimate
from orthodrome.gradients.rows import draw_rows
from orthodrome.manifolds import Euclidean, Product, Stiefel
from orthodrome.manifolds.manifold import Manifold
from orthodrome.models.network.law import INTERCEPT_VARIANCE
from orthodrome.models.network.links import log_cdf
from orthodrome.models.network.pairs import Listed, SparseNetwork, is_listed, listed

PAIRS_PER_EDGE = 3
"""Pairs drawn for each edge of a batch; what balances the two variances on sparse planted networks."""


@pytree
class PairGradient:
    """Batches of edges and of other pairs, drawn from the key at every estimate.

    edges: pairs i < j with an edge (E, 2)
    begin, other: the pairs that have an edge or are unknown (`pairs.Listed`)
    degrees: d, how many edges each node has
    nodes: m
    link: 'probit' or 'logit'
    batch_size: n
    rounds: of the bisection
    """

    edges: Array
    begin: Array
    other: Array
    degrees: Array
    nodes: int = static()
    link: str = static()
    batch_size: int = static()
    rounds: int = static()

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


@keeps_programs
@jax.jit
def _estimated(gradient: PairGradient, key: Array, x: Tree) -> tuple[Array, Tree]:
    edge_key, pair_key = jax.random.split(key)
    m, total = gradient.nodes, gradient.edges.shape[0]
    count = min(gradient.batch_size, total)
    joined = gradient.edges[draw_rows(edge_key, total, count, False)] if total else gradient.edges
    i, j, weight = _other_pairs(gradient, pair_key)
    dtype = x["frame"].dtype
    ratio, weight = jnp.asarray(total / max(count, 1), dtype), weight.astype(dtype)

    def logdensity(x: Tree) -> Array:
        with_edge = jnp.sum(log_cdf(gradient.link, predictor(x, joined[:, 0], joined[:, 1])))
        without = jnp.sum(weight * log_cdf(gradient.link, -predictor(x, i, j)))
        prior = -jnp.sum(x["eigenvalues"] ** 2) / (2 * m) - x["intercept"] ** 2 / (2 * INTERCEPT_VARIANCE)
        return prior + ratio * with_edge + without

    return jax.value_and_grad(logdensity)(x)


def _other_pairs(gradient: PairGradient, key: Array) -> tuple[Array, Array, Array]:
    """Return pairs i < j and their weights w_ij / (k q_ij); the first half of them is drawn uniformly."""
    m, ends = gradient.nodes, 2 * gradient.edges.shape[0]
    size = PAIRS_PER_EDGE * gradient.batch_size
    by_degree = size // 2 if ends else 0
    keys = jax.random.split(key, 4)
    one = draw_rows(keys[0], m, size - by_degree, True)
    two = draw_rows(keys[1], m - 1, size - by_degree, True)
    two = two + (two >= one).astype(two.dtype)  # any node but the first, each as likely as any other
    if by_degree:
        drawn = (gradient.edges.reshape(-1)[draw_rows(k, ends, by_degree, True)].astype(one.dtype) for k in keys[2:])
        one, two = (jnp.concatenate(parts) for parts in zip((one, two), drawn, strict=True))
    i, j = jnp.minimum(one, two), jnp.maximum(one, two)
    free = (i < j) & ~is_listed(Listed(gradient.begin, gradient.other, gradient.rounds), i, j)
    degrees = gradient.degrees[i] * gradient.degrees[j] / float(max(ends, 1)) ** 2
    expected = 2 * (size - by_degree) / (m * (m - 1)) + 2 * by_degree * degrees
    return i, j, jnp.where(free, 1 / expected, 0)


def predictor(x: Tree, i: Array, j: Array) -> Array:
    """Return eta of pairs, [U L U']_ij + c."""
    return jnp.sum(x["frame"][i] * x["eigenvalues"][None] * x["frame"][j], axis=1) + x["intercept"]


def pair_gradient(network: SparseNetwork, link: str, batch_size: int) -> PairGradient:
    """Return the estimator of a network's posterior."""
    known = listed(network)
    m = len(network.nodes)
    degrees = jnp.asarray(np.bincount(network.edges.reshape(-1), minlength=m), jnp.float32)
    sizes = m, link, batch_size, known.rounds
    return PairGradient(jnp.asarray(network.edges), known.begin, known.other, degrees, *sizes)
