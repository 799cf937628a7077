"""SGLD and SGHMC for Gaussian components: steps in units of what the rows tell about mean and precision.

Given the statistics (`components.gaussian` for the symbols), the mean m has the law N(m_n, (k_n L)^-1), L = R R'. The
lower triangular R moves in its group, R' = R exp(E), E lower triangular. Flows R exp(t E) keep the right Haar measure,
so the density to follow is that with respect to it; with n' = nu + n + 1, Psi' = Psi_n + k_n (m - m_n)(m - m_n)',

    log p = sum_i (n' + d - 2 i + 1) log R_ii - tr(Psi' R R') / 2 + const,     i = 1, ..., d,
    d log p / d E_ij = (n' + d - 2 i + 1) [i = j] - (R' Psi' R)_ij.

Its curvature is n' below the diagonal and 2 n' on it, wherever R is, and that of m is k_n L wherever m is: constants of
the block that moves, so that dividing by them leaves the law unchanged. With y in these units and g the gradient in y,

    SGLD     y' = y + (h / 2) g + sqrt(h) N
    SGHMC    r' = (1 - h) r + h g + sqrt(2 h) N,   y' = y + h r'              (friction and mass 1).
"""

from __future__ import annotations

import abc

import numpy as np

from orthodrome.core.pytree import pytree
from orthodrome.core.types import Reals
from orthodrome.models.mixture.components.gaussian import GaussianComponents
from orthodrome.models.mixture.updates.simplex import ScirSticks


class GroupUpdate(ScirSticks):
    """What both methods share: gradients in units, and the motion of m and R."""

    @abc.abstractmethod
    def shift(self, gradient: Reals, noise: Reals, r: Reals, h: float) -> Reals:
        """Return y' - y; momenta r change in place."""

    def advance(
        self,
        seed: int,
        components: GaussianComponents,
        parameters: Reals,
        auxiliary: Reals,
        statistics: Reals,
        step: float,
    ) -> tuple[Reals, Reals]:
        """Move the means given the precisions, and then the precisions given the means."""
        d, rng = components.width, np.random.Generator(np.random.Philox(seed))
        r = auxiliary.copy() if auxiliary.shape[1] else np.zeros((parameters.shape[0], d + d * d))
        means, roots = components.parted(parameters)
        k, degrees, centre, scatter = components.posterior(statistics)
        whole = np.sqrt(k)[:, None, None] * np.swapaxes(roots, 1, 2)  # sqrt(k) R': from m to its units
        g = (whole @ (centre - means)[:, :, None])[:, :, 0]
        y = self.shift(g, rng.standard_normal(g.shape), r[:, :d], step)
        means = means + np.linalg.solve(whole, y[:, :, None])[:, :, 0]
        gap = means - centre
        scatter = scatter + k[:, None, None] * gap[:, :, None] * gap[:, None, :]
        moved = self._turned(rng, roots, scatter, degrees + 1, r[:, d:], step)
        return components.joined(means, moved), r[:, : auxiliary.shape[1]]

    def _turned(
        self, rng: np.random.Generator, roots: Reals, scatter: Reals, degrees: Reals, r: Reals, h: float
    ) -> Reals:
        """Return R exp(E)."""
        count, d = roots.shape[:2]
        lower = np.tril(np.ones((d, d)))
        gradient = -np.swapaxes(roots, 1, 2) @ scatter @ roots * lower
        steps = np.arange(d)
        gradient[:, steps, steps] += degrees[:, None] + d - 2 * steps - 1
        unit = np.sqrt(degrees)[:, None, None] * (1 + (np.sqrt(2) - 1) * np.eye(d))
        noise = rng.standard_normal((count, d, d)) * lower
        e = self.shift(gradient / unit, noise, r.reshape(count, d, d), h) / unit
        power, total = np.eye(d) + 0 * e, np.eye(d) + 0 * e
        for n in range(1, 5):  # exp(E), with a diagonal that is positive for any E
            power = power @ e / n
            total = total + power
        return np.tril(roots @ total)


@pytree
class GaussianSGLD(GroupUpdate):
    """Langevin dynamics."""

    def num_auxiliary(self, components: GaussianComponents) -> int:
        """No momenta."""
        return 0

    def fresh(self, seed: int, components: GaussianComponents, parameters: Reals, statistics: Reals) -> Reals:
        """Return nothing."""
        return np.zeros((parameters.shape[0], 0))

    def shift(self, gradient: Reals, noise: Reals, r: Reals, h: float) -> Reals:
        """Return (h / 2) g + sqrt(h) N."""
        return h / 2 * gradient + np.sqrt(h) * noise


@pytree
class GaussianSGHMC(GroupUpdate):
    """Hamiltonian dynamics with friction; its auxiliary numbers are momenta."""

    def num_auxiliary(self, components: GaussianComponents) -> int:
        """One for each parameter."""
        return components.num_parameters

    def fresh(self, seed: int, components: GaussianComponents, parameters: Reals, statistics: Reals) -> Reals:
        """Draw normal momenta, zero above the diagonal."""
        d, rng = components.width, np.random.default_rng(seed)
        lower = np.concatenate([np.ones(d), np.tril(np.ones((d, d))).reshape(-1)])
        return rng.standard_normal(parameters.shape) * lower

    def shift(self, gradient: Reals, noise: Reals, r: Reals, h: float) -> Reals:
        """Return h r with the new momentum."""
        r[...] = (1 - h) * r + h * gradient + np.sqrt(2 * h) * noise
        return h * r
