"""Topic proportions of documents, given the topics: where to start, and how to call the kernel."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from orthodrome.core.types import Reals
from orthodrome.kernels.lanes import LANES
from orthodrome.models.sam.kernels.density import num_blocks, padded
from orthodrome.models.sam.kernels.least_squares import least_squares
from orthodrome.models.sam.kernels.proportions import sample_proportions
from orthodrome.models.sam.kernels.slices import slice_proportions
from orthodrome.models.sam.kernels.topics import gram_matrix


@dataclass(frozen=True)
class Sweep:
    """How the proportions of a document are drawn: transitions discarded and kept, their leapfrog steps, the space."""

    burn_in: int
    kept: int
    num_steps: int
    flat: bool


class Drawn(NamedTuple):
    """draws: (blocks, kept, padded K, LANES); last: (S, K); acceptance: (S,)."""

    draws: Reals
    last: Reals
    acceptance: NDArray[np.float64]


def gram_of(topics: Reals) -> Reals:
    """Return beta' beta, padded with zeros for the kernels."""
    return gram_matrix(np.ascontiguousarray(topics), padded(topics.shape[0]))


def first_guess(gram: Reals, b: Reals, margin: float = 0.05) -> Reals:
    """Return the least-squares proportions, without negative entries and away from the walls (erratum c-1).

    Those of a document are the same numbers whoever is beside it.
    """
    count = b.shape[1]
    inverse = np.linalg.inv(gram[:count, :count].astype(np.float64) + 1e-6 * np.eye(count))
    return least_squares(inverse, np.ascontiguousarray(b), 0.0, margin, 1e-12)


def published_guess(gram: Reals, b: Reals) -> Reals:
    """Return the authors' start: least squares with entries at or below 0 set to 1e-6."""
    count = b.shape[1]
    inverse = np.linalg.inv(gram[:count, :count].astype(np.float64))
    return least_squares(inverse, np.ascontiguousarray(b), 1e-6, 0.0, 0.0)


def draw_proportions(
    gram: Reals,
    b: Reals,
    start: Reals,
    kappa: float,
    alpha: float,
    step_size: float,
    sweep: Sweep,
    seed: int,
    step: int,
    items: NDArray[np.uint64],
) -> Drawn:
    """Run the kernel on all documents of b: Hamiltonian moves, or slices where the Dirichlet has poles (alpha < 1)."""
    count, size = b.shape
    b, start = np.ascontiguousarray(b), np.ascontiguousarray(start)  # another layout would compile the kernel again
    draws = np.zeros((num_blocks(count), sweep.kept, padded(size), LANES), b.dtype)
    if alpha < 1:
        stream = (np.uint64(seed), np.uint64(step), items)
        last = slice_proportions(gram, b, float(kappa), float(alpha), start, *stream, sweep.burn_in, draws)
        return Drawn(draws, last, np.ones(count))
    last, acceptance = sample_proportions(
        sweep.flat,
        gram,
        b,
        float(kappa),
        float(alpha),
        start,
        np.uint64(seed),
        np.uint64(step),
        items,
        float(step_size),
        sweep.num_steps,
        sweep.burn_in,
        draws,
    )
    return Drawn(draws, last, acceptance)


def tuned_step(gram: Reals, b: Reals, kappa: float, alpha: float, sweep: Sweep, seed: int) -> float:
    """Return a step size with an acceptance rate near 0.8 for documents like these, from thirty short runs."""
    count = b.shape[1]
    start, items = first_guess(gram, b), np.arange(len(b), dtype=np.uint64)
    log_step, short = math.log(0.25 / math.sqrt(4 * alpha * count + kappa)), replace(sweep, burn_in=3, kept=0)
    for i in range(30):
        drawn = draw_proportions(gram, b, start, kappa, alpha, math.exp(log_step), short, seed, i, items)
        start, log_step = drawn.last, log_step + (float(drawn.acceptance.mean()) - 0.8) / (1 + i / 10)
    return math.exp(log_step)


def by_document(draws: Reals, count: int, size: int) -> Reals:
    """Return the draws of the kernel's blocks as (S, kept, K)."""
    blocks, kept, rows, lanes = draws.shape
    return draws.transpose(0, 3, 1, 2).reshape(blocks * lanes, kept, rows)[:count, :, :size]


def in_blocks(draws: Reals) -> Reals:
    """Return draws (S, kept, K) as the kernel's blocks, whose spare lanes repeat the last document."""
    count, kept, size = draws.shape
    found = np.zeros((num_blocks(count) * LANES, kept, padded(size)), draws.dtype)
    found[:count, :, :size], found[count:, :, :size] = draws, draws[-1:]
    return np.ascontiguousarray(found.reshape(-1, LANES, kept, padded(size)).transpose(0, 2, 3, 1))
