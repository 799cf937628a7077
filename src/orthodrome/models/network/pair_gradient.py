"""The gradient of a network's posterior from a batch of its edges and a batch of its other pairs.

With E edges and P = m (m - 1) / 2 pairs of nodes the log likelihood is estimated without bias by

    (E / n) sum over n edges of log F(eta_ij)  +  (P / n) sum over n pairs of w_ij log F(-eta_ij),

the edges drawn without replacement, the pairs uniformly, w_ij = 0 where a pair has an edge or is unknown. The pairs
without an edge, nearly all of a sparse network, say little each, the few edges much: drawn apart, neither drowns in the
noise of the other. An estimate costs O(n log degree + m p), whatever the number of pairs.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
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


@pytree
class PairGradient:
    """Batches of edges and of other pairs, drawn from the key at every estimate.

    edges: pairs i < j with an edge (E, 2)
    begin, other: the pairs that have an edge or are unknown (`pairs.Listed`)
    nodes: m
    link: 'probit' or 'logit'
    batch_size: n
    rounds: of the bisection
    """

    edges: Array
    begin: Array
    other: Array
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
    edge_key, row_key, column_key = jax.random.split(key, 3)
    m, total = gradient.nodes, gradient.edges.shape[0]
    count = min(gradient.batch_size, total)
    joined = gradient.edges[draw_rows(edge_key, total, count, False)] if total else gradient.edges
    one = draw_rows(row_key, m, gradient.batch_size, True)
    two = draw_rows(column_key, m - 1, gradient.batch_size, True)
    two = two + (two >= one).astype(two.dtype)  # any node but the first, each as likely as any other
    i, j = jnp.minimum(one, two), jnp.maximum(one, two)
    free = ~is_listed(Listed(gradient.begin, gradient.other, gradient.rounds), i, j)
    dtype = x["frame"].dtype
    ratios = total / max(count, 1), m * (m - 1) / 2 / gradient.batch_size

    def logdensity(x: Tree) -> Array:
        with_edge = jnp.sum(log_cdf(gradient.link, predictor(x, joined[:, 0], joined[:, 1])))
        without = jnp.sum(jnp.where(free, log_cdf(gradient.link, -predictor(x, i, j)), 0))
        prior = -jnp.sum(x["eigenvalues"] ** 2) / (2 * m) - x["intercept"] ** 2 / (2 * INTERCEPT_VARIANCE)
        return prior + jnp.asarray(ratios[0], dtype) * with_edge + jnp.asarray(ratios[1], dtype) * without

    return jax.value_and_grad(logdensity)(x)


def predictor(x: Tree, i: Array, j: Array) -> Array:
    """Return eta of pairs, [U L U']_ij + c."""
    return jnp.sum(x["frame"][i] * x["eigenvalues"][None] * x["frame"][j], axis=1) + x["intercept"]


def pair_gradient(network: SparseNetwork, link: str, batch_size: int) -> PairGradient:
    """Return the estimator of a network's posterior."""
    known = listed(network)
    sizes = len(network.nodes), link, batch_size, known.rounds
    return PairGradient(jnp.asarray(network.edges), known.begin, known.other, *sizes)
