"""Where the chains of a matrix completion start: among the matrices that fit about as well as they should.

The leading singular vectors of the matrix with zeros for unknown entries, times (number of entries) / (observed), are a
first guess; a few sweeps of ridge regressions of the rows on the columns and back improve it. But least squares fit too
well: with as many coefficients as a third of the entries their residuals are a fifth smaller than the noise, and a
chain that starts there is long on its way. So every chain goes on with sweeps in which the rows are drawn, and then
the columns and the noise, each from its law given the rest with normal factors,

    row i ~ N(ridge regression, sigma^2 (F'F + ridge)^-1),      sigma^2 = (sum of squared residuals) / chi^2_n,

entries of columns with a noise of their own, sigma t_j, with the weight 1 / t_j^2. The product is brought to its
singular value decomposition.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse
from scipy.sparse.linalg import svds

from orthodrome.core.types import Reals
from orthodrome.models.completion.entries import Entries

Factors = tuple[Reals, Reals, Reals]
"""Left singular vectors, singular values and right singular vectors."""
SWEEPS, RIDGE, DRAWN = 10, 1.0, 20
"""Of the least squares; and the sweeps in which factors are drawn, of which their residuals need a few."""
LEAST = 0.05
"""The smallest noise of a start, in units of the standard deviation of the entries."""


def starts(
    entries: Entries,
    rank: int,
    scale: tuple[float, float, float],
    chains: int,
    seed: int,
    dtype: str,
    own: Reals | None = None,
) -> list[dict[str, Any]]:
    """Return one start for each chain, in the units of `law.posterior` (scale: those of `law.units`).

    own: the noise of each column in units of the common one; None: they are all alike
    """
    centre, spread, unit = scale
    y = (entries.values - centre) / spread
    fitted = least_squares(entries, y, rank)
    found = []
    for chain in range(chains):
        (left, values, right), noise = drawn_factors(entries, y, fitted, np.random.default_rng([seed, chain]), own)
        one = {
            "left": left,
            "right": right,
            "singular_values": np.maximum(values * spread / unit, 1e-3),
            "noise": np.array(noise),
            "mean": np.array(0.0),
        }
        found.append({name: np.asarray(value, dtype) for name, value in one.items()})
    return found


def drawn_factors(
    entries: Entries, y: Reals, fitted: Factors, rng: np.random.Generator, own: Reals | None = None
) -> tuple[Factors, float]:
    """Return a singular value decomposition drawn near a fitted one, and the noise that belongs to it."""
    now = Drawing(fitted[0] * np.sqrt(fitted[1]), fitted[2] * np.sqrt(fitted[1]), 0.0)
    weight = np.ones(entries.shape[1]) if own is None else own**-2.0
    now = now._replace(noise=noise_of(float(np.mean(weight[entries.columns] * off(entries, y, now) ** 2))))
    for _ in range(DRAWN):
        now = swept(entries, y, weight, now, rng)
    return decomposed(now.left, now.right), now.noise


class Drawing(NamedTuple):
    """Factors of the rows and the columns, and the standard deviation of the noise."""

    left: Reals
    right: Reals
    noise: float


def swept(entries: Entries, y: Reals, weight: Reals, now: Drawing, rng: np.random.Generator) -> Drawing:
    """Draw the factor of the rows, that of the columns, and the noise, each from its law given the rest.

    weight: the precision of each column in units of the common one
    """
    seen, observed = observations(entries, y, weight[entries.columns])
    left, right, noise = now
    left = regressed(seen, observed, right, RIDGE, noise * rng.normal(size=left.shape))
    right = regressed(seen.T.tocsr(), observed.T.tocsr(), left, RIDGE, noise * rng.normal(size=right.shape))
    now = Drawing(left, right, noise)
    squares = np.sum(weight[entries.columns] * off(entries, y, now) ** 2)
    return now._replace(noise=noise_of(squares / rng.chisquare(len(y))))


def off(entries: Entries, y: Reals, now: Drawing) -> Reals:
    """Return the residuals."""
    return y - np.sum(now.left[entries.rows] * now.right[entries.columns], axis=1)


def noise_of(variance: float) -> float:
    """Return the standard deviation, at least the smallest of a start."""
    return max(float(np.sqrt(variance)), LEAST)


def least_squares(entries: Entries, y: Reals, rank: int, ridge: float = RIDGE) -> Factors:
    """Return the singular value decomposition (left, values, right) of the ridge regression of rank `rank`."""
    seen, observed = observations(entries, y)
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
    return decomposed(left, right)


def observations(entries: Entries, y: Reals, weight: Reals | None = None) -> tuple[Any, Any]:
    """Return sparse matrices of ones and of y at the observed entries, both times their weights if they have any."""
    places = entries.rows, entries.columns
    weight = np.ones_like(y) if weight is None else weight
    one, two = (scipy.sparse.csr_array((v, places), entries.shape) for v in (weight, weight * y))
    return one, two


def decomposed(left: Reals, right: Reals) -> Factors:
    """Return the singular value decomposition of left right'."""
    (q1, r1), (q2, r2) = np.linalg.qr(left), np.linalg.qr(right)
    u, values, vt = np.linalg.svd(r1 @ r2.T)
    return q1 @ u, values, q2 @ vt.T


def regressed(seen: Any, observed: Any, factor: Reals, ridge: float, noise: Reals | None = None) -> Reals:
    """Return the best factor of one side, given the other, by a ridge regression for each row; or a draw of it.

    noise: normal numbers (rows, rank) with the standard deviation of the entries' noise; None: the best factor
    """
    rank = factor.shape[1]
    products = (factor[:, :, None] * factor[:, None, :]).reshape(len(factor), -1)
    normal = (seen @ products).reshape(-1, rank, rank) + ridge * np.eye(rank)
    best = np.linalg.solve(normal, (observed @ factor)[..., None])[..., 0]
    if noise is None:
        return best
    root = np.linalg.cholesky(normal)
    return best + np.linalg.solve(root.swapaxes(1, 2), noise[..., None])[..., 0]
