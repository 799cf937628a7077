"""B O B A of all topics word by word, from the parts of the gradient: the sparse rows, then two passes.

gradient = moment beta + scale sum_s v_s W_s' + prior (a multiple of sum_k beta_k and of m) + share of the memory
"""

from __future__ import annotations

import numpy as np
from numba import njit

from orthodrome.models.sam.kernels.density import OPTIONS
from orthodrome.models.sam.kernels.gradient import gradient_parts, remember
from orthodrome.models.sam.kernels.kick import kick
from orthodrome.models.sam.kernels.turn import turn
from orthodrome.models.sam.kernels.words import add_by_word

LEAST = 0.01


@njit(**OPTIONS)
def advance(  # type: ignore[no-untyped-def]
    x, v, num_words, sparse, weights, scale, moment, mean, centre, linear, share, h, damp, deviation, time, seed, step
):
    """Apply B, O, B, and then A for the time, in place; x, v: (V', K'). Returns what `turn` does.

    sparse: the three arrays of the documents and the rows; weights: (S, K); moment: (K, K)
    mean: (V',), of which the gradient has `centre` times; linear: (V', K'), of which it has `share`, or (0, K')
    """
    width, size, keep, push = x.shape[1], moment.shape[0], damp * damp, damp * h
    if keep < LEAST:  # below, documents are divided by it
        for word in range(x.shape[0]):
            for k in range(width):
                v[word, k] *= keep
        keep = 1.0
    add_by_word(v, *sparse, weights, push * scale / keep)
    matrix, drift, deviations = np.zeros((size, width), x.dtype), np.zeros(width, x.dtype), np.zeros(width, x.dtype)
    for k in range(size):
        drift[k], deviations[k] = push * centre, damp * deviation
        for j in range(size):
            matrix[j, k] = push * moment[k, j]
    dense = (matrix, mean, drift, linear, push * share)
    return turn(x, v, mean, kick(x, v, size, num_words, *dense, keep, deviations, seed, step), time)


@njit(**OPTIONS)
def gradient_and_advance(  # type: ignore[no-untyped-def]
    x, v, sparse, gram, b, draws, memory, scale, kappa, mean, prior, letters, seed, step
):
    """Find the gradient of a batch and `advance` by it; the memory, if it has rows, learns.

    memory: table, linear and square; prior: the multiples of sum_k beta_k and of m in the prior's gradient
    letters: V, h, d, the deviation of the noise, and the time of A
    Returns what `turn` does, and the three numbers of `gradient_parts`.
    """
    table, linear, square = memory
    parts = gradient_parts(gram, b, draws, sparse[3], table, square, scale, kappa)
    moment, change, seen = parts[:3]
    for k in range(moment.shape[0]):
        for j in range(moment.shape[0]):
            moment[k, j] += prior[0]
    num_words, h, damp, deviation, time = letters
    dense = (moment, mean, prior[1], linear, kappa)
    moved = advance(x, v, num_words, sparse, change, scale, *dense, h, damp, deviation, time, seed, step)
    if table.shape[0] > 0:
        remember(table, square, linear, *sparse, seen, change)
    return moved, parts[3:]
