"""The contract of the components of a mixture: what the samplers ask of the law of one cluster.

The rows of a cluster are independent given its parameters theta, with density f(x | theta), and theta has the law G_0,
the base measure. All that a set of rows says about theta are sums over the rows, the statistics

    S = (number of rows, sum_i t(x_i)),

so that they are kept up to date while rows change their cluster, and those of a minibatch times N / n estimate those
of all rows. Parameters and statistics of K components are matrices with K lines of fixed length.
"""

from __future__ import annotations

import abc
from typing import Any

import numpy as np
from numpy.typing import NDArray

from orthodrome.core.types import Reals
from orthodrome.models.mixture.compiled.choices import choose, count_candidates

MOST_NUMBERS, PART = 1 << 22, 8_192
"""Log densities that are held at once, and rows whose statistics are added up one after the other."""
Labels = NDArray[np.int32]
Names = NDArray[np.int64]


class Components(abc.ABC):
    """A family of components with its base measure."""

    @property
    @abc.abstractmethod
    def num_parameters(self) -> int:
        """The length of a line of parameters."""

    @property
    @abc.abstractmethod
    def num_statistics(self) -> int:
        """The length of a line of statistics; the first number is the number of rows."""

    @abc.abstractmethod
    def move(self, data: Any, rows: Names, before: Labels, after: Labels, statistics: Reals) -> None:
        """Take rows out of the statistics of the components `before` and add them to those of `after`; -1 is none."""

    @abc.abstractmethod
    def add(self, data: Any, rows: Names, labels: Labels, parts: Reals) -> None:
        """Add blocks of rows to the statistics of their labels, each block to its own; parts: blocks x K x p."""

    @abc.abstractmethod
    def log_marginal(self, statistics: Reals) -> Reals:
        """Return log of the integral of prod_i f(x_i | theta) over G_0, for each line of statistics.

        Factors of f that do not depend on theta may be left out, if `log_densities` leaves them out too.
        """

    @abc.abstractmethod
    def draw(self, seed: int, statistics: Reals) -> Reals:
        """Draw parameters from their law given the statistics; from G_0 where these are 0."""

    @abc.abstractmethod
    def centre(self, statistics: Reals) -> Reals:
        """Return typical parameters given the statistics, without chance."""

    @abc.abstractmethod
    def log_densities(self, data: Any, rows: Names, parameters: Reals, limits: Labels, found: Reals) -> None:
        """Write log f(x_i | theta_k) of some rows, for the first `limits[i]` components of each."""

    @abc.abstractmethod
    def log_base(self, data: Any, rows: Names) -> Reals:
        """Return log of the integral of f(x_i | theta) over G_0 for some rows: the density under a new component."""

    @abc.abstractmethod
    def named(self, parameters: Reals) -> dict[str, Reals]:
        """Return the parameters (..., K, p) by their names, as the user knows them; views where they can be."""

    @abc.abstractmethod
    def unnamed(self, found: dict[str, Reals]) -> Reals:
        """Return lines of parameters (..., K, p) from their names."""

    @abc.abstractmethod
    def dims(self) -> dict[str, tuple[str, ...]]:
        """Return the names of the axes of the named parameters."""

    @abc.abstractmethod
    def simulate(self, rng: np.random.Generator, parameters: Reals, like: Any) -> Any:
        """Draw one row from each line of parameters; like: rows whose sizes the new ones have, if they have sizes."""

    def statistics(self, data: Any, rows: Names, labels: Labels, count: int) -> Reals:
        """Return the statistics of some rows that have labels 0, ..., count - 1."""
        blocks = -(-rows.shape[0] // PART)
        if blocks * count * self.num_statistics > MOST_NUMBERS:
            blocks = 1
        parts = np.zeros((max(1, blocks), count, self.num_statistics))
        self.add(data, rows, labels, parts)
        found: Reals = parts.sum(axis=0) if blocks > 1 else parts[0]
        return found

    def all_densities(self, data: Any, rows: Names, parameters: Reals) -> Reals:
        """Return log f(x_i | theta_k), (rows, components)."""
        found = np.empty((rows.shape[0], parameters.shape[0]))
        limits = np.full(rows.shape[0], parameters.shape[0], np.int32)
        self.log_densities(data, rows, parameters, limits, found)
        return found

    def chosen(
        self,
        seed: int,
        data: Any,
        rows: Names,
        levels: Reals,
        log_weights: Reals,
        parameters: Reals,
        slots: Labels,
        weighted: bool,
    ) -> Labels:
        """Return the slot, a line of parameters, that each row chooses, the weights of slots being in descending order.

        The candidates of a row are the components whose log weights reach its level, and their probabilities are
        proportional to f(x | theta_k); weighted: to w_k f(x | theta_k).
        """
        found, own = np.empty(rows.shape[0], np.int32), parameters[slots]
        part = max(1, MOST_NUMBERS // log_weights.shape[0])
        for begin in range(0, rows.shape[0], part):
            cut = slice(begin, begin + part)
            limits = np.empty(rows[cut].shape[0], np.int32)
            count_candidates(levels[cut], log_weights, limits)
            densities = np.empty((limits.shape[0], max(1, int(limits.max(initial=1)))))
            self.log_densities(data, rows[cut], own[: densities.shape[1]], limits, densities)
            if weighted:
                densities += log_weights[: densities.shape[1]]
            choose(np.uint64(seed), rows[cut], densities, limits, found[cut])
        return slots[found]
