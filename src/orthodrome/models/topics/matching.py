"""Matching of topics between draws and chains: their numbering is arbitrary, and each chain has its own.

Topics of one set are assigned to those of another, one to one, so that the sum of the cosines between them is largest
(the Hungarian method; Kuhn 1955).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from orthodrome.core.types import Reals


def match_topics(reference: Reals, topics: Reals) -> NDArray[np.int64]:
    """Return which of the topics (K, V) takes the place of each topic of the reference (K, V)."""
    unit = [x / np.sqrt(np.einsum("ij,ij->i", x, x))[:, None] for x in (np.asarray(reference), np.asarray(topics))]
    return np.asarray(linear_sum_assignment(unit[0] @ unit[1].T, maximize=True)[1], np.int64)


def matched_cosines(reference: Reals, topics: Reals) -> Reals:
    """Return the cosine of every topic of the reference and its match: 1 where two chains found the same topic."""
    matched = np.asarray(topics)[match_topics(reference, topics)]
    dots = np.einsum("ij,ij->i", reference, matched)
    return dots / np.sqrt(np.einsum("ij,ij->i", reference, reference) * np.einsum("ij,ij->i", matched, matched))
