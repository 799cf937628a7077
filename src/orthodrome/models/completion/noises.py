"""The noise of each column, in units of one that they share.

The standard deviation of a column is what the factors and the noise make of it, so a noise in proportion to it is too
large for columns that the factors explain well, and too small for the others. The noises are sigma t_j with

    1 / t_j^2 ~ Gamma(ALIKE, ALIKE),
    1 / t_j^2 | rest ~ Gamma(ALIKE + n_j / 2, ALIKE + (squared residuals) / 2 sigma^2)

drawn in turns with normal factors, as where chains start (`starts`), and t_j is fixed at exp of the mean of its
logarithm over these draws, before the run. (Drawn with all else by stochastic gradients, t_j was seen to run away: a
column that is nearly always the same has entries far from all others, with gradients in log t_j as large as the square
of that.) The common law keeps them apart from zero: without it the likelihood has no bound, as a factor can follow one
column until nothing of its noise is left (a Heywood case).
"""

from __future__ import annotations

import numpy as np

from orthodrome.core.types import Reals
from orthodrome.models.completion.entries import Entries
from orthodrome.models.completion.starts import DRAWN, Drawing, least_squares, noise_of, off, swept

ALIKE = 5.0
"""The shape of the Gamma law of the precisions: nine in ten noises are between 0.74 and 1.6 times the common one."""


def all_alike(entries: Entries, rank: int, seed: int) -> Reals:
    """Return ones: all columns have the common noise."""
    return np.ones(entries.shape[1])


def each_its_own(entries: Entries, rank: int, seed: int) -> Reals:
    """Return the noises of the columns in units of the common one.

    rank: of the factors
    seed: of the draws
    """
    rng, size, j = np.random.default_rng([seed, len(entries.values)]), entries.shape[1], entries.columns
    y = (entries.values - entries.values.mean()) / entries.values.std()
    left, values, right = least_squares(entries, y, rank)
    now = Drawing(left * np.sqrt(values), right * np.sqrt(values), 0.0)
    now = now._replace(noise=noise_of(float(np.mean(off(entries, y, now) ** 2))))
    weight, logs, shape = np.ones(size), np.zeros(size), ALIKE + np.bincount(j, minlength=size) / 2
    for turn in range(2 * DRAWN):
        now = swept(entries, y, weight, now, rng)
        squares = np.bincount(j, (off(entries, y, now) / now.noise) ** 2, size)
        weight = rng.gamma(shape) / (ALIKE + squares / 2)
        if turn >= DRAWN:
            logs -= np.log(weight) / (2 * DRAWN)
    return np.exp(logs)


NOISES = {"shared": all_alike, "columns": each_its_own}
"""The noises of the columns, by the names of the setting `noise`."""
