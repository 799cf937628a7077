"""Hoff's rejection step for one coordinate of a Bingham-von Mises-Fisher vector (Hoff 2009; Byrne & Girolami, 5.1).

Let y be a unit vector with the density exp(sum_j l_j y_j^2 + d_j y_j). Write y_i = s sqrt(t), s = +-1, and the rest as
sqrt(1 - t) u with a unit vector u. Given u, with n the dimension and k = (n - 1) / 2,

    p(t) ~ t^(-1/2) (1 - t)^(k - 1) exp(a t + b sqrt(1 - t)) 2 cosh(c sqrt(t)),

    a = l_i - sum_j l_j u_j^2,    b = sum_j d_j u_j,    c = |d_i|,     P(s = +1 | t) = 1 / (1 + exp(-2 d_i sqrt(t))).

The envelope is Beta(1/2, g), g = k for a <= 0 and max(1 / (1 + log(2 + a)), k - a) above. Its constant bounds two
factors one by one, the second by convexity of log cosh and Cauchy's inequality:

    a t + (k - g) log(1 - t)  <=  a - (k - g) + (k - g) log((k - g) / a)   (a > 0; 0 otherwise),
    b sqrt(1 - t) + log 2 cosh(c sqrt(t))  <=  log 2 cosh(c)   (b <= 0),   sqrt(b^2 + log^2 cosh(c)) + log 2   (b > 0).

The two maxima are at different t. Where c is large and a very negative, the bound is exp(c) and the density nowhere
above exp(c^2 / 4|a|): no proposal is accepted any more. That is the collapse of the acceptance rate that Byrne &
Girolami describe.
"""

from __future__ import annotations

import functools
import math
from typing import Any

import numba
import numpy as np

from orthodrome.core.types import Reals


@numba.njit(cache=True)
def log_two_cosh(c: float) -> float:
    """Return log(2 cosh c) without overflow."""
    return abs(c) + math.log1p(math.exp(-2 * abs(c)))


@numba.njit(cache=True)
def envelope(k: float, a: float, b: float, c: float) -> tuple[float, float]:
    """Return the envelope's parameter g, and the log of the bound on the ratio of density to envelope."""
    g, bound = k, 0.0
    if a > 0:
        g = max(1 / (1 + math.log(2 + a)), k - a)
        bound = a - (k - g) + ((k - g) * math.log((k - g) / a) if k > g else 0.0)
    if b <= 0:
        return g, bound + log_two_cosh(c)
    flat = log_two_cosh(c) - math.log(2.0)
    return g, bound + math.sqrt(b * b + flat * flat) + math.log(2.0)


@numba.njit(cache=True)
def propose(rng: Any, k: float, a: float, b: float, c: float, most: int) -> tuple[float, int]:
    """Draw t by rejection; return it and the number of proposals. t = -1 if none of `most` was accepted."""
    g, bound = envelope(k, a, b, c)
    for tried in range(1, most + 1):
        t = rng.beta(0.5, g)
        if t >= 1:
            continue
        height = a * t + (k - g) * math.log1p(-t) + b * math.sqrt(1 - t) + log_two_cosh(c * math.sqrt(t))
        if math.log(1 - rng.random()) < height - bound:
            return t, tried
    return -1.0, most


@numba.njit(cache=True)
def sweep(rng: Any, order: Any, y: Reals, values: Reals, linear: Reals, most: int) -> tuple[int, int]:
    """Update the coordinates of y in place, in this order; return the numbers of proposals and of unmoved coordinates.

    To give up after `most` proposals keeps the law: whether that happens depends on u alone, which does not move.
    """
    proposals, stayed, n = 0, 0, y.size
    for i in order:
        rest = max(1 - y[i] * y[i], 1e-300)
        if n == 1:
            y[0] = 1.0 if rng.random() < 1 / (1 + math.exp(-2 * linear[0])) else -1.0
            return 1, 0
        a = values[i] - (np.sum(values * y * y) - values[i] * y[i] * y[i]) / rest
        b = (np.sum(linear * y) - linear[i] * y[i]) / math.sqrt(rest)
        t, tried = propose(rng, (n - 1) / 2, a, b, abs(linear[i]), most)
        proposals += tried
        if t < 0:
            stayed += 1
            continue
        y *= math.sqrt((1 - t) / rest)
        up = rng.random() < 1 / (1 + math.exp(-2 * linear[i] * math.sqrt(t)))
        y[i] = math.sqrt(t) if up else -math.sqrt(t)
        y /= math.sqrt(np.sum(y * y))
    return proposals, stayed


@functools.cache
def _nodes() -> tuple[Reals, Reals]:
    return np.polynomial.legendre.leggauss(600)


def log_acceptance(k: float, a: float, b: float, c: float) -> float:
    """Return the log probability that a proposal is accepted, by quadrature in the angle whose sine is sqrt(t)."""
    from scipy.special import betaln, logsumexp

    node, weight = _nodes()
    angle = (node + 1) * math.pi / 4
    sine, cosine = np.sin(angle), np.cos(angle)
    logs = a * sine**2 + b * cosine + c * sine + np.log1p(np.exp(-2 * c * sine)) + (2 * k - 1) * np.log(cosine)
    g, bound = envelope(k, a, b, c)
    return float(logsumexp(logs, b=2 * weight * math.pi / 4) - betaln(0.5, g) - bound)
