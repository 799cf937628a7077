"""Von Mises-Fisher components on the sphere in R^V.

    f(x | m, k) = c_V(k) exp(k m . x),    m uniform on the sphere,    log k uniform on an interval.

Given n rows with the sum s, of length r: m | k ~ von Mises-Fisher(s / r, k r), and log k by quadrature
(`concentrations`), as is log m(S). Under a new component a row is uniform on the sphere, whatever k. Parameters are
m and log k.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from orthodrome.core.pytree import pytree, static
from orthodrome.core.types import Reals
from orthodrome.kernels.bessel_arrays import log_constants
from orthodrome.models.mixture.compiled.dense import add_sums, direction_densities, move_sums
from orthodrome.models.mixture.components.concentrations import draw_logs, grids, log_integral
from orthodrome.models.mixture.components.contract import Components, Labels, Names
from orthodrome.models.mixture.components.gaussian import DenseRows


@pytree
class VonMisesFisherComponents(Components):
    """Mean directions with their own concentrations.

    width: V; interval: of log k
    """

    width: int = static()
    interval: tuple[float, float] = static()

    @property
    def num_parameters(self) -> int:
        """The direction and log k."""
        return self.width + 1

    @property
    def num_statistics(self) -> int:
        """The number of rows and their sum."""
        return self.width + 1

    def move(self, data: DenseRows, rows: Names, before: Labels, after: Labels, statistics: Reals) -> None:
        """Move rows between sums of unit vectors."""
        move_sums(data.x, rows, before, after, statistics)

    def add(self, data: DenseRows, rows: Names, labels: Labels, parts: Reals) -> None:
        """Add up unit vectors."""
        add_sums(data.x, rows, labels, parts)

    def _grids(self, statistics: Reals) -> tuple[Reals, Reals]:
        lengths = np.sqrt(np.sum(statistics[:, 1:] ** 2, axis=1))
        return grids(self.width, self.interval, statistics[:, 0], lengths)

    def log_marginal(self, statistics: Reals) -> Reals:
        """Return the mean of g over the prior of log k."""
        return log_integral(*self._grids(statistics))

    def draw(self, seed: int, statistics: Reals) -> Reals:
        """Draw log k, and then the direction."""
        rng = np.random.Generator(np.random.Philox(seed))
        logs = draw_logs(rng, *self._grids(statistics))
        sums = statistics[:, 1:]
        lengths = np.sqrt(np.sum(sums**2, axis=1))
        free = rng.standard_normal(sums.shape)
        means = np.where(lengths[:, None] > 0, sums, free)
        means /= np.sqrt(np.sum(means**2, axis=1, keepdims=True))
        return np.concatenate([draw_directions(rng, means, np.exp(logs) * lengths), logs[:, None]], axis=1)

    def centre(self, statistics: Reals) -> Reals:
        """Return the direction of the sum and the most probable log k."""
        points, values = self._grids(statistics)
        logs = points[np.arange(points.shape[0]), values.argmax(axis=1)]
        sums = statistics[:, 1:]
        lengths = np.maximum(np.sqrt(np.sum(sums**2, axis=1, keepdims=True)), 1e-300)
        return np.concatenate([sums / lengths, logs[:, None]], axis=1)

    def log_densities(self, data: DenseRows, rows: Names, parameters: Reals, limits: Labels, found: Reals) -> None:
        """Write k m . x + log c(k)."""
        k = np.exp(parameters[:, -1])
        resultants = np.ascontiguousarray(parameters[:, :-1] * k[:, None])
        direction_densities(data.x, rows, resultants, log_constants(self.width, k), limits, found)

    def log_base(self, data: DenseRows, rows: Names) -> Reals:
        """Return the uniform density."""
        return np.full(rows.shape[0], float(log_constants(self.width, np.zeros(()))))

    def named(self, parameters: Reals) -> dict[str, Reals]:
        """Return the mean directions and log k."""
        return {"mean_direction": parameters[..., :-1], "log_kappa": parameters[..., -1]}

    def unnamed(self, found: dict[str, Reals]) -> Reals:
        """Return lines of parameters from their names."""
        return np.concatenate([found["mean_direction"], found["log_kappa"][..., None]], axis=-1)

    def dims(self) -> dict[str, tuple[str, ...]]:
        """Return the names of the axes."""
        return {"mean_direction": ("component", "feature"), "log_kappa": ("component",)}

    def simulate(self, rng: np.random.Generator, parameters: Reals, like: Any) -> Reals:
        """Draw unit vectors."""
        return draw_directions(rng, parameters[:, :-1], np.exp(parameters[:, -1]))


def draw_directions(rng: np.random.Generator, means: Reals, concentrations: Reals) -> Reals:
    """Draw one von Mises-Fisher vector for each mean (Wood 1994); concentration 0 is uniform."""
    count, width = means.shape
    half = (width - 1) / 2
    b = half / (concentrations + np.sqrt(concentrations**2 + half**2))
    x0, log_y = (1 - b) / (1 + b), math.log(4) + np.log(b) - 2 * np.log1p(b)  # log (1 - x0^2)
    gaps, left = np.empty(count), np.arange(count)
    while left.size:
        z, own = rng.beta(half, half, left.size), b[left]
        gap = 2 * own * z / (1 - (1 - own) * z)  # 1 - cosine
        kept, k = 1 - x0[left] * (1 - gap), concentrations[left]
        margin = k * (1 - gap - x0[left]) + 2 * half * (np.log(kept) - log_y[left])
        good = margin >= np.log(1 - rng.random(left.size))
        gaps[left[good]] = gap[good]
        left = left[~good]
    tangent = rng.standard_normal(means.shape)
    tangent -= means * np.sum(tangent * means, axis=1, keepdims=True)
    tangent /= np.sqrt(np.sum(tangent**2, axis=1, keepdims=True))
    found = means * (1 - gaps)[:, None] + tangent * np.sqrt(gaps * (2 - gaps))[:, None]
    return found / np.sqrt(np.sum(found**2, axis=1, keepdims=True))
