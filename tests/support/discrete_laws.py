"""The laws that discretised dynamics have on a standard normal: exact, by the discrete Lyapunov equation.

    langevin           x <- x - h x + N(0, 2 h)
    semi_implicit      r <- (1 - h c) r - h x + N(0, noise), x <- x + h r
    aboba              half a drift, half the damping exp(-h c / 2), a kick -h x with its noise, and the same backwards

A thermostat in many dimensions replaces c by the friction xi at which E r^2 = 1.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import solve_discrete_lyapunov
from scipy.optimize import brentq


def langevin(h: float) -> float:
    """Return E x^2 of the Euler scheme of Langevin dynamics."""
    return 1 / (1 - h / 2)


def semi_implicit(h: float, c: float, noise: float | None = None) -> tuple[float, float]:
    """Return E x^2 and E r^2; the variance of the noise is 2 h c unless given."""
    step, push = np.array([[1 - h * h, h - h * h * c], [-h, 1 - h * c]]), np.array([h, 1])
    found = solve_discrete_lyapunov(step, (2 * h * c if noise is None else noise) * np.outer(push, push))
    return found[0, 0], found[1, 1]


def thermostat(h: float, a: float, v: float = 0.0) -> float:
    """Return E x^2 of SGNHT in many dimensions: xi costs x some h xi / 2 of its variance; v: noise that is not told."""
    noise = 2 * h * a + h * h * v
    xi = brentq(lambda c: semi_implicit(h, c, noise)[1] - 1, 0.2 * a, 5 * a)
    return semi_implicit(h, xi, noise)[0]


def aboba_moments(h: float, damping: float, c: float) -> tuple[float, float]:
    """Return E x^2 and E v^2 at the end of a word with this damping, and the noise of the friction c."""
    drift, damp = np.array([[1, h / 2], [0, 1]]), np.diag([1, np.exp(-damping * h / 2)])
    after = drift @ damp
    step = after @ np.array([[1, 0], [-h, 1]]) @ damp @ drift
    push = after @ np.array([0, 1])
    found = solve_discrete_lyapunov(step, 2 * c * h * np.outer(push, push))
    return found[0, 0], found[1, 1]


def aboba(h: float, c: float) -> float:
    """Return E x^2 of SGGMC."""
    return aboba_moments(h, c, c)[0]


def aboba_thermostat(h: float, c: float) -> float:
    """Return E x^2 of GSGNHT in many dimensions."""
    xi = brentq(lambda damping: aboba_moments(h, damping, c)[1] - 1, 0.2 * c, 5 * c)
    return aboba_moments(h, xi, c)[0]
