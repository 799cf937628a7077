"""The Dirichlet of every document in mean-field inference, by gradient ascent in log at (erratum 3.7).

    S = [s0 + (1 - a^2) sum at^2 + a^2 at'G at] / (s0 (s0 + 1)),     rho = a at.b / (s0 sqrt S),     s0 = sum at,
    bound = kappa1 rho + E log Dirichlet(theta | alpha) - E log q(theta).

A step that lowers the bound is taken back and the rate halved, one that raises it makes the rate half as large again.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit, prange

OPTIONS = {"cache": True, "error_model": "numpy", "nogil": True}


@njit(**OPTIONS)
def digamma(x: float) -> float:
    """Return psi(x), x > 0, by the recurrence to 6 and then the asymptotic series."""
    shift = 0.0
    while x < 6:
        shift -= 1 / x
        x += 1
    s = 1 / (x * x)
    series = s * (1 / 12 - s * (1 / 120 - s * (1 / 252 - s * (1 / 240 - s * (1 / 132)))))
    return shift + math.log(x) - 0.5 / x - series


@njit(**OPTIONS)
def trigamma(x: float) -> float:
    """Return psi'(x), x > 0."""
    shift = 0.0
    while x < 6:
        shift += 1 / (x * x)
        x += 1
    s = 1 / (x * x)
    return shift + 1 / x + 0.5 * s + s / x * (1 / 6 - s * (1 / 30 - s * (1 / 42 - s * (1 / 30 - s * (5 / 66)))))


@njit(**OPTIONS)
def _numbers(at, gram, b, a):  # type: ignore[no-untyped-def]
    """Return s0, at.b, S and G at."""
    size = at.shape[0]
    y = np.zeros(size)
    s0, along, square, quadratic = 0.0, 0.0, 0.0, 0.0
    for k in range(size):
        for j in range(size):
            y[k] += gram[k, j] * at[j]
        s0 += at[k]
        along += at[k] * b[k]
        square += at[k] * at[k]
        quadratic += at[k] * y[k]
    return s0, along, (s0 + (1 - a * a) * square + a * a * quadratic) / (s0 * (s0 + 1)), y


@njit(**OPTIONS)
def document_bound(at, gram, b, a, kappa, alpha):  # type: ignore[no-untyped-def]
    """Return the document's part of the bound."""
    s0, along, square, _ = _numbers(at, gram, b, a)
    size = at.shape[0]
    value = kappa * a * along / (s0 * math.sqrt(square))
    value += math.lgamma(size * alpha) - size * math.lgamma(alpha) - math.lgamma(s0)
    base = digamma(s0)
    for k in range(size):
        value += math.lgamma(at[k]) + (alpha - at[k]) * (digamma(at[k]) - base)
    return value


@njit(**OPTIONS)
def document_slope(at, gram, b, a, kappa, alpha):  # type: ignore[no-untyped-def]
    """Compute the gradient of the document's part of the bound in at."""
    s0, along, square, y = _numbers(at, gram, b, a)
    size = at.shape[0]
    found = np.empty(size)
    root = math.sqrt(square)
    pull = trigamma(s0) * (s0 - size * alpha)
    for k in range(size):
        slope = (1 + 2 * (1 - a * a) * at[k] + 2 * a * a * y[k] - (2 * s0 + 1) * square) / (s0 * (s0 + 1))
        rho = a / s0 * ((b[k] - along / s0) / root - along * slope / (2 * square * root))
        found[k] = kappa * rho + pull - trigamma(at[k]) * (at[k] - alpha)
    return found


@njit(parallel=True, **OPTIONS)
def ascend_documents(start, gram, b, a, kappa, alpha, num_steps):  # type: ignore[no-untyped-def]
    """Return at of every document after `num_steps` trial steps, and the bounds."""
    found, bounds = start.copy(), np.empty(start.shape[0])
    for d in prange(start.shape[0]):
        at = found[d].copy()
        value, rate = document_bound(at, gram, b[d], a, kappa, alpha), 1e-3
        for _ in range(num_steps):
            slope = document_slope(at, gram, b[d], a, kappa, alpha) * at
            size = np.max(np.abs(slope))
            trial = at * np.exp(np.maximum(np.minimum(rate * slope, 0.5), -0.5))
            new = document_bound(trial, gram, b[d], a, kappa, alpha)
            if new > value:
                at, value, rate = trial, new, 1.5 * rate
            else:
                rate *= 0.5
            if rate * size < 1e-7:
                break
        found[d], bounds[d] = at, value
    return found, bounds


@njit(parallel=True, **OPTIONS)
def document_statistics(at, gram, b, a):  # type: ignore[no-untyped-def]
    """Return rho (D,), W (D, K) and the factors of at at' in M (D,), such that the gradient is kappa (v'W - mu M)."""
    rho, weights, factors = np.empty(at.shape[0]), np.empty_like(at), np.empty(at.shape[0])
    for d in prange(at.shape[0]):
        s0, along, square, _ = _numbers(at[d], gram, b[d], a)
        root = math.sqrt(square)
        rho[d] = a * along / (s0 * root)
        factors[d] = a * along * a * a / (s0 * s0 * (s0 + 1) * square * root)
        for k in range(at.shape[1]):
            weights[d, k] = a * at[d, k] / (s0 * root)
    return rho, weights, factors
