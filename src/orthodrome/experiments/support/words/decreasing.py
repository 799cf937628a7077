"""Words with decreasing steps on a Gaussian, exactly: averages of x^2 that are weighted by the step.

With steps h_t = first (1 + t / scale)^(-power) a word is (x, v) -> M_t (x, v) + N(0, Q_t). The average of L steps is

    sum_t h_t x_t^2 / sum_t h_t,

whose mean follows from P_t = E z z', P_{t+1} = M P M' + Q. In equilibrium at the start, Cov(x_s^2, x_t^2) = 2 c^2 with
c = E x_s x_t, so that with W_t = sum_{s <= t} h_s 2 (E x_s z_t) (E x_s z_t)', W_{t+1} = M W M' + 2 h (P e_1) (P e_1)',

    Var(sum_t h_t x_t^2) = sum_t h_t [2 W_t - 2 h_t (P_t e_1) (P_t e_1)']_11.
"""

from __future__ import annotations

import numba
import numpy as np
from numpy.typing import NDArray

from orthodrome.core.types import Reals

LETTERS = "ABOKU"


def weighted_averages(
    order: str, power: float, scale: float, lengths: NDArray[np.int_], start: tuple[float, float]
) -> tuple[Reals, Reals]:
    """Return mean and variance of the weighted average of x^2 at every length.

    power, scale: by which the step falls, from 0.8 on
    start: E x^2 and E v^2 of the first state; the variance is that of a normal start of mean 0
    """
    codes = np.array([LETTERS.index(name) for name in order])
    shares = np.array([1 / order.count(name) for name in order])
    return _averages(codes, shares, power, scale, np.sort(lengths), np.array(start, float), 0.8)


@numba.njit(cache=True)  # type: ignore[misc]
def _averages(codes, shares, power, scale, lengths, start, first):  # type: ignore[no-untyped-def]
    p = np.diag(start)
    w = np.zeros((2, 2))
    means, variances = np.zeros(len(lengths)), np.zeros(len(lengths))
    total = weighted = spread = 0.0
    at = 0
    for t in range(lengths[-1]):
        h = first * (1 + t / scale) ** -power
        for k in range(len(codes)):
            _letter(codes[k], h * shares[k], p, w)
        x, y = p[0, 0], p[0, 1]
        w[0, 0] += 2 * h * x * x
        w[0, 1] += 2 * h * x * y
        w[1, 0] += 2 * h * x * y
        w[1, 1] += 2 * h * y * y
        total += h
        weighted += h * x
        spread += h * (2 * w[0, 0] - 2 * h * x * x)
        while at < len(lengths) and t + 1 == lengths[at]:
            means[at], variances[at] = weighted / total, spread / total**2
            at += 1
    return means, variances


@numba.njit(cache=True)  # type: ignore[misc]
def _letter(code, t, p, w):  # type: ignore[no-untyped-def]
    """Apply one letter, of friction 1 and potential x^2 / 2, to P and (without its noise) to W."""
    for a in (p, w):
        if code == 0:  # A: x <- x + t v
            a[0, 0] += t * (2 * a[0, 1] + t * a[1, 1])
            a[0, 1] += t * a[1, 1]
        elif code == 1 or code == 4:  # B, U: v <- exp(-t) v
            a[0, 1] *= np.exp(-t)
            a[1, 1] *= np.exp(-2 * t)
        else:  # O, K: v <- v - t x
            a[1, 1] += t * (t * a[0, 0] - 2 * a[0, 1])
            a[0, 1] -= t * a[0, 0]
        a[1, 0] = a[0, 1]
    if code == 2:
        p[1, 1] += 2 * t
    elif code == 4:
        p[1, 1] += 1 - np.exp(-2 * t)
