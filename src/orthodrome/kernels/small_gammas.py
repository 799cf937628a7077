"""Logarithms of Gamma(a, 1) numbers for shapes 0 < a < 1, vectorised: Ahrens & Dieter's GS method.

    log G = -Exp(1) / a, accepted with probability exp(-G); except in a share a / (a + e) of the proposals, the tail,
    where G = 1 + Exp(1), accepted with probability G^(a - 1).

No exponential of G decides: with p = 1 - G + G^2 / 2 - G^3 / 6, p < exp(-G) < p + G^4 / 24, and a coin falls between
the two once in some hundred times. A loop is vectorised only if it has neither calls nor branches, so what is rare (the
tail, and coins between the bounds) is marked, brought together and done in loops of its own.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from orthodrome.kernels.elementary import exp, log, log_complement
from orthodrome.kernels.generator import OPTIONS, fill, uniform

BELOW_ONE = 1.0 - 2.0**-53
_TAIL, _UNSURE = -2.0, -3.0


@njit(**OPTIONS)
def fill_log_gamma(stream, shapes, found):  # type: ignore[no-untyped-def]
    """Draw the logarithms of Gamma(a, 1) numbers for shapes 0 < a < 1: all at once, then again what was rejected."""
    where, margins = np.empty(shapes.shape[0] + 1, np.int64), np.empty(shapes.shape[0])
    _attempt(stream, shapes, found, margins)
    missing = 0
    for i in range(shapes.shape[0]):
        where[missing] = i
        missing += margins[i] <= 0.0
    own, again = np.empty(missing), np.empty(missing)
    while missing > 0:
        for j in range(missing):
            own[j] = shapes[where[j]]
        _attempt(stream, own[:missing], again, margins)
        tried, missing = missing, 0
        for j in range(tried):
            found[where[j]] = again[j]
            where[missing] = where[j]
            missing += margins[j] <= 0.0


@njit(**OPTIONS)
def _attempt(stream, shapes, found, margins):  # type: ignore[no-untyped-def]
    """Propose by GS; a margin above zero says that the proposal is accepted."""
    count = shapes.shape[0]
    words, coins, marked = np.empty(count, np.uint64), np.empty(count, np.uint64), np.empty(count + 1, np.int64)
    fill(stream, words)
    fill(stream, coins)
    for i in range(count):
        a = shapes[i]
        # a uniform number above the tail's share, stretched to (0, 1): fine near zero, where G is not tiny
        v = (uniform(words[i]) * (a + math.e) - a) * (1.0 / math.e)
        found[i], margins[i] = log_complement(min(max(v, 0.0), BELOW_ONE)) / a, v
    for i in range(count):
        g, coin = exp(found[i]), uniform(coins[i])
        lower = 1.0 - g * (1.0 - g * (0.5 - g * (1.0 / 6.0)))
        upper = lower + (g * g) * (g * g) * (1.0 / 24.0) - coin
        lower -= coin
        margin = lower if lower > 0.0 else (upper if upper <= 0.0 else _UNSURE)
        margins[i] = margin if margins[i] > 0.0 else _TAIL
    some = 0
    for i in range(count):
        marked[some] = i
        some += margins[i] <= _TAIL
    _decide(stream, marked[:some], coins, shapes, found, margins)


@njit(**OPTIONS)
def _decide(stream, marked, coins, shapes, found, margins):  # type: ignore[no-untyped-def]
    """Propose in the tail, and compare coins between the bounds with exp(-G) itself."""
    count = marked.shape[0]
    words, chances, powers = np.empty(count, np.uint64), np.empty(count), np.empty(count)
    logs = np.empty(count)
    fill(stream, words)
    for j in range(count):
        chances[j], powers[j] = uniform(coins[marked[j]]), shapes[marked[j]] - 1.0
    for j in range(count):
        logs[j] = log(1.0 - log(uniform(words[j])))
        powers[j] = powers[j] * logs[j] - log(chances[j])
    for j in range(count):
        i = marked[j]
        if margins[i] == _TAIL:
            found[i], margins[i] = logs[j], powers[j]
        else:
            margins[i] = exp(-exp(found[i])) - chances[j]
