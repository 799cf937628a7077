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

LEVEL, CHOICE = np.uint64(0x9E3779B97F4A7C15), np.uint64(0x3C6EF372FE94F82A)
BLOCK, TILE = 512, 8
"""Rows that a thread takes at once, and components whose densities are computed side by side."""


def tiled(values):  # type: ignore[no-untyped-def]
    """Return numbers of components (K, ...) as tiles x ... x TILE, the last tile filled up with zeros."""
    lines = values.reshape(values.shape[0], -1)
    found = np.empty((-(-lines.shape[0] // TILE), lines.shape[1], TILE))
    fill_tiles(lines, found)
    return found.reshape(found.shape[0], *values.shape[1:], TILE)


@njit(**OPTIONS)
def fill_tiles(lines, found):  # type: ignore[no-untyped-def]
    """Write lines of numbers side by side, TILE of them at a time."""
    count = lines.shape[0]
    for tile in range(found.shape[0]):
        for c in range(lines.shape[1]):
            for k in range(TILE):
                found[tile, c, k] = lines[tile * TILE + k, c] if tile * TILE + k < count else 0.0


@njit(**OPTIONS)
def descending(log_weights, slots):  # type: ignore[no-untyped-def]
    """Return log weights in descending order, and the slots in the same; equal ones stay in theirs."""
    order = np.argsort(-log_weights, kind="mergesort")
    return log_weights[order], slots[order]


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
    low, length = 0, log_weights.shape[0]
    while length > 1:  # without branches that depend on the level, which no processor would guess
        half = length // 2
        low += half * (log_weights[low + half - 1] >= level)
        length -= half
    low += log_weights[low] >= level
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
        densities[k] = exp(densities[k] - top)
    total = 0.0
    for k in range(size):
        total += densities[k]
        densities[k] = total
    left, place = random_of(seed, name, CHOICE) * total, 0
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
def log_share(gap):  # type: ignore[no-untyped-def]
    """Return log p from log p - log (1 - p)."""
    return -(max(-gap, 0.0) + log(1.0 + exp(-abs(gap))))


@njit(parallel=True, **OPTIONS)
def divide(seed, names, margins, parts):  # type: ignore[no-untyped-def]
    """Send each row to part 0 with probability p, else to part 1; margins are log p - log (1 - p)."""
    count = names.shape[0]
    for block in prange((count + BLOCK - 1) // BLOCK):
        for i in range(block * BLOCK, min((block + 1) * BLOCK, count)):
            parts[i] = random_of(seed, names[i], CHOICE) * (1.0 + exp(-margins[i])) > 1.0


@njit(parallel=True, **OPTIONS)
def log_probability(margins, parts, names, first, second):  # type: ignore[no-untyped-def]
    """Return the sum of log p (part 0) or log (1 - p) (part 1) over the rows but two, which are the anchors."""
    count = names.shape[0]
    sums = np.zeros((count + BLOCK - 1) // BLOCK)
    for block in prange(sums.shape[0]):
        total = 0.0
        for i in range(block * BLOCK, min((block + 1) * BLOCK, count)):
            if names[i] != first and names[i] != second:
                total += log_share(margins[i] if parts[i] == 0 else -margins[i])
        sums[block] = total
    found = 0.0
    for block in range(sums.shape[0]):  # in their order, whatever the number of threads
        found += sums[block]
    return found
