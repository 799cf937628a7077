"""Large networks by stochastic gradients: the sampler over batches of pairs, and where its chains start.

The search for a start begins at the spectrum of `starts`, eigenvectors of (Y - d) / F'(c), computed without the matrix:
Y is sparse, and the share d of edges that is taken off at every known pair is of rank one but for the diagonal and the
unknown pairs. In a sparse network of unequal degrees one of the p largest eigenvalues may belong to the degrees alone,
and the model then stays at a saddle without one of its directions. So twice as many columns climb for a few passes, and
those with the p largest eigenvalues go on (`climb`). Chains start near the end, which is also the anchor of the
gradients. This takes some fifteen passes over all pairs, once.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray
from scipy.sparse.linalg import LinearOperator, eigsh

from orthodrome.core.types import Reals
from orthodrome.gradients.control_variate import Anchor
from orthodrome.models.network.all_pairs import gradient, rows_of
from orthodrome.models.network.climb import climbed
from orthodrome.models.network.pair_gradient import PairGradient, pair_gradient
from orthodrome.models.network.pairs import SparseNetwork
from orthodrome.models.network.starts import SHARES, Spectrum, near, tangent
from orthodrome.samplers.stochastic.gsgnht import GSGNHT
from orthodrome.samplers.stochastic.sggmc import SGGMC

WIDER, FIRST = 2, 5
"""How many times as many columns begin to climb, and for how many passes."""
METHODS = {"sggmc": SGGMC, "gsgnht": GSGNHT}
"""The stochastic samplers by the names of the methods."""


def stochastic_sampler(
    network: SparseNetwork, link: str, method: str, batch_size: int, num_steps: int, anchor: Anchor | None = None
) -> Any:
    """Return the sampler, whose step and friction are learnt in warm-up."""
    batches: PairGradient = pair_gradient(network, link, batch_size, anchor)
    return METHODS[method](batches, num_steps=num_steps)


def near_mode(network: SparseNetwork, rank: int, link: str, dtype: str) -> Anchor:
    """Return a point near the mode, with the log likelihood of all pairs and its gradient there."""
    rows, wide = rows_of(network), min(WIDER * rank, len(network.nodes))
    x, _ = climbed(rows, sparse_spectrum(network, wide, link), link, dtype, FIRST)
    frame, values, intercept = (np.asarray(x[name], float) for name in ("frame", "eigenvalues", "intercept"))
    chosen = largest(values, rank)
    x, found = climbed(rows, (frame[:, chosen], values[chosen], float(intercept)), link, dtype)
    return Anchor(x, *gradient(found, x))


def starts_near(anchor: Anchor, chains: int, seed: int) -> list[dict[str, Any]]:
    """Return one start for each chain, near the anchor."""
    frame, values, intercept = (np.asarray(anchor.position[name]) for name in ("frame", "eigenvalues", "intercept"))
    starts = [near((frame, values, float(intercept)), np.random.default_rng([seed, chain])) for chain in range(chains)]
    return [{name: np.asarray(value, frame.dtype) for name, value in one.items()} for one in starts]


def sparse_spectrum(network: SparseNetwork, rank: int, link: str) -> Spectrum:
    """Return the frame, eigenvalues and intercept of the linearised model, of the largest |eigenvalues|."""
    m, edges, unknown = len(network.nodes), symmetric(network.edges, network), symmetric(network.unknown, network)
    pairs = m * (m - 1) / 2 - len(network.unknown)
    share = float(np.clip(len(network.edges) / pairs, *SHARES))
    intercept, slope = tangent(share, link)

    def centred(v: Reals) -> Reals:
        v = v.ravel()
        return (edges @ v - share * (v.sum() - v - unknown @ v)) / slope

    operator = LinearOperator((m, m), matvec=centred, dtype=float)
    if rank < m - 1:
        begin = np.random.default_rng(0).normal(size=m)
        values, vectors = eigsh(operator, rank, which="LM", v0=begin)
    else:
        values, vectors = np.linalg.eigh(operator @ np.eye(m))
    order = largest(values, rank)
    return vectors[:, order], values[order], intercept


def largest(values: Reals, rank: int) -> NDArray[np.intp]:
    """Return the numbers of the eigenvalues of largest size, the eigenvalues falling."""
    order = np.argsort(-np.abs(values))[:rank]
    return order[np.argsort(-values[order])]


def symmetric(pairs: Any, network: SparseNetwork) -> scipy.sparse.csr_array:
    """Return the symmetric matrix with a one at each pair."""
    size = len(network.nodes)
    both = np.concatenate([pairs, pairs[:, ::-1]])
    return scipy.sparse.csr_array((np.ones(len(both)), (both[:, 0], both[:, 1])), shape=(size, size))
