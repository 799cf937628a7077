"""Rows spread over processes: each sweeps a stretch of them, and what crosses is sums over clusters.

Process p of P has a stretch of the rows, by their numbers in the whole table, of which each row keeps its random
stream. The statistics of counts are whole numbers, whose sums over processes are exact; those of real rows are added up
in an order that the number of processes does not change (`stretches`). Weights, parameters and opened components are
drawn on all processes alike. So the draws are the same, bit for bit, for every number of processes; of real rows it
must be a power of two.

Splits and merges look at rows of any process: such a run has its chains spread instead.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from orthodrome.core.pytree import pytree, static
from orthodrome.core.types import Reals
from orthodrome.errors import BadInput
from orthodrome.models.mixture.components.contract import Components, Labels, Names
from orthodrome.models.mixture.components.counts import CountRows
from orthodrome.models.mixture.components.gaussian import DenseRows
from orthodrome.models.mixture.stretches import LEAVES, SpreadReals
from orthodrome.run.opening import check_same
from orthodrome.run.parallel import Team


@pytree
class SpreadCounts(CountRows):
    """A stretch of the rows of a table, under the numbers that they have in it.

    starts: of all rows of the table, counted from the first entry that this process has; columns, counts: its own only
    stretch: its first row, and the one after its last
    """

    stretch: tuple[int, int] = static(default=(0, 0))

    @property
    def own(self) -> Names:
        """The numbers of the rows that this process has."""
        return np.arange(*self.stretch)

    def total(self, changes: Reals) -> Reals:
        """Return the sums over processes of whole numbers."""
        return Team().total(np.rint(changes).astype(np.int64)).astype(np.float64)

    def lowest(self, level: float) -> float:
        """Return the lowest of the levels of all processes."""
        return float(Team().gather(np.array(level)).min())


SPREAD = (SpreadCounts, SpreadReals)


def spread_or_whole(rows: Any, spreads: bool, num_chains: int) -> Any:
    """Return the part of the rows that this process has if there are several and the sampler can use it; otherwise all
    rows, and the chains are spread."""
    team = Team()
    if spreads and isinstance(rows, DenseRows):
        check_same(team, {"X": rows.x})
        return SpreadReals(rows.x, (team.process, team.processes))
    if team.processes == 1:
        return rows
    if not spreads:
        if num_chains % team.processes:
            raise BadInput(
                f"num_chains is {num_chains}, which cannot be spread evenly over {team.processes} processes; take a "
                "multiple. (Rows can be spread instead of chains with method='gibbs', split_merge=0 and batch_size=None"
                " only, since splits and merges look at rows of any process; for family='gaussian' or 'vmf' over 2, 4, "
                f"..., {LEAVES} processes)"
            )
        return rows
    check_same(team, {"X": (rows.starts, rows.columns, rows.counts)})
    first, last = (rows.count * number // team.processes for number in (team.process, team.process + 1))
    begin, end = rows.starts[first], rows.starts[last]
    own = (rows.columns[begin:end].copy(), rows.counts[begin:end].copy())
    return SpreadCounts(rows.starts - begin, *own, rows.bounds, (first, last))


def can_spread(rows: Any, method: str, split_merge: int | None, batch_size: int | None) -> bool:
    """Return whether the rows of a run can be spread: by exact Gibbs sweeps over all rows without splits."""
    whole = batch_size is None or batch_size >= rows.count
    fits = isinstance(rows, CountRows) or (isinstance(rows, DenseRows) and LEAVES % Team().processes == 0)
    return fits and method == "gibbs" and not split_merge and whole


def own_rows(data: Any) -> Names:
    """Return the numbers of the rows that this process has."""
    return data.own if isinstance(data, SPREAD) else np.arange(data.count)


def lowest_of_all(data: Any, level: float) -> float:
    """Return the lowest of the levels of all rows."""
    return data.lowest(level) if isinstance(data, SPREAD) else level


def all_statistics(components: Components, data: Any, labels: Labels, slots: int) -> Reals:
    """Return the statistics of all rows by their labels."""
    if isinstance(data, SpreadReals):
        return data.summed(components, labels, slots)[0]
    rows = own_rows(data)
    found = components.statistics(data, rows, labels[rows], slots)
    return data.total(found) if isinstance(data, SpreadCounts) else found


def relabel_spread(
    components: Components,
    data: SpreadCounts | SpreadReals,
    labels: Labels,
    new: Labels,
    sizes: NDArray[np.int64],
    statistics: Reals,
) -> None:
    """Give the rows of this process new labels, and bring sizes and statistics of all rows up to date."""
    rows = data.own
    if isinstance(data, SpreadReals):
        labels[rows] = new
        statistics[:], sizes[:] = data.summed(components, labels, statistics.shape[0])
        return
    before, own = labels[rows], np.zeros(statistics.shape)
    components.move(data, rows, before, new, own)
    labels[rows] = new
    changes = data.total(own)
    statistics += changes
    sizes += np.rint(changes[:, 0]).astype(np.int64)
