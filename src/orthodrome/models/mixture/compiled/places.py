"""The sticks of a batch in one loop: exchanges of places, slices, the concentration, and what is broken off the rest.

Exchanges of two places in the order of the sticks (Papaspiliopoulos & Roberts 2008): the law of the weights prefers
large clusters early, and a chain that only moves single rows cannot bring that about. Two proposals, with m the sizes
of the clusters in places j and l, of all rows, w the weights and v the sticks of the places:

    two clusters change places, the sticks stay:           min(1, (w_j / w_l)^(m_l - m_j))
    neighbours j, j + 1 change places with their sticks:   min(1, (1 - v_{j+1})^{m_j} / (1 - v_j)^{m_{j+1}})

An exchange that would leave the last of the places that are held without a row is refused: from where it leads, places
end earlier, and no proposal leads back. A place is an index into the slots, so no row is looked at. Then, J sticks
being held,

    u_i ~ U(0, w_{z_i});   alpha ~ Gamma(a + J, b - sum_j log(1 - v_j))  (erratum 001-8);
    (g_0, g_1) ~ (Gamma(1), Gamma(alpha)) broken off the rest until it is below the lowest u_i.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from orthodrome.kernels.elementary import log
from orthodrome.kernels.gammas import gamma
from orthodrome.kernels.generator import OPTIONS, source, uniform, word
from orthodrome.models.mixture.compiled.choices import LEVEL, random_of

_STREAM = np.uint64(1)
_LEAST = 1e-12


@njit(**OPTIONS)
def log_sum(x, y):  # type: ignore[no-untyped-def]
    """Return log(exp(x) + exp(y))."""
    top = max(x, y)
    return top + math.log1p(math.exp(min(x, y) - top))


@njit(**OPTIONS)
def log_gamma(stream, shape):  # type: ignore[no-untyped-def]
    """Draw the logarithm of a Gamma(shape, 1) number; below shape 1 by G(a) = G(a + 1) U^(1 / a)."""
    if shape >= 1.0:
        return math.log(gamma(stream, shape))
    return math.log(gamma(stream, shape + 1.0)) + log(uniform(word(stream))) / shape


@njit(**OPTIONS)
def weigh(sticks, held, log_weights):  # type: ignore[no-untyped-def]
    """Write the log weights of the sticks that are held; return the log of the rest."""
    rest = 0.0
    for j in range(held):
        total = log_sum(sticks[j, 0], sticks[j, 1])
        log_weights[j] = rest + sticks[j, 0] - total
        rest += sticks[j, 1] - total
    return rest


@njit(**OPTIONS)
def swap_places(stream, order, held, sticks, sizes, log_weights):  # type: ignore[no-untyped-def]
    """Propose one exchange of either kind, in place."""
    j = min(int(uniform(word(stream)) * held), held - 1)
    l = min(int(uniform(word(stream)) * (held - 1)), held - 2)  # noqa: E741
    l += l >= j  # noqa: E741
    weigh(sticks, held, log_weights)
    gain = (log_weights[j] - log_weights[l]) * float(sizes[order[l]] - sizes[order[j]])
    last = held - 1
    empties = (j == last and sizes[order[l]] == 0) or (l == last and sizes[order[j]] == 0)
    if log(uniform(word(stream))) < gain and not empties:
        order[j], order[l] = order[l], order[j]
    j = min(int(uniform(word(stream)) * (held - 1)), held - 2)
    first = sticks[j, 1] - log_sum(sticks[j, 0], sticks[j, 1])
    second = sticks[j + 1, 1] - log_sum(sticks[j + 1, 0], sticks[j + 1, 1])
    gain = second * float(sizes[order[j]]) - first * float(sizes[order[j + 1]])
    empties = j + 1 == last and sizes[order[j]] == 0
    if log(uniform(word(stream))) < gain and not empties:
        order[j], order[j + 1] = order[j + 1], order[j]
        for c in range(2):
            sticks[j, c], sticks[j + 1, c] = sticks[j + 1, c], sticks[j, c]


@njit(**OPTIONS)
def draw_concentration(stream, sticks, held, shape, rate):  # type: ignore[no-untyped-def]
    """Draw alpha given the sticks that are held; its prior is Gamma(shape, rate)."""
    for j in range(held):
        rate -= sticks[j, 1] - log_sum(sticks[j, 0], sticks[j, 1])
    return max(math.exp(log_gamma(stream, shape + held)) / rate, _LEAST)


@njit(**OPTIONS)
def slice_batch(seed, rows, labels, order, held, sticks, sizes, swaps, alpha, prior, levels, log_weights):  # type: ignore[no-untyped-def]
    """Exchange places, draw the slices of a batch and alpha, and break sticks off the rest.

    prior: shape and rate of alpha's prior, shape 0 to keep alpha. Written are `levels` (log u of every row, -inf where
    its label is -1), `log_weights` by place, and what is opened into `order` and `sticks`.
    Return the number of places now held, alpha, the log of the rest and the lowest level.
    """
    stream, slots = source(seed, _STREAM, np.uint64(0)), sizes.shape[0]
    if held > 1:
        for _ in range(swaps):
            swap_places(stream, order, held, sticks, sizes, log_weights)
    rest = weigh(sticks, held, log_weights)
    place = np.full(slots, -1, np.int32)
    for j in range(held):
        place[order[j]] = j
    lowest = 0.0
    for i in range(rows.shape[0]):
        slot = labels[rows[i]]
        levels[i] = log_weights[place[slot]] + log(random_of(seed, rows[i], LEVEL)) if slot >= 0 else -np.inf
        lowest = min(lowest, levels[i])
    if prior[0] > 0.0:
        alpha = draw_concentration(stream, sticks, held, prior[0], prior[1])
    free = 0
    while rest > lowest:
        while free < slots and place[free] >= 0:
            free += 1
        if free == slots:
            break
        first, second = log_gamma(stream, 1.0), log_gamma(stream, alpha)
        total = log_sum(first, second)
        sticks[held, 0], sticks[held, 1], order[held] = first, second, free
        log_weights[held] = rest + first - total
        rest += second - total
        held, free = held + 1, free + 1
    return held, alpha, rest, lowest
