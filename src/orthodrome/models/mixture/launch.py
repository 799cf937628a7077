"""Two components that may explain the rows of one or two clusters, for splits and merges.

A launch begins with two rows, the anchors, as the only ones of two parts. Some other rows, chosen at random, are then
divided between the parts and redistributed a number of times given typical parameters; then more rows. Few rows come
first because they forget the anchors sooner: among many, parameters that are nearly equal stay so for long. More come
later because a proposal from parameters that are known to one part in sqrt(m) loses some (p / 2) n / m nats for p
parameters and n rows: with a thousand of ten thousand rows and three hundred categories no split would be accepted.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from orthodrome.core.types import Reals
from orthodrome.models.mixture.compiled.choices import divide
from orthodrome.models.mixture.compiled.rows import draw_rows
from orthodrome.models.mixture.components.contract import Components, Names

STAGES = ((1_000, 20), (10_000, 10))
"""Rows, and how often they are redistributed."""


def launch_margins(
    rng: np.random.Generator, components: Components, data: Any, rows: Names, anchors: NDArray[np.int64]
) -> Reals:
    """Return log p_i - log (1 - p_i) of all rows, from a launch with some of them."""
    found = ends = components.statistics(data, anchors, np.arange(2, dtype=np.int32), 2)
    order = some_rows(rng, rows, STAGES[-1][0])
    order = order[(order != anchors[0]) & (order != anchors[1])]
    near, names = data.take(order), np.arange(order.shape[0])  # rows that lie side by side are read sooner
    for size, sweeps in STAGES:
        own = names[:size]
        for _ in range(sweeps):
            parts = divided(rng, own, margins_of(components, near, own, found))
            found = ends + components.statistics(near, own, parts, 2)
    return margins_of(components, data, rows, found)


def some_rows(rng: np.random.Generator, rows: Names, most: int) -> Names:
    """Return some of the rows, chosen at random, in a random order."""
    if rows.shape[0] <= most:
        return rng.permutation(rows)
    return rng.permutation(rows[draw_rows(np.uint64(rng.integers(1 << 63)), rows.shape[0], most)])


def margins_of(components: Components, data: Any, rows: Names, statistics: Reals) -> Reals:
    """Return log [n_1 f(x | theta_1)] - log [n_2 f(x | theta_2)] with typical parameters of two parts."""
    densities = components.all_densities(data, rows, components.centre(statistics))
    return densities[:, 0] - densities[:, 1] + math.log(statistics[0, 0] / statistics[1, 0])


def divided(rng: np.random.Generator, rows: Names, margins: Reals) -> NDArray[np.int32]:
    """Draw the parts of rows, 0 with probability p."""
    parts = np.empty(rows.shape[0], np.int32)
    divide(np.uint64(rng.integers(1 << 63)), rows, margins, parts)
    return parts
