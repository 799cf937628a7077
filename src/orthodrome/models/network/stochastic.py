"""Large networks by stochastic gradients: the sampler over batches of pairs, and where its chains start.

The start is that of `starts`, p eigenvectors of (Y - d) / F'(c), computed without the matrix: Y is sparse, and the
share d of edges that is taken off at every known pair is of rank one but for the diagonal and the unknown pairs.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse
from scipy.sparse.linalg import LinearOperator, eigsh

from orthodrome.core.types import Reals
from orthodrome.models.network.pair_gradient import PairGradient, pair_gradient
from orthodrome.models.network.pairs import SparseNetwork
from orthodrome.models.network.starts import SHARES, Spectrum, near, tangent
from orthodrome.samplers.stochastic.gsgnht import GSGNHT
from orthodrome.samplers.stochastic.sggmc import SGGMC

METHODS = {"sggmc": SGGMC, "gsgnht": GSGNHT}
"""The stochastic samplers by the names of the methods."""


def stochastic_sampler(network: SparseNetwork, link: str, method: str, batch_size: int, num_steps: int) -> Any:
    """Return the sampler, whose step and friction are learnt in warm-up."""
    gradient: PairGradient = pair_gradient(network, link, batch_size)
    return METHODS[method](gradient, num_steps=num_steps)


def sparse_starts(
    network: SparseNetwork, rank: int, link: str, chains: int, seed: int, dtype: str
) -> list[dict[str, Any]]:
    """Return one start for each chain, from the spectrum of the network."""
    found = sparse_spectrum(network, rank, link)
    starts = [near(found, np.random.default_rng([seed, chain])) for chain in range(chains)]
    return [{name: np.asarray(value, dtype) for name, value in one.items()} for one in starts]


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
    order = np.argsort(-np.abs(values))[:rank]
    order = order[np.argsort(-values[order])]
    return vectors[:, order], values[order], intercept


def symmetric(pairs: Any, network: SparseNetwork) -> scipy.sparse.csr_array:
    """Return the symmetric matrix with a one at each pair."""
    size = len(network.nodes)
    both = np.concatenate([pairs, pairs[:, ::-1]])
    return scipy.sparse.csr_array((np.ones(len(both)), (both[:, 0], both[:, 1])), shape=(size, size))
