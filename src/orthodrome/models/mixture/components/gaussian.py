"""Gaussian components with a normal-inverse-Wishart base measure.

    x | m, L ~ N(m, L^-1),    L ~ Wishart(nu, Psi^-1),    m | L ~ N(m_0, (k L)^-1),

k, nu, Psi and m_0 being those of the base measure. Given n rows with mean y and scatter C = sum (x - y)(x - y)',

    k_n = k + n,  nu_n = nu + n,  m_n = (k m_0 + n y) / k_n,
    Psi_n = Psi + C + (k n / k_n) (y - m_0)(y - m_0)',
    log m(S) = - (n d / 2) log pi + log Gamma_d(nu_n / 2) - log Gamma_d(nu / 2)
               + (nu / 2) log |Psi| - (nu_n / 2) log |Psi_n| + (d / 2) log (k / k_n).

Rows are centred at the base measure's mean, m_0 = 0, which the door sees to; so sums of squares lose no digits.
Parameters are m and the lower triangular R with L = R R'.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import multigammaln

from orthodrome.core.pytree import pytree, static
from orthodrome.core.types import Reals
from orthodrome.models.mixture.compiled.centres import gaussian_centres
from orthodrome.models.mixture.compiled.dense import (
    add_products,
    choose_gaussian,
    gaussian_densities,
    move_products,
)
from orthodrome.models.mixture.components.contract import Components, Labels, Names


@pytree
class DenseRows:
    """Rows of real numbers."""

    x: NDArray[np.float64]

    @property
    def count(self) -> int:
        """The number of rows."""
        return self.x.shape[0]

    def take(self, rows: Names) -> DenseRows:
        """Return some of the rows."""
        return DenseRows(self.x[rows])


@pytree
class GaussianComponents(Components):
    """Normal laws with their own means and precision matrices.

    scatter: Psi; mean_precision: k; degrees: nu, above d - 1; offset: what was subtracted from the rows
    """

    scatter: NDArray[np.float64]
    offset: NDArray[np.float64]
    mean_precision: float = static()
    degrees: float = static()

    @property
    def width(self) -> int:
        """The dimension d."""
        return self.scatter.shape[0]

    @property
    def num_parameters(self) -> int:
        """The mean and the root of the precision matrix."""
        return self.width * (self.width + 1)

    @property
    def num_statistics(self) -> int:
        """The number of rows, their sum, and the lower triangle of the sum of x x'."""
        return 1 + self.width + self.width * (self.width + 1) // 2

    def move(self, data: DenseRows, rows: Names, before: Labels, after: Labels, statistics: Reals) -> None:
        """Move rows between sums of x and x x'."""
        move_products(data.x, rows, before, after, statistics)

    def add(self, data: DenseRows, rows: Names, labels: Labels, parts: Reals) -> None:
        """Add up x and x x'."""
        add_products(data.x, rows, labels, parts)

    def posterior(self, statistics: Reals) -> tuple[Reals, Reals, Reals, Reals]:
        """Return k_n, nu_n, m_n and Psi_n for each line of statistics."""
        d, n = self.width, np.maximum(statistics[:, 0], 0.0)
        k, total = self.mean_precision + n, statistics[:, 1 : 1 + d]
        mean = total / k[:, None]
        lower = np.zeros((n.shape[0], d, d))
        lower[:, *np.tril_indices(d)] = statistics[:, 1 + d :]
        squares = lower + np.swapaxes(np.tril(lower, -1), 1, 2)
        return k, self.degrees + n, mean, self.scatter + squares - k[:, None, None] * mean[:, :, None] * mean[:, None]

    def log_marginal(self, statistics: Reals) -> Reals:
        """Return the logarithm of the normalising constants' ratio."""
        d, n = self.width, statistics[:, 0]
        k, degrees, _, scatter = self.posterior(statistics)
        log_det = np.linalg.slogdet(scatter)[1]
        prior = self.degrees / 2 * np.linalg.slogdet(self.scatter)[1] - multigammaln(self.degrees / 2, d)
        found = prior - n * d / 2 * math.log(math.pi) + multigammaln(degrees / 2, d) - degrees / 2 * log_det
        return found + d / 2 * np.log(self.mean_precision / k)

    def draw(self, seed: int, statistics: Reals) -> Reals:
        """Draw the precision by Bartlett's decomposition, then the mean."""
        rng, d, count = np.random.Generator(np.random.Philox(seed)), self.width, statistics.shape[0]
        k, degrees, mean, scatter = self.posterior(statistics)
        factor = np.zeros((count, d, d))
        factor[:, *np.tril_indices(d, -1)] = rng.standard_normal((count, d * (d - 1) // 2))
        shapes = (degrees[:, None] - np.arange(d)) / 2
        factor[:, np.arange(d), np.arange(d)] = np.sqrt(2 * rng.standard_gamma(shapes))
        # Psi_n = C C', and L = C^-T A A' C^-1 with Bartlett's A
        turned = np.linalg.solve(np.swapaxes(np.linalg.cholesky(scatter), 1, 2), factor)
        roots = np.linalg.cholesky(turned @ np.swapaxes(turned, 1, 2))
        noise = np.linalg.solve(np.swapaxes(roots, 1, 2), rng.standard_normal((count, d, 1)))[:, :, 0]
        return self.joined(mean + noise / np.sqrt(k)[:, None], roots)

    def joined(self, means: Reals, roots: Reals) -> Reals:
        """Return lines of parameters."""
        return np.concatenate([means, roots.reshape(means.shape[0], -1)], axis=1)

    def parted(self, parameters: Reals) -> tuple[Reals, Reals]:
        """Return means and roots."""
        d = self.width
        return parameters[..., :d], parameters[..., d:].reshape(*parameters.shape[:-1], d, d)

    def centre(self, statistics: Reals) -> Reals:
        """Return the mean of m and the root of the mean of L."""
        found = np.empty((statistics.shape[0], self.num_parameters))
        gaussian_centres(statistics, self.scatter, self.mean_precision, self.degrees, found)
        return found

    def log_densities(self, data: DenseRows, rows: Names, parameters: Reals, limits: Labels, found: Reals) -> None:
        """Write log |R| - |R' (x - m)|^2 / 2 - (d / 2) log 2 pi."""
        means, roots = (np.ascontiguousarray(part) for part in self.parted(parameters))
        gaussian_densities(data.x, rows, means, roots, self.constants(roots), limits, found)

    def constants(self, roots: Reals) -> Reals:
        """Return log |R| - (d / 2) log 2 pi of each line."""
        log_det = np.log(np.abs(np.diagonal(roots, axis1=1, axis2=2))).sum(axis=1)
        return log_det - self.width / 2 * math.log(2 * math.pi)

    def chosen(
        self,
        seed: int,
        data: DenseRows,
        rows: Names,
        levels: Reals,
        log_weights: Reals,
        parameters: Reals,
        slots: Labels,
        weighted: bool,
    ) -> Labels:
        """Return the slot that each row chooses, without an array of all densities."""
        found = np.empty(rows.shape[0], np.int32)
        means, roots = (np.ascontiguousarray(part) for part in self.parted(parameters[slots]))
        facts = (means, roots, self.constants(roots))
        choose_gaussian(np.uint64(seed), data.x, rows, levels, log_weights, *facts, weighted, found)
        return slots[found]

    def log_base(self, data: DenseRows, rows: Names) -> Reals:
        """Return the multivariate t density of single rows."""
        d, nu, k = self.width, self.degrees, self.mean_precision
        root = np.linalg.cholesky(self.scatter)
        square = np.sum(np.linalg.solve(root, data.x[rows].T) ** 2, axis=0) * k / (k + 1)
        constant = multigammaln((nu + 1) / 2, d) - multigammaln(nu / 2, d) + d / 2 * math.log(k / (k + 1) / math.pi)
        return constant - np.log(np.diagonal(root)).sum() - (nu + 1) / 2 * np.log1p(square)

    def named(self, parameters: Reals) -> dict[str, Reals]:
        """Return the means, the centring undone, and the roots of the precision matrices."""
        means, roots = self.parted(parameters)
        return {"mean": means + self.offset, "precision_root": roots}

    def unnamed(self, found: dict[str, Reals]) -> Reals:
        """Return lines of parameters from their names."""
        roots = found["precision_root"]
        return np.concatenate([found["mean"] - self.offset, roots.reshape(*roots.shape[:-2], -1)], axis=-1)

    def dims(self) -> dict[str, tuple[str, ...]]:
        """Return the names of the axes."""
        return {"mean": ("component", "feature"), "precision_root": ("component", "feature", "other_feature")}

    def simulate(self, rng: np.random.Generator, parameters: Reals, like: Any) -> Reals:
        """Draw rows, and undo the centring."""
        means, roots = self.parted(parameters)
        noise = rng.standard_normal((*means.shape, 1))
        return means + np.linalg.solve(np.swapaxes(roots, -1, -2), noise)[..., 0] + self.offset
