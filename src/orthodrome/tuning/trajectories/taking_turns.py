"""The efficiency of kernels that take turns, from what one application of each does to some functionals.

Let f be functionals with the covariance C, and for the kernel of a length l let

    J_l = E[(f(next) - f(now)) (f(next) - f(now))'] / 2 = C - cov(f(now), f(next)),

which is symmetric as every kernel is reversible. With C = R R' the kernel of the whitened functionals R^-1 f is

    P_l = I - R^-1 J_l R^-T.

If the kernels keep the span of f, then for kernels that take turns, P_1 ... P_m and again from the front, a functional
c'f has the covariance c'P_t ... P_(t+k-1) c over k draws from turn t, and the variance of its average over n draws is

    [c'c + (2 / m) sum over t of c'w_t] / n,    w_t = P_t (c + w_(t+1)),  w_(m+1) = w_1.

Taking turns is more efficient than choosing the same kernels at random: what one length leaves correlated the next one
mixes.
"""

from __future__ import annotations

import numpy as np

FLOOR = 1e-3
"""Added to the eigenvalues of correlation matrices: what a linear function of x leaves of x^2 may be no more than
noise."""
TINY = 1e-150
"""The variance below which a functional counts as constant."""
SLOWEST = 1 - 1e-6
"""The largest eigenvalue that a kernel may have: a functional that has not moved at all is very slow, not undefined."""
MOST_ANTITHETIC = -0.95
"""The smallest eigenvalue that a kernel may have: estimates below it are noise."""


def root(covariance: np.ndarray) -> np.ndarray:
    """Return R with R R' = C, symmetric apart from units, so that covariances that are close have roots that are; by
    (..., ., .).

    A functional that is a constant stays one.
    """
    units = np.sqrt(np.maximum(np.einsum("...ii->...i", covariance), TINY))[..., :, None]
    values, vectors = np.linalg.eigh(covariance / (units * units.mT))
    return units * ((vectors * np.sqrt(np.maximum(values, 0) + FLOOR)[..., None, :]) @ vectors.mT)


def kernels(jumps: np.ndarray, covariance: np.ndarray) -> np.ndarray:
    """Return P for every J and its C; both are measured, so the eigenvalues of P are clipped to those of a kernel."""
    r = root(covariance)
    half = np.linalg.solve(r, jumps)
    p = np.eye(r.shape[-1]) - np.linalg.solve(r, half.mT)
    values, vectors = np.linalg.eigh((p + p.mT) / 2)
    return (vectors * np.clip(values, MOST_ANTITHETIC, SLOWEST)[..., None, :]) @ vectors.mT


def inefficiency(p: np.ndarray, turns: np.ndarray, c: np.ndarray) -> np.ndarray:
    """Return how many draws are worth one independent draw, by (candidate, coordinate, functional).

    p: by (kernel, coordinate, ., .)
    turns: numbers of kernels, by (candidate, turn)
    c: by (coordinate, ., functional)
    """
    cycle = np.broadcast_to(np.eye(p.shape[-1]), (len(turns), *p.shape[1:]))
    w = np.zeros((len(turns), *c.shape))
    for turn in reversed(turns.T):
        cycle, w = p[turn] @ cycle, p[turn] @ (c + w)
    w = np.linalg.solve(np.eye(p.shape[-1]) - cycle, w)
    total = np.zeros((len(turns), c.shape[0], c.shape[2]))
    for turn in reversed(turns.T):
        w = p[turn] @ (c + w)
        total += np.sum(c * w, axis=-2)
    return 1 + 2 * total / turns.shape[1] / np.sum(c**2, axis=-2)
