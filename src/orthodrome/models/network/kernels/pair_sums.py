"""Sums over all pairs of a network: the log likelihood of the eigenmodel and its gradient, in one pass.

    eta_ij = c + sum_r L_r u_ir u_jr,     g_ij = Y_ij (log F)'(Y_ij eta_ij),     Y = 1 (edge), -1 (none) or 0 (unknown)

    d / dc = sum_{i<j} g_ij,     d / dU = (g U) L,     d / dL_r = u_r' g u_r / 2        with the symmetric matrix g.

A row of pairs is a few lanes of sixteen; lanes at or below the diagonal and beyond the last node have Y = 0, and so no
slope. Numbers of a pair are float32, as are sums over a row; sums over rows are float64.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from orthodrome.core.pytree import pytree
from orthodrome.core.types import Reals
from orthodrome.kernels.lanes import LANES, fused, load, splat, store
from orthodrome.kernels.vectors.elementary import OPTIONS, log
from orthodrome.models.network.kernels.link_lanes import logit, probit


@pytree
class PairTable:
    """The signs Y of the pairs, row by row.

    signs: (lines, LANES), the lines of all rows one after the other
    first: (m,), the block of columns that a row begins with
    num_known: the number of pairs whose edge is known
    """

    signs: NDArray[np.float32]
    first: NDArray[np.int64]
    num_known: Any


def pair_table(edges: Reals) -> PairTable:
    """Return the table of an adjacency matrix with the entries 1, 0 and NaN (unknown)."""
    m, blocks = len(edges), -(-len(edges) // LANES)
    known = np.triu(np.isfinite(edges), 1)
    wide = np.zeros((m, blocks * LANES), np.float32)
    wide[:, :m] = np.where(known, np.where(edges > 0, 1.0, -1.0), 0.0)
    first = (np.arange(m, dtype=np.int64) + 1) // LANES
    lines = [row.reshape(blocks, LANES)[begin:] for row, begin in zip(wide, first, strict=True)]
    return PairTable(np.ascontiguousarray(np.concatenate(lines)), first, int(known.sum()))


@njit(**OPTIONS)
def _link(is_probit, z):  # type: ignore[no-untyped-def]
    return probit(z) if is_probit else logit(z)


@njit(**OPTIONS)
def pair_pass(is_probit, signs, first, frame, values, intercept, product, valued):  # type: ignore[no-untyped-def]
    """Write g U into `product`; return sum_{i<j} g_ij and, if `valued`, sum_{i<j} log F(Y_ij eta_ij) over all lanes.

    frame: (p, m), a column of U in a row; product: the same shape
    """
    p, m = frame.shape
    blocks = (m + LANES - 1) // LANES
    columns, sums = np.zeros((p * blocks, LANES), np.float32), np.zeros((p * blocks, LANES), np.float32)
    flat, flat_sums = columns.reshape(p, blocks * LANES), sums.reshape(p, blocks * LANES)
    own, scaled = np.zeros((p + 2, LANES), np.float32), np.empty(p, np.float32)
    for r in range(p):
        for i in range(m):
            flat[r, i] = frame[r, i]
    line, slopes, logs = 0, 0.0, 0.0
    for i in range(m):
        for r in range(p):
            scaled[r] = flat[r, i] * values[r]
            store(own, r, splat(own, 0.0))
        total, height = splat(own, 0.0), splat(own, 0.0)
        for b in range(first[i], blocks):
            eta = splat(own, intercept)
            for r in range(p):
                eta = fused(splat(own, scaled[r]), load(columns, r * blocks + b), eta)
            sign = load(signs, line)
            slope, r_, minus = _link(is_probit, sign * eta)
            g = sign * slope
            total = total + g
            if valued:
                height = height - (log(r_) + minus)
            for r in range(p):
                at = r * blocks + b
                store(own, r, fused(g, load(columns, at), load(own, r)))
                store(sums, at, fused(g, splat(own, flat[r, i]), load(sums, at)))
            line += 1
        store(own, p, total)
        store(own, p + 1, height)
        for lane in range(LANES):
            slopes += own[p, lane]
            logs += own[p + 1, lane]
        for r in range(p):
            product[r, i] = 0.0
            for lane in range(LANES):
                product[r, i] += own[r, lane]
    for r in range(p):
        for i in range(m):
            product[r, i] += flat_sums[r, i]
    return slopes, logs
