"""Orthonormal frames in compiled loops: projection, exact geodesics, and the way back from rounding (`Stiefel`).

    P(X) U = U - X (X'U + U'X) / 2,
    [X(t) V(t)] = [X V] exp(t [[A, -S], [I, A]]) diag(e^{-tA}, e^{-tA}),   A = X'V,  S = V'V.

A frame is an array (p, m), a column in a row. V is measured in units s of its size, which balances the exponent; the
exponentials of 2p x 2p and p x p matrices are Taylor series of degree `TERMS` after halvings of the exponent.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from orthodrome.kernels.generator import OPTIONS
from orthodrome.kernels.streams import FAST

TERMS, SMALL = 12, 0.5
"""The remainder of the series is below SMALL^13 / 13! = 2e-14 of float64's 1."""


@njit(**OPTIONS | {"fastmath": FAST})
def products(a, b):  # type: ignore[no-untyped-def]
    """Return the inner products of the rows of a with the rows of b."""
    found = np.zeros((a.shape[0], b.shape[0]))
    for i in range(a.shape[0]):
        for j in range(b.shape[0]):
            total = 0.0
            for k in range(a.shape[1]):
                total += a[i, k] * b[j, k]
            found[i, j] = total
    return found


@njit(**OPTIONS)
def _times(a, b):  # type: ignore[no-untyped-def]
    """Return the product of two small matrices."""
    found = np.zeros((a.shape[0], b.shape[1]))
    for i in range(a.shape[0]):
        for k in range(a.shape[1]):
            for j in range(b.shape[1]):
                found[i, j] += a[i, k] * b[k, j]
    return found


@njit(**OPTIONS)
def exponential(a):  # type: ignore[no-untyped-def]
    """Return exp(A) of a small matrix: (exp(A / 2^k))^(2^k), the inner one by Horner's rule."""
    size, norm, halvings = a.shape[0], 0.0, 0
    for i in range(size):
        norm = max(norm, np.sum(np.abs(a[i])))
    while norm > SMALL and halvings < 60:
        norm, halvings = norm / 2, halvings + 1
    a = a * 0.5**halvings
    found = np.eye(size)
    for n in range(TERMS, 0, -1):
        found = _times(a, found) / n
        for i in range(size):
            found[i, i] += 1.0
    for _ in range(halvings):
        found = _times(found, found)
    return found


@njit(**OPTIONS)
def project(frame, u):  # type: ignore[no-untyped-def]
    """Make u tangent to the frames, in place."""
    cross = products(frame, u)
    for b in range(u.shape[0]):
        for a in range(u.shape[0]):
            lean = (cross[a, b] + cross[b, a]) / 2
            for i in range(u.shape[1]):
                u[b, i] -= lean * frame[a, i]


@njit(**OPTIONS)
def move(frame, v, t):  # type: ignore[no-untyped-def]
    """Follow the geodesic for a time, in place."""
    p = frame.shape[0]
    turn, squares = products(frame, v), products(v, v)
    size = math.sqrt(np.trace(squares))
    if size == 0.0:
        return
    generator = np.zeros((2 * p, 2 * p))
    for a in range(p):
        generator[p + a, a] = t * size
        for b in range(p):
            generator[a, b] = generator[p + a, p + b] = t * turn[a, b]
            generator[a, p + b] = -t * squares[a, b] / size
    flow, back = exponential(generator), exponential(-t * turn)
    mixing = np.concatenate((_times(flow[:, :p].copy(), back), _times(flow[:, p:].copy(), back)), axis=1)
    pair = np.empty(2 * p)
    for i in range(frame.shape[1]):
        for a in range(p):
            pair[a], pair[p + a] = frame[a, i], v[a, i] / size
        for b in range(p):
            x = y = 0.0
            for a in range(2 * p):
                x += pair[a] * mixing[a, b]
                y += pair[a] * mixing[a, p + b]
            frame[b, i], v[b, i] = x, y * size


@njit(**OPTIONS)
def straighten(frame):  # type: ignore[no-untyped-def]
    """Take the rounding out of a frame that is almost orthonormal, by one Newton-Schulz step to its polar factor."""
    p, gram = frame.shape[0], products(frame, frame)
    back = 1.5 * np.eye(p) - 0.5 * gram
    frame[:] = _times(back, frame)
