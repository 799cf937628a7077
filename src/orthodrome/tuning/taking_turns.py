"""How much the draws of kernels that take turns are worth, from what one application of each does to some functionals.

Let f be functionals with the covariance C, and for the kernel of a length l let

    J_l = E[(f(next) - f(now)) (f(next) - f(now))'] / 2 = C - cov(f(now), f(next)),

which is symmetric as every kernel is reversible. With C = R R' the kernel of the whitened functionals R^-1 f is

    P_l = I - R^-1 J_l R^-T.

If the kernels keep the span of f, then for kernels that take turns, P_1 ... P_m and again from the front, a functional
c'f has the covariance c'P_t ... P_(t+k-1) c over k draws from turn t, and the variance of its average over n draws is

    [c'c + (2 / m) sum over t of c'w_t] / n,    w_t = P_t (c + w_(t+1)),  w_(m+1) = w_1.

Turns are worth more than a lottery between the same kernels: what one length leaves correlated the next one mixes.
"""

from __future__ import annotations

import numpy as np

FLOOR = 1e-3
"""Added to correlation matrices: what is left of x^2 beside a linear function of x may be no more than noise."""
TINY = 1e-150
"""A variance that is none."""
SLOWEST = 1 - 1e-6
"""The largest eigenvalue of a kernel: what has not moved at all is very slow, not undefined."""
MOST_ANTITHETIC = -0.95
"""The smallest: beyond, it is noise."""


def root(covariance: np.ndarray) -> np.ndarray:
    """R, symmetric but for units so that it is nearly the same for covariances that are; by (..., ., .).

    A functional that is a constant stays one.
    """
    units = np.sqrt(np.maximum(np.einsum("...ii->...i", covariance), TINY))[..., :, None]
    values, vectors = np.linalg.eigh(covariance / (units * units.mT))
    return units * ((vectors * np.sqrt(np.maximum(values, 0) + FLOOR)[..., None, :]) @ vectors.mT)


def kernels(jumps: np.ndarray, covariance: np.ndarray) -> np.ndarray:
    """P for every J with its C; both are measured, so P is brought back to what a kernel can be."""
    r = root(covariance)
    half = np.linalg.solve(r, jumps)
    p = np.eye(r.shape[-1]) - np.linalg.solve(r, half.mT)
    values, vectors = np.linalg.eigh((p + p.mT) / 2)
    return (vectors * np.clip(values, MOST_ANTITHETIC, SLOWEST)[..., None, :]) @ vectors.mT


def inefficiency(p: np.ndarray, turns: np.ndarray, c: np.ndarray) -> np.ndarray:
    """The draws that are worth one independent one, by (candidate, coordinate, functional).

    p: by (kernel, coordinate, ., .); turns: numbers of kernels by (candidate, turn); c: by (coordinate, ., functional)
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
