"""Rows of real numbers whose sums are the same bits for every number of processes that is a power of two.

Statistics of real rows are sums whose last bits depend on the order of their terms. So the rows are cut into `LEAVES`
stretches, whatever the number of processes. The rows of a stretch are added up in their order, and stretches in pairs,
pairs in pairs, and so on: a process has as many neighbouring stretches as the others, hence a branch of that tree, and
what crosses is one line of numbers for each cluster. After every sweep all sums are made anew, also where one process
has all rows; so no rounding is left of rows that came and went.

Every process keeps all rows, which a sweep reads in part: those of its own stretches.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from orthodrome.core.pytree import pytree, static
from orthodrome.core.types import Reals
from orthodrome.models.mixture.compiled.rows import find_places
from orthodrome.models.mixture.components.contract import MOST_NUMBERS, Components, Labels, Names
from orthodrome.models.mixture.components.gaussian import DenseRows
from orthodrome.run.parallel import Team

LEAVES = 64
"""Stretches of the rows, and the most processes that share them."""


@pytree
class SpreadReals(DenseRows):
    """Rows of real numbers, of which each process sweeps its own; place: the number of this process, and P."""

    place: tuple[int, int] = static(default=(0, 1))

    @property
    def length(self) -> int:
        """The number of rows of a stretch; the last ones may have fewer, or none."""
        return -(-self.count // LEAVES)

    @property
    def bounds(self) -> tuple[int, int]:
        """The first row that this process has, and the one after its last."""
        process, processes = self.place
        first, last = (self.length * (LEAVES * number // processes) for number in (process, process + 1))
        return min(first, self.count), min(last, self.count)

    @property
    def own(self) -> Names:
        """The numbers of the rows that this process has."""
        return np.arange(*self.bounds)

    def lowest(self, level: float) -> float:
        """Return the lowest of the levels of all processes."""
        return float(Team().gather(np.array(level)).min())

    def summed(self, components: Components, labels: Labels, slots: int) -> tuple[Reals, NDArray[np.int64]]:
        """Return the statistics and the sizes of the clusters of all rows; labels: of all, those of others unread."""
        own = labels[slice(*self.bounds)]
        sizes = Team().total(np.bincount(own, minlength=slots).astype(np.int64))
        held, found = np.flatnonzero(sizes).astype(np.int32), np.zeros((slots, components.num_statistics))
        leaves = LEAVES // self.place[1]
        rows, places = np.zeros(leaves * self.length, np.int64), np.zeros(leaves * self.length, np.int32)
        rows[: own.shape[0]], places[own.shape[0] :] = self.own, -1  # those at the end are no rows
        places[: own.shape[0]] = find_places(held, own, slots)
        branch = self._branch(components, rows, places, leaves, held.shape[0])
        found[held] = in_pairs(Team().gather(branch))
        return found, sizes

    def _branch(self, components: Components, rows: Names, places: Labels, leaves: int, count: int) -> Reals:
        """Return the sum over the rows of some stretches, each half apart where all would be too many numbers."""
        if leaves > 1 and leaves * count * components.num_statistics > MOST_NUMBERS:
            half = rows.shape[0] // 2
            parts = ((rows[:half], places[:half]), (rows[half:], places[half:]))
            return np.add(*(self._branch(components, *part, leaves // 2, count) for part in parts))
        sums = np.zeros((leaves, count, components.num_statistics))
        components.add(self, rows, places, sums)
        return in_pairs(sums)


def in_pairs(parts: Reals) -> Reals:
    """Return the sum over the first axis, whose length is a power of two: of pairs, pairs of pairs, and so on."""
    while parts.shape[0] > 1:
        parts = parts[::2] + parts[1::2]
    found: Reals = parts[0]
    return found
