"""The Kolmogorov-Smirnov distance between draws on the simplex and a Dirichlet law (Baker et al. 2018, supplement).

Under Dirichlet(a) the numbers (Rosenblatt 1952)

    u_j = F( p_j / sum_{l >= j} p_l ;  a_j, sum_{l > j} a_l ),   F the distribution function of the beta law, j < d,

are independent and uniform. The distance is the mean over j of the Kolmogorov-Smirnov statistics of the u_j of all
draws. The tail sums are added up from the end: 1 - sum_{l < j} p_l would cancel to 0 where the first weights take all.
"""

from __future__ import annotations

import numpy as np

from orthodrome.core.types import Reals


def rosenblatt(p: Reals, concentration: Reals) -> Reals:
    """Return the transformed draws, (..., d - 1), from weights (..., d)."""
    from scipy.special import betainc

    tails = np.cumsum(p[..., ::-1].astype(np.float64), axis=-1)[..., ::-1]
    later = np.cumsum(concentration[::-1])[::-1]
    share = np.clip(p[..., :-1] / tails[..., :-1], 0, 1)
    uniform: Reals = betainc(concentration[:-1], later[1:], share)
    return uniform


def uniform_distance(u: Reals) -> Reals:
    """Return the one-sample Kolmogorov-Smirnov statistic against the uniform law along the first axis."""
    n = len(u)
    ordered, grid = np.sort(u, axis=0), np.arange(n + 1)[:, None] / n
    return np.maximum(np.max(grid[1:] - ordered, axis=0), np.max(ordered - grid[:-1], axis=0))


def ks_distance(p: Reals, concentration: Reals) -> float:
    """Return d_KS, the mean distance over coordinates between draws and Dirichlet(concentration).

    p: weights, (draw, d), or (chain, draw, d), whose chains are put together
    concentration: d positive numbers
    """
    p, concentration = np.asarray(p), np.asarray(concentration, float)
    p = p.reshape(-1, p.shape[-1])
    return float(np.mean(uniform_distance(rosenblatt(p, concentration))))
