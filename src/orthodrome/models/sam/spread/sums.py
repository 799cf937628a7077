"""Sums over all documents that are the same bits however the documents are divided among processes.

The gradient of kappa1 sum_d c_d in the topics (erratum 3.5) is kappa1 (v' W - beta sum_d M_d). Every term of v' W, of
sum_d M_d and of sum_d c_d is rounded to a multiple of a unit, a power of two, and added as a whole number of 64 bits:
exact, so that neither threads nor processes nor who comes first changes anything.

The unit. theta is on the simplex and q^2 = theta' G theta, so

    (theta_k / q)^2 <= r = 1 / (least eigenvalue of G),    and r = 1 if G has no negative entry;

|v W| <= r^(1/2), |M| <= r and |c| <= 1. With D terms a unit of 2^-(60 - log2 D - log2 bound) leaves room for all; terms
are then rounded at 1e-11 of their bound for a million documents, their sum in proportion to the root of that.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from orthodrome.core.types import Reals
from orthodrome.models.sam.batch import View
from orthodrome.models.sam.kernels.fixed import fixed_products, fixed_statistics
from orthodrome.run.parallel import Team

BITS, LEAST = 60, 2.0**-20
"""Bits of a sum, two less than there are; and an eigenvalue below which topics cancel each other."""


class Whole(NamedTuple):
    """Of all documents of all processes: v' W (K, V), the sum of M (K, K), and the mean of c."""

    linear: Reals
    moment: Reals
    cosine: float


def unit_of(count: int, bound: float) -> float:
    """Return the number of units in one, a power of two, for sums of so many terms of at most this size."""
    return 2.0 ** (BITS - math.ceil(math.log2(count)) - math.ceil(math.log2(bound)))


def bound_of(gram: Reals) -> float:
    """Return r, which (theta_k / q)^2 does not exceed, up to rounding."""
    if gram.min() >= 0:
        return 1.0
    return 1.0 / max(float(np.linalg.eigvalsh(gram.astype(np.float64))[0]), LEAST)


def sums_of_all(view: View, draws: Reals, count: int, team: Team) -> Whole:
    """Return the sums over all documents, of which the view has those of this process; count: D.

    They are not numbers where the topics are none, or where they cancel each other so that a term is above its bound.
    """
    size, data = view.b.shape[1], view.documents
    if not np.isfinite(view.gram).all():
        return _nothing(size, data.num_words)
    bound = 2.0 * bound_of(view.gram[:size, :size])
    units = unit_of(count, bound), unit_of(count, math.sqrt(bound)), unit_of(count, 2.0)
    found, moment, largest = fixed_statistics(view.gram, view.b, draws, units[0])
    weights = np.ascontiguousarray(found[:, :size])
    linear = fixed_products(data.num_words, data.indptr, data.indices, data.values, weights, units[1])
    square = float(np.max(weights, initial=0.0)) ** 2
    cosine = np.rint(found[:, size] * units[2]).astype(np.int64).sum(keepdims=True)
    wrong = np.array([not max(largest, square) <= bound], np.int64)
    parts = [moment.reshape(-1), linear.reshape(-1), cosine, wrong]
    total = parts if team.processes == 1 else np.split(team.total(np.concatenate(parts)), np.cumsum(_sizes(parts)))
    if total[3][0]:
        return _nothing(size, data.num_words)
    whole = [part / unit for part, unit in zip(total, units, strict=False)]
    return Whole(whole[1].reshape(linear.shape), whole[0].reshape(size, size), float(whole[2][0]) / count)


def mean_of_all(values: Reals, count: int, team: Team) -> float:
    """Return the mean of numbers between 0 and 1 over all documents, of which these are those of this process."""
    unit = unit_of(count, 2.0)
    return float(team.total(np.rint(values * unit).astype(np.int64).sum(keepdims=True))[0]) / unit / count


def _nothing(size: int, num_words: int) -> Whole:
    return Whole(np.full((size, num_words), np.nan), np.full((size, size), np.nan), math.nan)


def _sizes(parts: list[np.ndarray]) -> list[int]:
    return [part.size for part in parts[:-1]]
