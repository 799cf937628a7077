"""The states of the samplers of topics: arrays and numbers, which a checkpoint saves one by one.

Arrays are changed in place by `step`; numbers are replaced. Shapes stay as `begin` made them.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from orthodrome.core.types import Reals
from orthodrome.models.sam.batch import Memory


class TopicTuning(NamedTuple):
    """What SGGMC and gSGNHT have learnt so far.

    looks: gradients seen; noise, curvature: running means of the gradient's variance and of the log likelihood's
        curvature; heat: the share of the temperature that the gradient's own noise may have
    """

    looks: float
    noise: float
    curvature: float
    log_proportion_step: float
    heat: float


class StochasticState(NamedTuple):
    """The state of SGGMC and gSGNHT.

    topics: (K, V); velocity: word by word (`kernels.words`); proportions: of each document's last visit (D, K), NaN
        before the first, or (0, K)
    thermostat: xi; taken: transitions since `init`; log_perplexity: the last that was watched, NaN before the first
    """

    topics: Reals
    velocity: Reals
    proportions: Reals
    memory: Memory
    tuning: TopicTuning
    thermostat: float
    taken: int = 0
    log_perplexity: float = math.nan

    @property
    def position(self) -> dict[str, Reals]:
        """The topics by name."""
        return {"topics": self.topics}


class ExactState(NamedTuple):
    """The state of GMC-bGibbs and GMC-apprMH, in float64. proportions: (D, K), NaN where a document has none yet."""

    topics: Reals
    proportions: Reals
    log_proportion_step: float
    log_step: float
    taken: int = 0
    log_perplexity: float = math.nan

    @property
    def position(self) -> dict[str, Reals]:
        """The topics by name."""
        return {"topics": self.topics}


class VariationalState(NamedTuple):
    """The parameters of q, in float64: mut in `topics`, mt in `centre` (V,), at in `proportions` (D, K).

    rate: the step size of the ascents of mut
    """

    topics: Reals
    centre: Reals
    proportions: Reals
    rate: float
    taken: int = 0
    log_perplexity: float = math.nan

    @property
    def position(self) -> dict[str, Reals]:
        """The topics by name."""
        return {"topics": self.topics}
