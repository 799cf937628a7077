"""Exact draws, all elements at once."""

from orthodrome.random.counts import binomial, log_gamma, log_noncentral_chisquare, poisson
from orthodrome.random.directions import cosine_gap, step_from, unit, unit_off, von_mises_fisher
from orthodrome.random.frames import frame, orientation, orthonormal
from orthodrome.random.multinomial import multinomial
from orthodrome.random.rejection import ENOUGH_PROPOSALS, SMALLEST_RATE, positive_uniform, retry, stream

__all__ = [
    "ENOUGH_PROPOSALS",
    "SMALLEST_RATE",
    "binomial",
    "cosine_gap",
    "frame",
    "log_gamma",
    "log_noncentral_chisquare",
    "multinomial",
    "orientation",
    "orthonormal",
    "poisson",
    "positive_uniform",
    "retry",
    "step_from",
    "stream",
    "unit",
    "unit_off",
    "von_mises_fisher",
]
