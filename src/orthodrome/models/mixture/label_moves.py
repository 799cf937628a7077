"""Exchanges of two places in the order of the sticks (Papaspiliopoulos & Roberts 2008).

The law of the weights prefers large clusters early, and a chain that only moves single rows cannot bring that about.
Two proposals, with m the sizes of the clusters in places j and l, w the weights and v the sticks of the places:

    two clusters change places, the sticks stay:     min(1, (w_j / w_l)^(m_l - m_j))
    neighbours j, j + 1 change places with their sticks:   min(1, (1 - v_{j+1})^{m_j} / (1 - v_j)^{m_{j+1}})

A place is an index into the slots, so no row is looked at. The sizes are those of all rows.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from orthodrome.core.types import Reals
from orthodrome.models.mixture.weights import stick_weights


def swap_places(rng: np.random.Generator, held: NDArray[np.int32], sticks: Reals, sizes: NDArray[np.int64]) -> bool:
    """Propose one exchange of either kind, in place; return whether one of them was made."""
    count = held.shape[0]
    if count < 2:
        return False
    log_weights, _ = stick_weights(sticks)
    j, l = rng.choice(count, 2, replace=False)  # noqa: E741
    gain = (log_weights[j] - log_weights[l]) * float(sizes[held[l]] - sizes[held[j]])
    first = math.log(1 - rng.random()) < gain
    if first:
        held[[j, l]] = held[[l, j]]
    j = int(rng.integers(count - 1))
    kept = sticks[j : j + 2, 1] - np.logaddexp(sticks[j : j + 2, 0], sticks[j : j + 2, 1])
    gain = kept[1] * float(sizes[held[j]]) - kept[0] * float(sizes[held[j + 1]])
    second = math.log(1 - rng.random()) < gain
    if second:
        held[[j, j + 1]] = held[[j + 1, j]]
        sticks[[j, j + 1]] = sticks[[j + 1, j]]
    return bool(first or second)
