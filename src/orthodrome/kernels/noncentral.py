"""Noncentral Gamma numbers, vectorised: G(a, r) ~ Gamma(a + I, 1) with I ~ Poisson(r), any shape a > 0, as logarithms.

G(a, r) is half a noncentral chi-square number with 2 a degrees of freedom and noncentrality 2 r. No Poisson count is
drawn: such numbers add up, G(a + b, r) = G(a, r) + G(b, 0), and with N normal, E exponential and phi a uniform angle

  G(1/2, r) = (N + sqrt(2 r))^2 / 2,     G(1, r) = |sqrt(r) + sqrt(E) exp(i phi)|^2,
  G(0, r)   = 0 if E > r, else G(1, r - E)                 (given the first arrival E, I = 1 + Poisson(r - E)).

So each element runs through one of three vectorised loops:

  a < 1/2         G(0, r) + Gamma(a), the second by Ahrens & Dieter's GS method, which gives its logarithm;
  1/2 <= a < 3/2  G(1/2, r) or G(1, r), plus Gamma of what is left of the shape;
  a >= 3/2        G(1/2, r) + Gamma(a - 1/2), the second by Marsaglia & Tsang's method.

Draws that fail a test of acceptance are drawn again. Everything is exact up to rounding in float64, and the
logarithm is finite where the number itself would underflow.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from orthodrome.kernels.elementary import direction, exp, log, log_complement
from orthodrome.kernels.gammas import gamma, gamma_accepted
from orthodrome.kernels.generator import OPTIONS, fill, uniform, word

_BELOW_ONE = 1.0 - 2.0**-53
_TINY = 1e-300
_TAIL = 2.0
_HALF_AND_THIRD = 0.5 + 1.0 / 3.0


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
    """Propose by GS; a margin above zero says that the proposal is accepted.

    log G = -Exp(1) / a, accepted with probability exp(-G); except in a share a / (a + e) of the proposals, the tail,
    where G = 1 + Exp(1), accepted with probability G^(a - 1).
    """
    count = shapes.shape[0]
    words, coins = np.empty(count, np.uint64), np.empty(count, np.uint64)
    fill(stream, words)
    fill(stream, coins)
    for i in range(count):
        a = shapes[i]
        # a uniform number above the tail's share, stretched to (0, 1): fine near zero, where G is not tiny
        v = (uniform(words[i]) * (a + math.e) - a) * (1.0 / math.e)
        log_g = log_complement(min(max(v, 0.0), _BELOW_ONE)) / a
        found[i] = log_g
        margins[i] = 1.0 - exp(log_g) - uniform(coins[i]) if v > 0.0 else -_TAIL  # exp(-G) > 1 - G
    for i in range(count):
        if margins[i] == -_TAIL:
            found[i] = math.log(1.0 - log(uniform(word(stream))))
            margins[i] = (shapes[i] - 1.0) * found[i] - log(uniform(coins[i]))
        elif margins[i] <= 0.0:
            margins[i] = exp(-exp(found[i])) - uniform(coins[i])


@njit(**OPTIONS)
def complex_normal(length, turn, rate):  # type: ignore[no-untyped-def]
    """Return G(1, rate) from two random words."""
    radius = math.sqrt(-log(uniform(length)))
    cosine, sine = direction(turn)
    real, imaginary = math.sqrt(rate) + radius * cosine, radius * sine
    return real * real + imaginary * imaginary


@njit(**OPTIONS)
def fill_small(stream, shapes, rates, found):  # type: ignore[no-untyped-def]
    """Draw log G(a, r) for shapes below 1/2."""
    count = shapes.shape[0]
    arrivals, where, left = np.empty(count, np.uint64), np.empty(count + 1, np.int64), np.empty(count)
    fill_log_gamma(stream, shapes, found)
    fill(stream, arrivals)
    possible = 0
    for i in range(count):  # an arrival before r needs V < 1 - exp(-r) < r
        where[possible] = i
        possible += uniform(arrivals[i]) < rates[i]
    for j in range(possible):
        arrivals[j], left[j] = arrivals[where[j]], rates[where[j]]
    for j in range(possible):
        left[j] += log_complement(min(uniform(arrivals[j]), _BELOW_ONE))
    _add_arrived(stream, where[:possible], left[:possible], found)


@njit(**OPTIONS)
def _add_arrived(stream, where, left, found):  # type: ignore[no-untyped-def]
    """Add G(1, left) to exp(found) wherever something is left of the rate after the first arrival."""
    count = where.shape[0]
    lengths, turns, sums = np.empty(count, np.uint64), np.empty(count, np.uint64), np.empty(count)
    fill(stream, lengths)
    fill(stream, turns)
    for j in range(count):
        sums[j] = found[where[j]]
    for j in range(count):
        sums[j] = log(exp(sums[j]) + complex_normal(lengths[j], turns[j], max(left[j], 0.0)) + _TINY)
    for j in range(count):
        if left[j] > 0.0:
            found[where[j]] = sums[j]


@njit(**OPTIONS)
def fill_middle(stream, shapes, rates, found):  # type: ignore[no-untyped-def]
    """Draw log G(a, r) for shapes from 1/2 to 3/2."""
    count = shapes.shape[0]
    lengths, turns = np.empty(count, np.uint64), np.empty(count, np.uint64)
    fill(stream, lengths)
    fill(stream, turns)
    for i in range(count):
        radius = math.sqrt(-2.0 * log(uniform(lengths[i])))
        x, y = direction(turns[i])
        x, y = radius * x + math.sqrt(2.0 * rates[i]), radius * y
        found[i] = 0.5 * (x * x + (y * y if shapes[i] >= 1.0 else 0.0))
    _add_remainder(stream, shapes, found)
    for i in range(count):
        found[i] = log(found[i] + _TINY)


@njit(**OPTIONS)
def _add_remainder(stream, shapes, found):  # type: ignore[no-untyped-def]
    """Add a Gamma number of the shape that is left after taking away 1/2 or 1."""
    count, some = shapes.shape[0], 0
    where, rest = np.empty(count + 1, np.int64), np.empty(count + 1)
    for i in range(count):
        left = shapes[i] - (1.0 if shapes[i] >= 1.0 else 0.5)
        where[some], rest[some] = i, left
        some += left > 0.0
    logs = np.empty(some)
    fill_log_gamma(stream, rest[:some], logs)
    for j in range(some):
        logs[j] = exp(logs[j])
    for j in range(some):
        found[where[j]] += logs[j]


@njit(**OPTIONS)
def fill_large(stream, shapes, rates, found):  # type: ignore[no-untyped-def]
    """Draw log G(a, r) for shapes of at least 3/2: one Box-Muller pair serves both terms."""
    count = shapes.shape[0]
    lengths, turns, coins = np.empty(count, np.uint64), np.empty(count, np.uint64), np.empty(count, np.uint64)
    normals, values, passed = np.empty(count), np.empty(count), np.empty(count)
    fill(stream, lengths)
    fill(stream, turns)
    fill(stream, coins)
    for i in range(count):
        radius = math.sqrt(-2.0 * log(uniform(lengths[i])))
        x, y = direction(turns[i])
        x, y = x * radius, y * radius + math.sqrt(2.0 * rates[i])
        d = shapes[i] - _HALF_AND_THIRD
        t = 1.0 + x / math.sqrt(9.0 * d)
        normals[i], values[i], found[i] = x, d * (t * t * t), 0.5 * (y * y)
        passed[i] = (1.0 - 0.0331 * (x * x) * (x * x)) - uniform(coins[i]) if t > 0.0 else -1.0
    for i in range(count):
        if passed[i] <= 0.0:
            values[i] = _kept_or_redrawn(stream, shapes[i], normals[i], values[i], uniform(coins[i]))
    for i in range(count):
        found[i] = log(found[i] + values[i] + _TINY)


@njit(**OPTIONS)
def _kept_or_redrawn(stream, shape, x, value, coin):  # type: ignore[no-untyped-def]
    """Return Marsaglia & Tsang's proposal if its test accepts it, else a new draw."""
    d = shape - _HALF_AND_THIRD
    if value > 0.0 and gamma_accepted(x, value / d, d, coin):
        return value
    return gamma(stream, shape - 0.5)
