"""Counts of categories: one simplex (multinomial rows), or one for each variable (Dunson & Xing 2009).

The columns are divided into blocks; theta is a probability vector in each, and a row has counts in all of them:

    f(x | theta) = prod_c theta_c^{x_c},      theta_block ~ Dirichlet(a, ..., a) independently,

without the multinomial coefficients, which do not depend on theta. With S the sums of the rows,

    log m(S) = sum_blocks [ lgamma(a d) - lgamma(a d + S.) + sum_c lgamma(a + S_c) - lgamma(a) ].

Parameters are log theta: with a small a most of theta underflows.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray
from scipy.special import gammaln

from orthodrome.core.pytree import pytree, static
from orthodrome.core.types import Reals
from orthodrome.kernels.transition import cir_transition_counts
from orthodrome.models.mixture.compiled.choices import tiled
from orthodrome.models.mixture.compiled.counts import (
    add_block,
    add_blocks,
    choose_counts,
    count_densities,
    move_counts,
    take_counts,
)
from orthodrome.models.mixture.compiled.normalising import normalise_logs
from orthodrome.models.mixture.compiled.products import FEW, choose_by_products
from orthodrome.models.mixture.components.contract import Components, Labels, Names

SEEN = 1_024
"""Entries whose mean tells how large counts are."""
FORGETTING = 80.0
"""After this time a CIR process is, to rounding, a fresh draw of its stationary law Gamma(a + n, 1)."""


@pytree
class CountRows:
    """Rows of counts: row i has counts[starts[i] : starts[i + 1]] in the columns of the same places.

    bounds: where the blocks of columns begin, and the number of columns
    """

    starts: NDArray[np.int64]
    columns: NDArray[np.int32]
    counts: NDArray[np.float64]
    bounds: tuple[int, ...] = static()

    @property
    def count(self) -> int:
        """The number of rows."""
        return self.starts.shape[0] - 1

    @classmethod
    def of(cls, table: Any) -> CountRows:
        """Return the rows of a sparse matrix, all columns in one block."""
        table = scipy.sparse.csr_matrix(table)
        table.sum_duplicates()
        columns, counts = table.indices.astype(np.int32), table.data.astype(np.float64)
        return cls(table.indptr.astype(np.int64), columns, counts, (0, table.shape[1]))

    def take(self, rows: Names) -> CountRows:
        """Return some of the rows."""
        starts, columns, counts = take_counts(self.starts, self.columns, self.counts, rows)
        return CountRows(starts, columns, counts, self.bounds)

    def table(self) -> scipy.sparse.csr_matrix:
        """Return the rows as a sparse matrix."""
        return scipy.sparse.csr_matrix((self.counts, self.columns, self.starts), (self.count, self.bounds[-1]))


@pytree
class CategoricalComponents(Components):
    """Probability vectors over the columns of each block.

    prior: a; bounds: where blocks begin, and the number of columns
    """

    prior: float = static()
    bounds: tuple[int, ...] = static()

    @property
    def width(self) -> int:
        """The number of columns."""
        return self.bounds[-1]

    @property
    def num_parameters(self) -> int:
        """One for each column."""
        return self.width

    @property
    def num_statistics(self) -> int:
        """One for each column, and the number of rows."""
        return self.width + 1

    def move(self, data: CountRows, rows: Names, before: Labels, after: Labels, statistics: Reals) -> None:
        """Move rows between sums of counts."""
        move_counts(data.starts, data.columns, data.counts, rows, before, after, statistics)

    def add(self, data: CountRows, rows: Names, labels: Labels, parts: Reals) -> None:
        """Add up counts."""
        if parts.shape[0] == 1:  # no thread is woken
            add_block(data.starts, data.columns, data.counts, rows, labels, parts[0])
        else:
            add_blocks(data.starts, data.columns, data.counts, rows, labels, parts)

    def block_sums(self, columns: Reals) -> Reals:
        """Return the sums of the columns of each block."""
        return np.add.reduceat(columns, self.bounds[:-1], axis=-1)

    def spread(self, blocks: Reals) -> Reals:
        """Return a number of each block for each of its columns."""
        return np.repeat(blocks, np.diff(self.bounds), axis=-1)

    def log_marginal(self, statistics: Reals) -> Reals:
        """Return the Dirichlet-multinomial law of the counts in their order, summed over blocks."""
        counts, sizes = statistics[:, 1:], self.prior * np.diff(self.bounds)
        inside = np.sum(gammaln(self.prior + counts) - gammaln(self.prior), axis=1)
        return inside + np.sum(gammaln(sizes) - gammaln(sizes + self.block_sums(counts)), axis=1)

    def draw(self, seed: int, statistics: Reals) -> Reals:
        """Draw log theta from Dirichlet(a + S) in every block."""
        counts = statistics[:, 1:]
        return self.normalised(cir_transition_counts(seed, np.zeros(counts.shape), self.prior, 1.0, counts, FORGETTING))

    def normalised(self, log_weights: Reals) -> Reals:
        """Return log theta, the logarithms of weights divided by the sums of their blocks."""
        found = np.empty(log_weights.shape)
        normalise_logs(log_weights, np.array(self.bounds), found)
        return found

    def centre(self, statistics: Reals) -> Reals:
        """Return the logarithm of the mean of theta."""
        return self.normalised(np.log(statistics[:, 1:] + self.prior))

    def log_densities(self, data: CountRows, rows: Names, parameters: Reals, limits: Labels, found: Reals) -> None:
        """Write sum_c x_ic log theta_kc."""
        logs = np.ascontiguousarray(parameters.T)
        count_densities(data.starts, data.columns, data.counts, rows, logs, limits, found)

    def chosen(
        self,
        seed: int,
        data: CountRows,
        rows: Names,
        levels: Reals,
        log_weights: Reals,
        parameters: Reals,
        slots: Labels,
        weighted: bool,
    ) -> Labels:
        """Return the slot that each row chooses, without an array of all densities."""
        found: Labels = np.empty(rows.shape[0], np.int32)
        facts = (log_weights, parameters, slots, weighted)
        first = data.counts[:SEEN]
        if first.sum() * data.counts.shape[0] > FEW * data.count * first.shape[0]:  # long rows, as most are
            self._chosen_by_logs(seed, data, rows, levels, *facts, found)
            return found
        table = (data.starts, data.columns, data.counts)
        if choose_by_products(np.uint64(seed), table, rows, levels, *facts, found):
            left = np.flatnonzero(found < 0)
            others = np.empty(left.shape[0], np.int32)
            self._chosen_by_logs(seed, data, rows[left], levels[left], *facts, others)
            found[left] = others
        return found

    def _chosen_by_logs(
        self,
        seed: int,
        data: CountRows,
        rows: Names,
        levels: Reals,
        log_weights: Reals,
        parameters: Reals,
        slots: Labels,
        weighted: bool,
        found: Labels,
    ) -> None:
        """Write the choices of rows of any length."""
        places = rows
        if rows.shape[0] < data.count // 4:  # brought together first, many are fetched from memory at a time
            data, places = data.take(rows), np.arange(rows.shape[0])
        table = (data.starts, data.columns, data.counts)
        logs = tiled(parameters[slots])
        choose_counts(np.uint64(seed), *table, places, rows, levels, log_weights, logs, weighted, found)
        found[:] = slots[found]

    def log_base(self, data: CountRows, rows: Names) -> Reals:
        """Return the Dirichlet-multinomial law of single rows."""
        table = data.table()[rows]
        inside = table.copy()
        inside.data = gammaln(self.prior + table.data) - gammaln(self.prior)
        sizes = self.prior * np.diff(self.bounds)
        parts = zip(self.bounds[:-1], self.bounds[1:], strict=True)
        totals = np.stack([np.asarray(table[:, a:b].sum(axis=1)).ravel() for a, b in parts], axis=1)
        return np.asarray(inside.sum(axis=1)).ravel() + np.sum(gammaln(sizes) - gammaln(sizes + totals), axis=1)

    def named(self, parameters: Reals) -> dict[str, Reals]:
        """Return log theta."""
        return {"log_probabilities": parameters}

    def unnamed(self, found: dict[str, Reals]) -> Reals:
        """Return lines of parameters from their names."""
        return found["log_probabilities"]

    def dims(self) -> dict[str, tuple[str, ...]]:
        """Return the names of the axes."""
        return {"log_probabilities": ("component", "category")}

    def simulate(self, rng: np.random.Generator, parameters: Reals, like: CountRows) -> scipy.sparse.csr_matrix:
        """Draw rows with the block totals of rows of `like`, chosen at random."""
        sizes = like.table()[rng.integers(like.count, size=parameters.shape[0])]
        found = np.zeros(parameters.shape)
        for a, b in zip(self.bounds[:-1], self.bounds[1:], strict=True):
            totals = np.asarray(sizes[:, a:b].sum(axis=1)).ravel().astype(np.int64)
            p = np.exp(parameters[:, a:b])
            found[:, a:b] = rng.multinomial(totals, p / p.sum(axis=1, keepdims=True))
        return scipy.sparse.csr_matrix(found)
