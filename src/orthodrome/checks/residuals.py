"""Residuals of the Fokker-Planck equation, every coordinate and every point on its own scale.

At each point the equation asks that the terms t_i of all coordinates sum to zero. In float64 a sum is only known to
rounding of its largest term, and a coordinate with a scale of 1e-4 has terms of 1e8: set against them, a drift that is
doubled in another coordinate is nothing. So the sum is judged in parts.

blocks      coordinates that neither the current, the diffusion nor the log density couples: log p is a sum over
            blocks, each block is an SDE of its own, and its terms must sum to zero by themselves
taking part a term below rounding of what enters it is zero, and its size is no excuse for the others
floor       at a point where all terms are tiny (a mode at rest) rounding is not a residual: sizes are at least a
            millionth of the coordinate's lower quartile over the points; one far point does not move a quartile
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.sparse.csgraph import connected_components

ROUNDING = 1e-11
"""The size, relative to what enters a term, up to which it may be rounding; right reversible terms are some 1e-15."""
FLOOR = 1e-6
"""The smallest size of a term that counts, as a part of the coordinate's lower quartile over the points."""


class Residuals(NamedTuple):
    """The residuals of the Fokker-Planck equation at some points.

    relative: |sum| over the sizes that take part, for the worst block at each point
    total: that sum
    shares: each coordinate's share of it, over the points
    """

    relative: np.ndarray
    total: np.ndarray
    shares: np.ndarray


def residuals(terms: np.ndarray, sizes: np.ndarray, coupled: np.ndarray) -> Residuals:
    """Return the residuals block by block.

    terms, sizes: t_i and the sizes of what enters it (point, coordinate)
    coupled: which coordinates are coupled (n, n)
    """
    usual = FLOOR * np.quantile(sizes, 0.25, axis=0)
    sizes = np.maximum(sizes, usual)
    taking_part = np.abs(terms) > ROUNDING * sizes
    terms, used = np.where(taking_part, terms, 0), np.where(taking_part, sizes, 0)
    member = _membership(coupled)
    total, size = terms @ member, used @ member
    size = np.where(size > 0, size, 1)  # a block of zeros: its sum is zero too
    relative = np.abs(total) / size
    worst = relative.argmax(axis=1)
    # weights of 1 over the size, so that the blame, too, is judged on each block's own scale
    weight = (total / size / size) @ member.T
    blame = (weight * terms).sum(axis=0)
    rows = np.arange(len(terms))
    return Residuals(relative[rows, worst], total[rows, worst], blame / max(float(blame.sum()), np.finfo(float).tiny))


def _membership(coupled: np.ndarray) -> np.ndarray:
    """Return the matrix (coordinate, block) of zeros and ones."""
    count, label = connected_components(coupled, directed=False)
    return np.eye(count)[label]
