"""Where the chains of a matrix completion start: at alternating least squares from the spectrum of what is observed.

The leading singular vectors of the matrix with zeros for unknown entries, times (number of entries) / (observed), are a
first guess; a few sweeps of ridge regressions of the rows on the columns and back improve it, and their product is
brought to its singular value decomposition.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse
from scipy.sparse.linalg import svds

from orthodrome.core.types import Reals
from orthodrome.models.completion.entries import Entries

SWEEPS, RIDGE, JITTER = 10, 1.0, 0.05
"""Of the least squares; and the noise added to each column of a start, relative to its length."""


def starts(
    entries: Entries, rank: int, scale: tuple[float, float, float], chains: int, seed: int, dtype: str
) -> list[dict[str, Any]]:
    """Return one start for each chain, in the units of `law.posterior` (scale: those of `law.units`)."""
    centre, spread, unit = scale
    left, values, right = least_squares(entries, (entries.values - centre) / spread, rank)
    fitted = np.sum(left[entries.rows] * values * right[entries.columns], axis=1)
    noise = max(float(np.std((entries.values - centre) / spread - fitted)), 0.05)
    found = []
    for chain in range(chains):
        rng = np.random.default_rng([seed, chain])
        one = {
            "left": jittered(left, rng),
            "right": jittered(right, rng),
            "singular_values": np.maximum(values * spread / unit, 1e-3) * np.exp(JITTER * rng.normal(size=rank)),
            "noise": np.array(noise),
            "mean": np.array(0.0),
        }
        found.append({name: np.asarray(value, dtype) for name, value in one.items()})
    return found


def jittered(frame: Reals, rng: np.random.Generator) -> Reals:
    """Return an orthonormal frame near another one."""
    moved, upper = np.linalg.qr(frame + JITTER * rng.normal(size=frame.shape) / np.sqrt(len(frame)))
    return moved * np.where(np.diag(upper) < 0, -1.0, 1.0)


def least_squares(entries: Entries, y: Reals, rank: int, ridge: float = RIDGE) -> tuple[Reals, Reals, Reals]:
    """Return the singular value decomposition (left, values, right) of the ridge regression of rank `rank`."""
    places = entries.rows, entries.columns
    seen, observed = (scipy.sparse.csr_array((v, places), entries.shape) for v in (np.ones_like(y), y))
    begin = np.random.default_rng(0).normal(size=min(entries.shape))
    if rank < min(entries.shape):
        _, s, vt = svds(observed.astype(float), rank, v0=begin)
    else:
        _, s, vt = np.linalg.svd(observed.toarray(), full_matrices=False)
        s, vt = s[:rank], vt[:rank]
    right = vt.T * np.sqrt(np.maximum(s, 1e-8) * np.prod(entries.shape) / len(y))
    for _ in range(SWEEPS):
        left = regressed(seen, observed, right, ridge)
        right = regressed(seen.T.tocsr(), observed.T.tocsr(), left, ridge)
    (q1, r1), (q2, r2) = np.linalg.qr(left), np.linalg.qr(right)
    u, values, vt = np.linalg.svd(r1 @ r2.T)
    return q1 @ u, values, q2 @ vt.T


def regressed(seen: Any, observed: Any, factor: Reals, ridge: float) -> Reals:
    """Return the best factor of one side, given the other, by a ridge regression for each row."""
    rank = factor.shape[1]
    products = (factor[:, :, None] * factor[:, None, :]).reshape(len(factor), -1)
    normal = (seen @ products).reshape(-1, rank, rank) + ridge * np.eye(rank)
    return np.linalg.solve(normal, (observed @ factor)[..., None])[..., 0]
