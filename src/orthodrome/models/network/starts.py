"""Where the chains of a network start: at the spectrum of its adjacency matrix.

To first order in eta = U L U' the probability of an edge is F(c + eta) = F(c) + F'(c) eta. With the share d of edges
and c = F^-1(d), the matrix (Y - d) / F'(c) is thus U L U' plus noise, and its p eigenvectors of largest |eigenvalue|
are a first guess of the frame. The posterior has several modes, in which some columns describe noise: the spectrum puts
all chains near the same one. A little noise in each chain's frame keeps R-hat meaningful.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from orthodrome.core.types import Reals

JITTER = 0.1
"""The size of the noise added to each column, relative to its length."""
SHARES = (0.01, 0.99)
"""The share of edges is kept inside, where F^-1 is finite."""


def spectral_starts(edges: Reals, rank: int, link: str, chains: int, seed: int, dtype: str) -> list[dict[str, Any]]:
    """Return one start for each chain, from the spectrum of an adjacency matrix with entries 1, 0 and NaN."""
    frame, values, intercept = spectrum(edges, rank, link)
    starts = []
    for chain in range(chains):
        rng = np.random.default_rng([seed, chain])
        noise = JITTER * rng.normal(size=frame.shape) / np.sqrt(len(frame))
        near, upper = np.linalg.qr(frame + noise)
        near = near * np.where(np.diag(upper) < 0, -1.0, 1.0)
        one = {"frame": near, "eigenvalues": values, "intercept": np.array(intercept)}
        starts.append({name: np.asarray(value, dtype) for name, value in one.items()})
    return starts


def spectrum(edges: Reals, rank: int, link: str) -> tuple[Reals, Reals, float]:
    """Return the frame, the eigenvalues (falling) and the intercept of the linearised model."""
    known = np.isfinite(edges) & ~np.eye(len(edges), dtype=bool)
    share = float(np.clip(edges[known].mean(), *SHARES))
    intercept, slope = _linearised(share, link)
    residual = np.where(known, (np.where(known, edges, 0.0) - share) / slope, 0.0)
    values, vectors = np.linalg.eigh(residual)
    chosen = np.argsort(-np.abs(values))[:rank]
    chosen = chosen[np.argsort(-values[chosen])]
    return vectors[:, chosen], values[chosen], intercept


def _linearised(share: float, link: str) -> tuple[float, float]:
    """Return F^-1(share) and F' there."""
    from scipy.special import logit, ndtri

    if link == "logit":
        return float(logit(share)), share * (1 - share)
    c = float(ndtri(share))
    return c, float(np.exp(-(c**2) / 2) / np.sqrt(2 * np.pi))
