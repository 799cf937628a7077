"""New components for some rows: slices, opened components, densities of the candidates, a choice for each row."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from orthodrome.core.types import Reals
from orthodrome.models.mixture.compiled.choices import descending, slice_levels
from orthodrome.models.mixture.compiled.rows import draw_rows
from orthodrome.models.mixture.components.contract import Components, Labels, Names


def levels_of(seed: int, rows: Names, places: Labels, log_weights: Reals) -> NDArray[np.float64]:
    """Return log u_i of every row, given the places of their components; -inf for a row without one."""
    found = np.empty(rows.shape[0])
    slice_levels(np.uint64(seed), rows, places, log_weights, found)
    return found


class Batch(NamedTuple):
    """Rows of one transition, brought together: to read them where they are takes longer than most of what is done.

    rows: their numbers among all; data, places: a table that has them, and where they are in it
    """

    rows: Names
    data: Any
    places: Names


def batch_of(data: Any, rows: Names) -> Batch:
    """Return rows beside each other, unless they are all."""
    if rows.shape[0] == data.count:
        return Batch(rows, data, rows)
    return Batch(rows, data.take(rows), np.arange(rows.shape[0]))


def batch_rows(seed: int, count: int, size: int) -> Names:
    """Return a random set of rows, in no order."""
    found: Names = draw_rows(np.uint64(seed), count, size)
    return found


def choose_components(
    seed: int,
    components: Components,
    data: Any,
    rows: Names,
    levels: Reals,
    log_weights: Reals,
    parameters: Reals,
    slots: Labels,
    weighted: bool = False,
) -> Labels:
    """Return the slot of the component that each row chooses among those whose weights reach its level.

    log_weights: by place; slots: the lines of `parameters` in the places
    weighted: choose in proportion to w_j f(x | theta_j), as rows without slices do
    """
    logs, ordered = descending(log_weights, slots)
    return components.chosen(seed, data, rows, levels, logs, parameters, ordered, weighted)
