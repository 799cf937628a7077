"""Columns in units of their own: where the columns of a matrix differ in place and scale, as pixels or questions do.

    y_ij = m_j + d_j z_ij,      z_ij ~ N(mu + [U diag(s) V']_ij, sigma^2)

One noise for all entries is then a noise of each column in proportion to d_j. m_j and d_j are fixed before the draws,
from the observed entries of the column and one entry more, which stands for the whole matrix:

    m_j = (sum_i y_ij + mean) / (n_j + 1),      d_j^2 = (sum_i (y_ij - m_j)^2 + variance) / (n_j + 1),

so that a column whose entries are all equal, or that has none, has a scale too. A noise that is drawn for each column
instead would end at zero: with two columns of equal entries or more the likelihood has no bound, as U can have their
direction.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from orthodrome.core.types import Reals
from orthodrome.models.completion.entries import Entries


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
    """Return the place and the scale of each column, from its entries and one for the whole matrix."""
    j, y, size = entries.columns, entries.values, entries.shape[1]
    count = np.bincount(j, minlength=size) + 1
    place = (np.bincount(j, y, size) + y.mean()) / count
    squares = np.bincount(j, (y - place[j]) ** 2, size)
    return Columns(place, np.sqrt((squares + y.var()) / count))


COLUMNS = {"matrix": as_one, "columns": each_its_own}
"""What entries are measured in, by the names of the setting."""
