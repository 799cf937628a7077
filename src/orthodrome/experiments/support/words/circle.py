"""Words of splittings on the circle, exactly: the stationary law of the position under a word.

A phase point is an angle and a velocity. With log density kappa cos(angle) every letter acts on a density over the two
by a shift (A along the angle, K and O along the velocity: products in Fourier space), a Gaussian convolution (O, U) or
a stretch of the velocity (B, U: band-limited interpolation). On a grid that is fine enough this is exact to ten digits,
and a word is applied until its density no longer changes.

The circle is the one-dimensional sphere, x = (cos, sin), and A is its geodesic flow; so the mean of the position x_0 =
cos(angle) under the stationary law has a bias that is known without any Monte Carlo error.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.special import i0e, i1e
from threadpoolctl import threadpool_limits

ANGLES, SPEEDS, FASTEST = 48, 112, 8.0

Density = NDArray[np.float64]
Letter = Callable[[Density], Density]


def exact_mean(kappa: float) -> float:
    """Return E cos(angle) of the von Mises law."""
    return float(i1e(kappa) / i0e(kappa))


def kept_mean(order: str, h: float, friction: float = 1.0, kappa: float = 3.0) -> float:
    """Return E cos(angle) of the stationary law of a word."""
    grid = Grid(kappa)
    letters = [grid.letter(name, h / order.count(name), friction) for name in order]
    p = np.exp(kappa * np.cos(grid.angle)[:, None] - grid.speed[None] ** 2 / 2)
    p /= p.sum()
    with threadpool_limits(1):  # small products: threads would only wait for each other
        p = _settled(letters, p, round(60 / h), 1e-11 * h)
    return float(p.sum(axis=1) @ np.cos(grid.angle) / p.sum())


def _settled(letters: list[Letter], p: Density, most: int, small: float) -> Density:
    """Return the density after repeating the word until it no longer changes."""
    for _ in range(most):
        old = p
        for letter in letters:
            p = letter(p)
        if np.abs(p - old).sum() < small:
            break
    return p


class Grid:
    """A grid of angles and velocities, and the action of the letters on densities over it."""

    def __init__(self, kappa: float) -> None:
        self.angle = 2 * np.pi * np.arange(ANGLES) / ANGLES
        self.speed = np.linspace(-FASTEST, FASTEST, SPEEDS, endpoint=False)
        self.width = 2 * FASTEST / SPEEDS
        self.force = -kappa * np.sin(self.angle)

    def letter(self, name: str, t: float, c: float) -> Letter:
        """Return the action of a letter for the time t, with the friction c."""
        if name == "A":
            waves = np.fft.rfftfreq(ANGLES, 1 / ANGLES)
            factor = np.exp(-1j * waves[:, None] * t * self.speed[None])
            return lambda p: np.fft.irfft(np.fft.rfft(p, axis=0) * factor, ANGLES, axis=0)
        if name in "KO":
            return self._push(t * self.force, 2 * c * t if name == "O" else 0.0)
        stretch = self._stretch(np.exp(-c * t))
        noise = self._push(np.zeros(ANGLES), 1 - np.exp(-2 * c * t))
        return (lambda p: noise(stretch(p))) if name == "U" else stretch

    def _push(self, shift: Density, variance: float) -> Letter:
        """Return the action that adds a shift, which depends on the angle, and N(0, variance) to the velocity."""
        waves = 2 * np.pi * np.fft.rfftfreq(SPEEDS, self.width)
        factor = np.exp(-1j * waves[None] * shift[:, None] - variance * waves[None] ** 2 / 2)
        return lambda p: np.fft.irfft(np.fft.rfft(p, axis=1) * factor, SPEEDS, axis=1)

    def _stretch(self, by: float) -> Letter:
        """Return the action that multiplies the velocity by `by`."""
        apart = (self.speed[:, None] / by - self.speed[None]) / self.width
        inside = np.abs(self.speed[:, None] / by) <= FASTEST
        matrix = (np.sinc(apart) * inside / by).T
        return lambda p: p @ matrix
