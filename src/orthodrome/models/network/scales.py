"""The scales of the eigenmodel's posterior: conditional standard deviations, from the expected information.

    I(u_ir) = L_r^2 sum_j w_ij u_jr^2 + m,  I(L_r) = sum_{i<j} w_ij u_ir^2 u_jr^2 + 1/m,   I(c) = sum_{i<j} w_ij + 0.01,

with w = F'(eta)^2 / (F (1 - F)), and 0 where the edge is unknown.

Of the frame only the largest counts, since leapfrog steps are stable up to twice the smallest standard deviation; the
m in it is that of a uniform frame, whose entries have the variance 1/m.
"""

from __future__ import annotations

import numpy as np

from orthodrome.core.types import Reals
from orthodrome.models.network.law import INTERCEPT_VARIANCE


def information(link: str, known: Reals, frame: Reals, flat: Reals) -> Reals:
    """Return the information of the stiffest coordinate of the frame, of each eigenvalue, and of the intercept.

    known: (m, m), 1 where an edge is known, else 0; frame: (p, m); flat: L and c
    """
    values, squares = flat[:-1], frame**2
    weights = known * _weights(link, (frame.T * values) @ frame + flat[-1])
    carried = squares @ weights
    stiffest = np.max(carried * values[:, None] ** 2) + frame.shape[1]
    eigenvalues = np.sum(carried * squares, axis=1) / 2 + 1 / frame.shape[1]
    return np.concatenate([[stiffest], eigenvalues, [weights.sum() / 2 + 1 / INTERCEPT_VARIANCE]])


def _weights(link: str, eta: Reals) -> Reals:
    from scipy.special import expit, log_ndtr

    if link == "logit":
        return expit(eta) * expit(-eta)
    return np.exp(-(eta**2) - log_ndtr(eta) - log_ndtr(-eta)) / (2 * np.pi)
