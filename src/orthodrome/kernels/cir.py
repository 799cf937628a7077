"""The exact transition of the Cox-Ingersoll-Ross process, for large arrays of log weights on a CPU.

Over a time h, theta' = scale * G(a, factor * theta) with the noncentral Gamma number G of `kernels.noncentral`.
Elements are drawn in blocks, each with its own random stream, so the draws do not depend on the number of threads.
Within a block the elements are sorted by the class of their shape: in topics of words most shapes are the prior's.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from orthodrome.kernels.elementary import exp
from orthodrome.kernels.generator import OPTIONS, source
from orthodrome.kernels.noncentral import fill_half, fill_large, fill_one, fill_small
from orthodrome.kernels.threads.blocks import over_blocks

BLOCK = 1024
"""The number of elements that share a stream; a part of the definition of the draws, not a tuning constant."""

BLOCKS_OF_A_PART = 16
"""Blocks that a thread takes at a time: a millisecond's work. It makes no difference to the draws."""


@njit(**OPTIONS)
def _sort(shapes, order):  # type: ignore[no-untyped-def]
    """Write the elements into `order`, grouped by class; return where the first three classes end."""
    small = 0
    for i in range(shapes.shape[0]):
        order[small] = i
        small += shapes[i] < 0.5
    half = small
    for i in range(shapes.shape[0]):
        order[half] = i
        half += (shapes[i] >= 0.5) & (shapes[i] < 1.0)
    one = half
    for i in range(shapes.shape[0]):
        order[one] = i
        one += (shapes[i] >= 1.0) & (shapes[i] < 1.5)
    large = one
    for i in range(shapes.shape[0]):
        order[large] = i
        large += shapes[i] >= 1.5
    return small, half, one


@njit(**OPTIONS)
def draw_transitions(stream, log_theta, shapes, log_factor, log_scale):  # type: ignore[no-untyped-def]
    """Draw the transitions of a block, log theta into log theta', in place."""
    count = shapes.shape[0]
    order, rates, own, found = np.empty(count + 1, np.int64), np.empty(count), np.empty(count), np.empty(count)
    small, half, one = _sort(shapes, order)
    for i in range(count):
        rates[i], own[i] = log_theta[order[i]], shapes[order[i]]
    for i in range(count):
        rates[i] = exp(rates[i] + log_factor)
    if small > 0:
        fill_small(stream, own[:small], rates[:small], found[:small])
    if half > small:
        fill_half(stream, own[small:half], rates[small:half], found[small:half])
    if one > half:
        fill_one(stream, own[half:one], rates[half:one], found[half:one])
    if one < count:
        fill_large(stream, own[one:], rates[one:], found[one:])
    for i in range(count):
        log_theta[order[i]] = found[i] + log_scale


@njit(**OPTIONS)
def advance_part(  # type: ignore[no-untyped-def]
    part, thread, parts, seed, step, first, log_theta, prior, scale, counts, log_factor, log_scale, out
):
    """Draw the transitions of one of so many parts of an array; the thread does not matter."""
    size = log_theta.shape[0]
    blocks = (size + BLOCK - 1) // BLOCK
    for block in range(part * blocks // parts, (part + 1) * blocks // parts):
        begin, count = block * BLOCK, min(BLOCK, size - block * BLOCK)
        logs, shapes = np.empty(count), np.empty(count)  # float64 whatever the storage, so that one kernel serves all
        for i in range(count):
            logs[i], shapes[i] = log_theta[begin + i], prior + scale * counts[begin + i]
        draw_transitions(source(seed, step, first + block), logs, shapes, log_factor, log_scale)
        for i in range(count):
            out[begin + i] = logs[i]


def advance(seed: Any, step: int, first: int, log_theta: Any, *given: Any) -> None:
    """Draw the transitions of a flat array of log weights with the shapes prior + scale * counts.

    first: the number of the array's first block in a larger array of which it is a part
    given: prior, scale, counts, log_factor, log_scale, out
    """
    parts = max(1, log_theta.shape[0] // (BLOCK * BLOCKS_OF_A_PART))
    over_blocks(advance_part, parts, parts, seed, step, first, log_theta, *given)
