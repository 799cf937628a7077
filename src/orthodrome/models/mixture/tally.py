"""What moves of the partition have in common: the exact ratio they are judged by, and what became of them."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from scipy.special import gammaln

from orthodrome.core.types import Reals
from orthodrome.models.mixture.components.contract import Components


class Tally(NamedTuple):
    """What became of the proposals; capped: whether a split found no free slot."""

    splits: int = 0
    merges: int = 0
    attempts: int = 0
    capped: bool = False
    touched: int = 0


def log_ratio(components: Components, parts: Reals, concentration: float) -> float:
    """Return log [ p(split) / p(merged) ] of the partition and all rows, from the statistics of the two parts."""
    lines = np.concatenate([parts, parts.sum(axis=0, keepdims=True)])
    one, two, both = components.log_marginal(lines) + gammaln(lines[:, 0])
    return math.log(concentration) + float(one + two - both)
