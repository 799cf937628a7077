"""Noncentral Gamma numbers, vectorised: G(a, r) ~ Gamma(a + I, 1) with I ~ Poisson(r), any shape a > 0, as logarithms.

G(a, r) is half a noncentral chi-square number with 2 a degrees of freedom and noncentrality 2 r. No Poisson count is
drawn: such numbers add up, G(a + b, r) = G(a, r) + G(b, 0), and with N normal, E exponential and phi a uniform angle

  G(1/2, r) = (N + sqrt(2 r))^2 / 2,     G(1, r) = |sqrt(r) + sqrt(E) exp(i phi)|^2,
  G(0, r)   = 0 if E > r, else G(1, r - E)                 (given the first arrival E, I = 1 + Poisson(r - E)).

So each element runs through one of four vectorised loops:

  a < 1/2         G(0, r) + Gamma(a), the second by its logarithm (`kernels.small_gammas`);
  1/2 <= a < 1    G(1/2, r), and Gamma of what is left of the shape;
  1 <= a < 3/2    G(1, r), and the same;
  a >= 3/2        G(1/2, r) + Gamma(a - 1/2), the second by Marsaglia & Tsang's method.

Draws that fail a test of acceptance are drawn again. Everything is exact up to rounding in float64, and the
logarithm is finite where the number itself would underflow.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from orthodrome.kernels.elementary import direction, exp, log, log_complement
from orthodrome.kernels.gammas import gamma
from orthodrome.kernels.generator import OPTIONS, fill, uniform
from orthodrome.kernels.small_gammas import BELOW_ONE, fill_log_gamma

_TINY = 1e-300
_HALF_AND_THIRD = 0.5 + 1.0 / 3.0


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
        left[j] += log_complement(min(uniform(arrivals[j]), BELOW_ONE))
    arrived = 0
    for j in range(possible):
        where[arrived], left[arrived] = where[j], left[j]
        arrived += left[j] > 0.0
    _add_arrived(stream, where[:arrived], left[:arrived], found)


@njit(**OPTIONS)
def _add_arrived(stream, where, left, found):  # type: ignore[no-untyped-def]
    """Add G(1, left), what is left of the rates after the first arrivals, to exp(found) in some places."""
    count = where.shape[0]
    lengths, turns, sums = np.empty(count, np.uint64), np.empty(count, np.uint64), np.empty(count)
    fill(stream, lengths)
    fill(stream, turns)
    for j in range(count):
        sums[j] = found[where[j]]
    # two loops, and no function of its own for G(1, r): a longer body is not inlined, and then not vectorised
    for j in range(count):
        radius = math.sqrt(-log(uniform(lengths[j])))
        x, y = direction(turns[j])
        x, y = radius * x + math.sqrt(left[j]), radius * y
        left[j] = x * x + y * y
    for j in range(count):
        sums[j] = log(exp(sums[j]) + left[j] + _TINY)
    for j in range(count):
        found[where[j]] = sums[j]


@njit(**OPTIONS)
def fill_half(stream, shapes, rates, found):  # type: ignore[no-untyped-def]
    """Draw log G(a, r) for shapes from 1/2 to 1: one Box-Muller pair serves two elements."""
    count = shapes.shape[0]
    pairs = (count + 1) // 2
    lengths, turns, normals = np.empty(pairs, np.uint64), np.empty(pairs, np.uint64), np.empty(2 * pairs)
    fill(stream, lengths)
    fill(stream, turns)
    for j in range(pairs):
        radius = math.sqrt(-2.0 * log(uniform(lengths[j])))
        x, y = direction(turns[j])
        normals[j], normals[pairs + j] = radius * x, radius * y
    for i in range(count):
        x = normals[i] + math.sqrt(2.0 * rates[i])
        found[i] = 0.5 * (x * x)
    _add_remainder(stream, shapes, 0.5, found)
    for i in range(count):
        found[i] = log(found[i] + _TINY)


@njit(**OPTIONS)
def fill_one(stream, shapes, rates, found):  # type: ignore[no-untyped-def]
    """Draw log G(a, r) for shapes from 1 to 3/2."""
    count = shapes.shape[0]
    lengths, turns = np.empty(count, np.uint64), np.empty(count, np.uint64)
    fill(stream, lengths)
    fill(stream, turns)
    for i in range(count):
        radius = math.sqrt(-log(uniform(lengths[i])))
        x, y = direction(turns[i])
        x, y = radius * x + math.sqrt(rates[i]), radius * y
        found[i] = x * x + y * y
    _add_remainder(stream, shapes, 1.0, found)
    for i in range(count):
        found[i] = log(found[i] + _TINY)


@njit(**OPTIONS)
def _add_remainder(stream, shapes, taken, found):  # type: ignore[no-untyped-def]
    """Add a Gamma number of the shape that is left after taking away 1/2 or 1."""
    count, some = shapes.shape[0], 0
    where, rest = np.empty(count + 1, np.int64), np.empty(count + 1)
    for i in range(count):
        where[some], rest[some] = i, shapes[i] - taken
        some += shapes[i] > taken
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
    _test_again(stream, shapes, normals, coins, passed, values)
    for i in range(count):
        found[i] = log(found[i] + values[i] + _TINY)


@njit(**OPTIONS)
def _test_again(stream, shapes, normals, coins, passed, values):  # type: ignore[no-untyped-def]
    """Compare the coins that the quick test leaves open, one in ten, with the density itself; draw anew what fails.

    log U < x^2 / 2 + d (1 - v + log v) accepts the value d v, as in `kernels.gammas`.
    """
    count, some = shapes.shape[0], 0
    where = np.empty(count + 1, np.int64)
    for i in range(count):
        where[some] = i
        some += passed[i] <= 0.0
    d, v, x, chances = np.empty(some), np.empty(some), np.empty(some), np.empty(some)
    for j in range(some):
        i = where[j]
        d[j], v[j], x[j], chances[j] = shapes[i] - _HALF_AND_THIRD, values[i], normals[i], uniform(coins[i])
    for j in range(some):
        ratio = max(v[j] / d[j], _TINY)
        x[j] = 0.5 * x[j] * x[j] + d[j] * (1.0 - ratio + log(ratio)) - log(chances[j])
    for j in range(some):
        if not (v[j] > 0.0 and x[j] > 0.0):
            values[where[j]] = gamma(stream, shapes[where[j]] - 0.5)
