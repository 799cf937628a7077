"""The law of Fig. 4 by quadrature: pi_H(x) ~ exp(c1 x1 + x'Ax) on the sphere in R^5, A = diag(-20, -10, 0, 10, 20).

Write x = (x1, sqrt(t) u, x5) with u on the sphere in R^3 and t = 1 - x1^2 - x5^2. The pair (x1, x5) has the density

    exp(c1 x1 - 20 x1^2 + 20 x5^2) sqrt(t) G(t),   G(t) = mean over u of exp{t (10 u4^2 - 10 u2^2)},

on the unit disc, and with u4 = w and s = 1 - w^2 the mean over the angle of (u2, u3) is a Bessel function,

    G(t) = int_0^1 exp(10 t w^2 - 5 t s) I0(5 t s) dw.

So the moments are two-dimensional integrals of smooth functions: what is compared against has no Monte Carlo error.
"""

from __future__ import annotations

import numpy as np
from scipy.special import ive

from orthodrome.core.types import Reals

DIAGONAL = np.array([-20.0, -10.0, 0.0, 10.0, 20.0])
"""The diagonal of A."""


def log_marginal(c1: float, x1: Reals, x5: Reals) -> Reals:
    """Return the log density of (x1, x5) on the disc, not normalised; minus infinity outside."""
    t = 1 - x1**2 - x5**2
    inside = t > 0
    t = np.where(inside, t, 1.0)
    value = c1 * x1 - 20 * x1**2 + 20 * x5**2 + np.log(t) / 2 + np.log(_middle(t)[0])
    return np.where(inside, value, -np.inf)


def moments(c1: float, order: int = 60) -> dict[str, float]:
    """Return E x1 and E x_i^2, i = 1..5, by quadrature, exact to many digits."""
    node, weight = np.polynomial.legendre.leggauss(order)
    polar = (node + 1) * np.pi / 4  # r = sin(polar) takes the square root off the rim
    angle = np.arange(2 * order) * np.pi / order
    b, a = np.meshgrid(polar, angle, indexing="ij")
    x1, x5, t = np.sin(b) * np.cos(a), np.sin(b) * np.sin(a), np.cos(b) ** 2
    log_weight = log_marginal(c1, x1, x5) + np.log(np.sin(b) * np.cos(b)) + np.log(weight)[:, None]
    probability = np.exp(log_weight - log_weight.max())
    probability /= probability.sum()
    total, second, fourth = _middle(t)
    x2, x4 = t * second / total, t * fourth / total
    squares = (x1**2, x2, t - x2 - x4, x4, x5**2)
    columns = {"x1": x1} | {f"x{i}^2": square for i, square in enumerate(squares, start=1)}
    return {name: round(float(np.sum(probability * column)), 12) for name, column in columns.items()}


def _middle(t: Reals, order: int = 60) -> tuple[Reals, Reals, Reals]:
    """Return G(t), and the same mean with u2^2 and with u4^2 as a factor."""
    node, weight = np.polynomial.legendre.leggauss(order)
    w, weight = (node + 1) / 2, weight / 2
    t = t[..., None]
    bessel = 5 * t * (1 - w**2)
    factor = weight * np.exp(10 * t * w**2)
    zero, one = factor * ive(0, bessel), factor * ive(1, bessel)
    return zero.sum(-1), ((1 - w**2) * (zero - one) / 2).sum(-1), (w**2 * zero).sum(-1)
