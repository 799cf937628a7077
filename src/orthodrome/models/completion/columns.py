"""Columns in units of their own: where the columns of a matrix differ in place and scale, as pixels or questions do.

    y_ij = m_j + d_j z_ij,      z_ij ~ N(mu + [U diag(s) V']_ij, sigma^2)

One noise for all entries is then a noise of each column in proportion to d_j. m_j and d_j are fixed before the draws,
from the n_j observed entries of a column, their mean a_j and their sum of squared deviations S_j, by empirical Bayes
(Smyth 2004, for the variances of genes):

    1 / d_j^2 ~ Gamma(nu / 2, nu t^2 / 2),    2 log d_j = log((S_j + nu t^2) / 2) - digamma((n_j - 1 + nu) / 2)
    a_j ~ N(m, w + d_j^2 / n_j),              m_j = m + w (a_j - m) / (w + d_j^2 / n_j)

where nu and t^2 have the mean and the variance over columns of log S_j, m and w those of a_j, and d_j is exp of the
posterior mean of its logarithm. So columns that are alike share their scale, columns that differ keep their own, and a
column with equal entries or with none has one too. What stands for the other columns must not be an entry of the whole
matrix: where the places of the columns lie far apart, that would be all that the scale of a quiet column is made of.
By what else the noises of columns differ, `noises` tells.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.optimize import brentq
from scipy.special import digamma, polygamma

from orthodrome.core.types import Reals
from orthodrome.models.completion.entries import Entries

FARTHEST = 6.0
"""Units between an entry and the place of its column at most: of 500 million normal entries one is further."""
FEWEST = 3
"""The smallest number of columns with different entries from which the law of the scales is estimated."""
ROUNDING = 1e-12
"""Deviations below this share of a column's mean are rounding; so is a variance of log scales below this."""


class Columns(NamedTuple):
    """The place m and the scale d of each column."""

    place: Reals
    scale: Reals

    def standardised(self, entries: Entries) -> Entries:
        """Return the entries z_ij."""
        j = entries.columns
        return entries._replace(values=(entries.values - self.place[j]) / self.scale[j])


def as_one(entries: Entries) -> Columns:
    """Return columns that leave all entries as they are."""
    return Columns(np.zeros(entries.shape[1]), np.ones(entries.shape[1]))


def each_its_own(entries: Entries) -> Columns:
    """Return the place and the scale of each column, by empirical Bayes over the columns."""
    j, y, size = entries.columns, entries.values, entries.shape[1]
    count = np.bincount(j, minlength=size).astype(float)
    mean = np.bincount(j, y, size) / np.maximum(count, 1)
    squares: Reals = np.bincount(j, (y - mean[j]) ** 2, size).astype(float)
    squares = np.where(squares > count * (ROUNDING * mean) ** 2, squares, 0.0)
    scale = shrunken_scales(count, squares, float(np.var(y)))
    place, farthest = shrunken_places(count, mean, scale), np.zeros(size)
    np.maximum.at(farthest, j, np.abs(y - place[j]))
    return Columns(place, np.maximum(scale, farthest / FARTHEST))


def shrunken_scales(count: Reals, squares: Reals, variance: float) -> Reals:
    """Return exp E[log d_j], by the law of the scales of all columns.

    count, squares: number of entries and sum of squared deviations of each column
    variance: of all entries, used where the columns say nothing of their own
    """
    free = np.maximum(count - 1, 0)
    varies = (free > 0) & (squares > 0)
    if varies.sum() < FEWEST:
        inside = float(squares.sum()) / max(float(free.sum()), 1.0)
        return np.full(len(count), np.sqrt(inside or variance))
    half = free[varies] / 2
    logs = np.log(squares[varies] / 2) - digamma(half)  # log d_j^2 without bias
    spread = float(logs.var(ddof=1) - polygamma(1, half).mean())
    if spread <= ROUNDING:  # they vary no more than estimates of one scale would
        return np.full(len(count), np.exp(logs.mean() / 2))
    half_nu = np.exp(brentq(lambda power: polygamma(1, np.exp(power)) - spread, -20, 40))
    prior = 2 * np.exp(logs.mean() + digamma(half_nu))  # nu t^2
    return np.sqrt((squares + prior) / 2 * np.exp(-digamma(free / 2 + half_nu)))


def shrunken_places(count: Reals, mean: Reals, scale: Reals) -> Reals:
    """Return the means of the columns, drawn together by as much as the errors of estimates make them differ."""
    seen = count > 0
    error = scale**2 / np.maximum(count, 1)
    centre = mean[seen].mean()
    between = max(float(np.mean((mean[seen] - centre) ** 2) - np.mean(error[seen])), 0.0)
    trust = np.where(seen, between / np.maximum(between + error, np.finfo(float).tiny), 0.0)
    return centre + trust * (mean - centre)


COLUMNS = {"matrix": as_one, "columns": each_its_own}
"""What entries are measured in, by the names of the setting."""
