"""New components for some rows: slices, opened components, densities of the candidates, a choice for each row."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from orthodrome.core.types import Reals
from orthodrome.models.mixture.compiled.choices import choose, count_candidates, slice_levels
from orthodrome.models.mixture.components.contract import Components, Labels, Names

MOST_NUMBERS = 1 << 22
"""Log densities that are held at once."""


def levels_of(seed: int, rows: Names, places: Labels, log_weights: Reals) -> NDArray[np.float64]:
    """Return log u_i of every row, given the places of their components; -inf for a row without one."""
    found = np.empty(rows.shape[0])
    slice_levels(np.uint64(seed), rows, places, log_weights, found)
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
    order = np.argsort(-log_weights, kind="stable")
    logs, slots = log_weights[order], slots[order]
    own = parameters[slots]
    chosen = np.empty(rows.shape[0], np.int32)
    part = max(1, MOST_NUMBERS // log_weights.shape[0])
    for begin in range(0, rows.shape[0], part):
        cut = slice(begin, begin + part)
        limits = np.empty(rows[cut].shape[0], np.int32)
        count_candidates(levels[cut], logs, limits)
        densities = np.empty((limits.shape[0], max(1, int(limits.max(initial=1)))))
        components.log_densities(data, rows[cut], own[: densities.shape[1]], limits, densities)
        if weighted:
            densities += logs[: densities.shape[1]]
        choose(np.uint64(seed), rows[cut], densities, limits, chosen[cut])
    return slots[chosen]
