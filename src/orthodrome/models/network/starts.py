"""Where the chains of a network start: at the spectrum of its adjacency matrix.

To first order in eta = U L U' the probability of an edge is F(c + eta) = F(c) + F'(c) eta. With the share d of edges
and c = F^-1(d), the matrix (Y - d) / F'(c) is thus U L U' plus noise, and p of its eigenvectors are a first guess of
the frame: those of largest |eigenvalue|, or a given number of the largest and the rest of the smallest. A little noise
in a start's frame keeps R-hat meaningful.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from orthodrome.core.types import Reals

JITTER = 0.1
"""The size of the noise added to each column, relative to its length."""
SHARES = (0.01, 0.99)
"""The share of edges is kept inside, where F^-1 is finite."""

Spectrum = tuple[Reals, Reals, float]
"""A frame, its eigenvalues (falling) and an intercept."""


def spectral_starts(edges: Reals, rank: int, link: str, chains: int, seed: int, dtype: str) -> list[dict[str, Any]]:
    """Return one start for each chain, from the spectrum of an adjacency matrix with entries 1, 0 and NaN."""
    found = spectrum(edges, rank, link)
    starts = [near(found, np.random.default_rng([seed, chain])) for chain in range(chains)]
    return [{name: np.asarray(value, dtype) for name, value in one.items()} for one in starts]


def random_starts(nodes: int, rank: int, chains: int, seed: int, dtype: str) -> list[dict[str, Any]]:
    """Return random frames, eigenvalues N(0, 1), and an intercept of -2, where the authors' code starts."""
    starts = []
    for chain in range(chains):
        rng = np.random.default_rng([seed, chain])
        frame = np.linalg.qr(rng.normal(size=(nodes, rank)))[0]
        one = {"frame": frame, "eigenvalues": rng.normal(size=rank), "intercept": np.array(-2.0)}
        starts.append({name: np.asarray(value, dtype) for name, value in one.items()})
    return starts


def near(found: Spectrum, rng: np.random.Generator) -> dict[str, Any]:
    """Return a start near a spectrum."""
    frame, values, intercept = found
    noise = JITTER * rng.normal(size=frame.shape) / np.sqrt(len(frame))
    moved, upper = np.linalg.qr(frame + noise)
    moved = moved * np.where(np.diag(upper) < 0, -1.0, 1.0)
    return {"frame": moved, "eigenvalues": values, "intercept": np.array(intercept)}


def spectrum(edges: Reals, rank: int, link: str) -> Spectrum:
    """Return the frame, the eigenvalues and the intercept of the linearised model, of the largest |eigenvalues|."""
    values, vectors, intercept = _linearised(edges, link)
    return _chosen(values, vectors, np.argsort(-np.abs(values))[:rank], intercept)


def split_spectrum(edges: Reals, rank: int, link: str, positive: int) -> Spectrum:
    """Return the same with the `positive` largest eigenvalues and, for the other columns, the smallest."""
    values, vectors, intercept = _linearised(edges, link)
    order = np.argsort(-values)
    chosen = np.concatenate([order[:positive], order[len(order) - (rank - positive) :]])
    return _chosen(values, vectors, chosen, intercept)


def _chosen(values: Reals, vectors: Reals, chosen: Any, intercept: float) -> Spectrum:
    chosen = chosen[np.argsort(-values[chosen])]
    return vectors[:, chosen], values[chosen], intercept


def _linearised(edges: Reals, link: str) -> Spectrum:
    """Return all eigenvalues and eigenvectors of (Y - d) / F'(c), and c."""
    known = np.isfinite(edges) & ~np.eye(len(edges), dtype=bool)
    share = float(np.clip(edges[known].mean(), *SHARES))
    intercept, slope = tangent(share, link)
    values, vectors = np.linalg.eigh(np.where(known, (np.where(known, edges, 0.0) - share) / slope, 0.0))
    return values, vectors, intercept


def tangent(share: float, link: str) -> tuple[float, float]:
    """Return F^-1(share) and F' there."""
    from scipy.special import logit, ndtri

    if link == "logit":
        return float(logit(share)), share * (1 - share)
    c = float(ndtri(share))
    return c, float(np.exp(-(c**2) / 2) / np.sqrt(2 * np.pi))
