"""Slices, and the choice of a component for every row; each row has a random stream of its own.

Row i, now in the component z_i, draws a level u_i ~ U(0, w_{z_i}); its candidates are the components with w_j >= u_i,
which have the same probability under u_i, so that the new component is j with probability proportional to f(x_i |
theta_j). Components come in descending order of their weights: the candidates of a row are the first `limits[i]`.
"""

from __future__ import annotations

import numpy as np
from numba import njit, prange

from orthodrome.kernels.elementary import exp, log
from orthodrome.kernels.generator import OPTIONS, uniform
from orthodrome.kernels.streams import mixed, stream_key

LEVEL, _CHOICE = np.uint64(0x9E3779B97F4A7C15), np.uint64(0x3C6EF372FE94F82A)
_NEVER = -60.0
BLOCK = 512
"""Rows that a thread takes at once."""


@njit(**OPTIONS)
def random_of(seed, name, which):  # type: ignore[no-untyped-def]
    """Return one of the uniform numbers of a row."""
    return uniform(mixed(stream_key(np.uint64(seed), np.uint64(0), np.uint64(name)) + which))


@njit(parallel=True, **OPTIONS)
def slice_levels(seed, names, places, log_weights, levels):  # type: ignore[no-untyped-def]
    """Draw log u_i = log w + log U; a row without a component (place -1) has no slice, log u = -inf."""
    count = names.shape[0]
    for block in prange((count + BLOCK - 1) // BLOCK):
        for i in range(block * BLOCK, min((block + 1) * BLOCK, count)):
            if places[i] < 0:
                levels[i] = -np.inf
            else:
                levels[i] = log_weights[places[i]] + log(random_of(seed, names[i], LEVEL))


@njit(**OPTIONS)
def candidates(level, log_weights):  # type: ignore[no-untyped-def]
    """Return how many components, with log weights in descending order, reach a level; at least one."""
    low, high = 0, log_weights.shape[0]
    while low < high:
        middle = (low + high) // 2
        if log_weights[middle] >= level:
            low = middle + 1
        else:
            high = middle
    return max(low, 1)


@njit(parallel=True, **OPTIONS)
def count_candidates(levels, log_weights, limits):  # type: ignore[no-untyped-def]
    """Count the candidates of every row."""
    count = levels.shape[0]
    for block in prange((count + BLOCK - 1) // BLOCK):
        for i in range(block * BLOCK, min((block + 1) * BLOCK, count)):
            limits[i] = candidates(levels[i], log_weights)


@njit(**OPTIONS)
def choose_one(seed, name, densities):  # type: ignore[no-untyped-def]
    """Choose a place with probabilities proportional to exp(densities), which are changed."""
    size, top = densities.shape[0], -np.inf
    if size == 1:
        return 0
    for k in range(size):
        top = max(top, densities[k])
    for k in range(size):
        gap = densities[k] - top
        densities[k] = exp(gap) if gap > _NEVER else 0.0
    total = 0.0
    for k in range(size):
        total += densities[k]
        densities[k] = total
    left, place = random_of(seed, name, _CHOICE) * total, 0
    while place < size - 1 and densities[place] < left:
        place += 1
    return place


@njit(parallel=True, **OPTIONS)
def choose(seed, names, densities, limits, chosen):  # type: ignore[no-untyped-def]
    """Choose among the candidates of every row with probabilities proportional to exp(densities)."""
    count = names.shape[0]
    for block in prange((count + BLOCK - 1) // BLOCK):
        for i in range(block * BLOCK, min((block + 1) * BLOCK, count)):
            chosen[i] = choose_one(seed, names[i], densities[i, : limits[i]])


@njit(**OPTIONS)
def log_probability(margins, goes_first, rows, first, second):  # type: ignore[no-untyped-def]
    """Return the sum of log p or log (1 - p) over the rows but two; margins are log p - log (1 - p)."""
    total = 0.0
    for i in range(rows.shape[0]):
        if rows[i] == first or rows[i] == second:
            continue
        gap = margins[i] if goes_first[i] else -margins[i]
        total -= max(-gap, 0.0) + log(1.0 + exp(-abs(gap)))
    return total
