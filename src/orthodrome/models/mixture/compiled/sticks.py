"""One step of all sticks by SCIR: the shapes that rows give them, totals drawn anew, and the exact transition.

A stick is a pair (log g_0, log g_1), v = g_0 / (g_0 + g_1). With m_j the rows of place j the pair has the shapes
(1 + m_j, alpha + sum_{l>j} m_l), and its total the law Gamma(1 + alpha + sum_{l>=j} m_l), independently of v.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from orthodrome.kernels.cir import draw_transitions
from orthodrome.kernels.generator import OPTIONS, source
from orthodrome.models.mixture.compiled.places import log_gamma, log_sum

_TRANSITIONS, _TOTALS = np.uint64(0), np.uint64(1)
"""Streams of a seed."""


@njit(**OPTIONS)
def stick_shapes(alpha, statistics, lines):  # type: ignore[no-untyped-def]
    """Return the shapes of every pair; the first column of the statistics is m, that of place j in line `lines[j]`."""
    found, behind = np.empty((lines.shape[0], 2)), 0.0
    for j in range(lines.shape[0] - 1, -1, -1):
        m = statistics[lines[j], 0]
        found[j, 0], found[j, 1] = 1.0 + m, alpha + behind
        behind += m
    return found


@njit(**OPTIONS)
def advance_sticks(seed, sticks, shapes, log_factor, log_scale, renew):  # type: ignore[no-untyped-def]
    """Return the pairs after a CIR transition; renew: from totals that are drawn given the shapes, with the same v."""
    found = sticks.copy()
    if renew:
        stream = source(seed, _TRANSITIONS, _TOTALS)
        for j in range(found.shape[0]):
            total = log_gamma(stream, shapes[j, 0] + shapes[j, 1]) - log_sum(found[j, 0], found[j, 1])
            found[j, 0] += total
            found[j, 1] += total
    stream = source(seed, _TRANSITIONS, _TRANSITIONS)
    draw_transitions(stream, found.reshape(-1), shapes.reshape(-1), log_factor, log_scale)
    return found
