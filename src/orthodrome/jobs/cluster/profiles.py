"""The profile of a cluster: what the rows in it are like, as named numbers.

A draw numbers its components in its own way, and may have two components where another has one. So a profile is read
from moments of the rows' law, which average over components, and turned into the numbers that are shown afterwards:

    family                     moments of a component        shown
    gaussian                   E x, E x^2                    mean and sd of each column
    multinomial, categorical   probabilities                 the same
    vmf                        E x = A(k) m                  mean direction, and the length of E x (1: no spread)
"""

from __future__ import annotations

import abc

import numpy as np

from orthodrome.core.types import Reals
from orthodrome.jobs.cluster.rows import ClusterRows
from orthodrome.kernels.bessel_arrays import mean_lengths

Entry = tuple[str, str]
"""What a number is, and the column it is of."""


class Profile(abc.ABC):
    """How the clusters of a family are described."""

    @abc.abstractmethod
    def moments(self, named: dict[str, Reals]) -> Reals:
        """Return the moments of components, one line each, from their named parameters."""

    @abc.abstractmethod
    def shown(self, moments: Reals) -> Reals:
        """Return the numbers that are shown, from lines of moments."""

    @abc.abstractmethod
    def entries(self, rows: ClusterRows) -> list[Entry]:
        """Return what each of the numbers is."""

    @abc.abstractmethod
    def importance(self, line: Reals, overall: Reals) -> Reals:
        """Return how much each number says about a cluster, beside all rows; those shown first have most."""


class RealProfile(Profile):
    """Of real numbers."""

    def moments(self, named: dict[str, Reals]) -> Reals:
        """Return E x and E x^2."""
        mean, roots = named["mean"], named["precision_root"]
        covariances = np.linalg.inv(roots @ np.swapaxes(roots, -1, -2))
        return np.concatenate([mean, np.diagonal(covariances, axis1=-2, axis2=-1) + mean**2], axis=-1)

    def shown(self, moments: Reals) -> Reals:
        """Return means and standard deviations."""
        mean, square = np.split(moments, 2, axis=-1)
        return np.concatenate([mean, np.sqrt(np.maximum(square - mean**2, 0.0))], axis=-1)

    def entries(self, rows: ClusterRows) -> list[Entry]:
        """Return the columns twice."""
        return [("mean", name) for name in rows.columns] + [("sd", name) for name in rows.columns]

    def importance(self, line: Reals, overall: Reals) -> Reals:
        """Return the distance of the means from those of all rows, in standard deviations; spreads come last."""
        (mean, _), (centre, spread) = np.split(line, 2), np.split(overall, 2)
        return np.concatenate([np.abs(mean - centre) / np.maximum(spread, 1e-300), np.full(mean.shape, -1.0)])


class CountProfile(Profile):
    """Of counts."""

    def moments(self, named: dict[str, Reals]) -> Reals:
        """Return the probabilities."""
        return np.exp(named["log_probabilities"])

    def shown(self, moments: Reals) -> Reals:
        """Return the same."""
        return moments

    def entries(self, rows: ClusterRows) -> list[Entry]:
        """Return the columns."""
        return [("probability", name) for name in rows.columns]

    def importance(self, line: Reals, overall: Reals) -> Reals:
        """Return the probabilities."""
        return line


class CategoryProfile(CountProfile):
    """Of a category in every column."""

    def entries(self, rows: ClusterRows) -> list[Entry]:
        """Return the categories of every column: their texts, or their codes if they were given as codes."""
        codes = [[str(code) for code in range(int(top) + 1)] for top in np.asarray(rows.values).max(axis=0)]
        pairs = zip(rows.columns, rows.levels or codes, strict=True)
        return [("probability", f"{name} = {level}") for name, column in pairs for level in column]


class DirectionProfile(Profile):
    """Of unit vectors."""

    def moments(self, named: dict[str, Reals]) -> Reals:
        """Return E x = A(k) m."""
        direction = named["mean_direction"]
        return direction * mean_lengths(direction.shape[-1], np.exp(named["log_kappa"]))[..., None]

    def shown(self, moments: Reals) -> Reals:
        """Return the direction of E x and its length."""
        lengths = np.sqrt(np.sum(moments**2, axis=-1, keepdims=True))
        return np.concatenate([moments / np.maximum(lengths, 1e-300), lengths], axis=-1)

    def entries(self, rows: ClusterRows) -> list[Entry]:
        """Return the columns and the length."""
        return [*(("direction", name) for name in rows.columns), ("length", "of the mean")]

    def importance(self, line: Reals, overall: Reals) -> Reals:
        """Return the sizes of the coordinates; the length comes first."""
        return np.append(np.abs(line[:-1]), 2.0)


PROFILES: dict[str, Profile] = {
    "gaussian": RealProfile(),
    "multinomial": CountProfile(),
    "categorical": CategoryProfile(),
    "vmf": DirectionProfile(),
}
