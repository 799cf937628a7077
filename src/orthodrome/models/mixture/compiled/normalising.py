"""Logarithms of shares from logarithms of weights, in every block of columns.

A sum, or a maximum, of numbers one after the other waits for each addition to end; so there are four of each, which are
put together in the end. The order of all operations is written down: results do not depend on the machine.
"""

from __future__ import annotations

import numpy as np
from numba import njit, prange

from orthodrome.kernels.elementary import exp
from orthodrome.kernels.generator import OPTIONS


@njit(**OPTIONS)
def sum_of(x):  # type: ignore[no-untyped-def]
    """Return the sum of some numbers."""
    a = b = c = d = 0.0
    whole = x.shape[0] // 4 * 4
    for i in range(0, whole, 4):
        a += x[i]
        b += x[i + 1]
        c += x[i + 2]
        d += x[i + 3]
    for i in range(whole, x.shape[0]):
        a += x[i]
    return (a + b) + (c + d)


@njit(**OPTIONS)
def top_of(x):  # type: ignore[no-untyped-def]
    """Return the largest of some numbers."""
    a = b = c = d = -np.inf
    whole = x.shape[0] // 4 * 4
    for i in range(0, whole, 4):
        a = max(a, x[i])
        b = max(b, x[i + 1])
        c = max(c, x[i + 2])
        d = max(d, x[i + 3])
    for i in range(whole, x.shape[0]):
        a = max(a, x[i])
    return max(max(a, b), max(c, d))


@njit(**OPTIONS)
def normalise_line(logs, bounds, found):  # type: ignore[no-untyped-def]
    """Write logs minus the logarithm of the sum of their exponentials, in every block of columns."""
    for b in range(bounds.shape[0] - 1):
        own, parts = logs[bounds[b] : bounds[b + 1]], found[bounds[b] : bounds[b + 1]]
        top = top_of(own)
        for c in range(own.shape[0]):
            parts[c] = exp(own[c] - top)
        shift = top + np.log(sum_of(parts))
        for c in range(own.shape[0]):
            parts[c] = own[c] - shift


@njit(parallel=True, **OPTIONS)
def normalise_logs(logs, bounds, found):  # type: ignore[no-untyped-def]
    """Write the normalised logarithms of every line."""
    for k in prange(logs.shape[0]):
        normalise_line(logs[k], bounds, found[k])
