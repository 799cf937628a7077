"""The laws that discretised dynamics have on a standard normal: exact, by the discrete Lyapunov equation."""

from __future__ import annotations

import numpy as np
from scipy.linalg import solve_discrete_lyapunov
from scipy.optimize import brentq


def semi_implicit(h: float, c: float, noise: float | None = None) -> tuple[float, float]:
    """E x^2 and E r^2 of r <- (1 - hc) r - h x + N(0, noise), x <- x + h r; the noise is 2hc unless said."""
    step, push = np.array([[1 - h * h, h - h * h * c], [-h, 1 - h * c]]), np.array([h, 1])
    found = solve_discrete_lyapunov(step, (2 * h * c if noise is None else noise) * np.outer(push, push))
    return found[0, 0], found[1, 1]


def thermostat(h: float, a: float, v: float = 0.0) -> float:
    """E x^2 of SGNHT in many dimensions: xi settles where E r^2 = 1, which costs x some h xi / 2 of its variance."""
    noise = 2 * h * a + h * h * v
    xi = brentq(lambda c: semi_implicit(h, c, noise)[1] - 1, 0.2 * a, 5 * a)
    return semi_implicit(h, xi, noise)[0]
