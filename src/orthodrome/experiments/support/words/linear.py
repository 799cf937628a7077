"""Words of splittings on a Gaussian, exactly.

With log density -k x^2 / 2 every letter is linear in (x, v) with Gaussian noise, so a word is (x, v) -> M (x, v) +
N(0, Q), and everything about the chain is known to rounding: its stationary covariance S = M S M' + Q (the discrete
Lyapunov equation), the mean of a running average from any start, and the variance of one in equilibrium.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import solve_discrete_lyapunov

from orthodrome.core.types import Reals


def word(order: str, h: float, friction: float = 1.0, k: float = 1.0) -> tuple[Reals, Reals]:
    """Return M and Q of a word over A, B, O, K and U; each letter gets its share of the step."""
    m, q = np.eye(2), np.zeros((2, 2))
    for name in order:
        a, b = _letter(name, h / order.count(name), friction, k)
        m, q = a @ m, a @ q @ a.T + b
    return m, q


def _letter(name: str, t: float, c: float, k: float) -> tuple[Reals, Reals]:
    m, q = np.eye(2), np.zeros((2, 2))
    if name == "A":
        m[0, 1] = t
    if name in "BU":
        m[1, 1] = np.exp(-c * t)
    if name in "OK":
        m[1, 0] = -k * t
    q[1, 1] = {"O": 2 * c * t, "U": 1 - np.exp(-2 * c * t)}.get(name, 0.0)
    return m, q


def stationary(m: Reals, q: Reals) -> Reals:
    """Return the stationary covariance S."""
    return np.asarray(solve_discrete_lyapunov(m, q))


def mean_of_average(m: Reals, q: Reals, start: Reals, length: int) -> float:
    """Return the expectation of the average of x^2 over `length` steps from a fixed (x, v).

    The deviation of E z z' from S is M^t (z z' - S) M'^t: a linear map of three numbers, its powers in closed form.
    """
    s = stationary(m, q)
    pairs = ((0, 0), (0, 1), (1, 1))
    columns = []
    for i, j in pairs:
        unit = np.zeros((2, 2))
        unit[i, j] = unit[j, i] = 1.0
        moved = m @ unit @ m.T
        columns.append([moved[p] for p in pairs])
    turn = np.array(columns).T
    first = np.array([(np.outer(start, start) - s)[p] for p in pairs])
    total = np.linalg.solve(np.eye(3) - turn, turn @ (first - np.linalg.matrix_power(turn, length) @ first))
    return float(s[0, 0] + total[0] / length)


def variance_of_average(m: Reals, q: Reals, length: int) -> float:
    """Return the variance of the average of x^2 over `length` steps in equilibrium: Cov(x_s^2, x_t^2) = 2 Cov(x_s,
    x_t)^2."""
    s = stationary(m, q)
    values, vectors = np.linalg.eig(m)
    weights = np.linalg.solve(vectors, s[:, 0].astype(complex)) * vectors[0]
    lags = np.arange(min(length, 200_000))
    covariance = np.real((weights[None, :] * values[None, :] ** lags[:, None]).sum(axis=1))
    terms = 2 * covariance**2 * (1 - lags / length)
    return float((2 * terms.sum() - terms[0]) / length)
