"""Hoff's Gibbs sampler of the network eigenmodel with the probit link (Hoff 2009): the baseline.

An edge is the sign of a latent normal Z_ij with the mean [U L U']_ij + c and variance 1; on the diagonal, which is not
observed, the variance is 2, so that up to a constant

    log p(Z | U, L, c) = -|Z - c - U L U'|^2 / 4 = tr(L U'(Z - c)U) / 2 - tr L^2 / 4 + ...

Hence in turn: Z is normal, cut at 0 where the edge is known; c and each L_r are normal; each column of U has a Bingham
law on the sphere orthogonal to the others, drawn as in `ColumnGibbs`, with an eigendecomposition of an
(m - p + 1)-square matrix. One column moves at a time, so that their order never changes.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from jax import Array

from orthodrome.core.pytree import pytree, static
from orthodrome.core.types import Reals, Tree
from orthodrome.manifolds.manifold import Manifold
from orthodrome.models.network.law import INTERCEPT_VARIANCE, SPACE
from orthodrome.samplers.contract import Sampler
from orthodrome.samplers.exact.column_gibbs import GibbsInfo, coordinates, draw_column, generator


class EigenmodelGibbsState(NamedTuple):
    """The state: a position {"frame": U, "eigenvalues": L, "intercept": c}."""

    position: Any


@pytree
class EigenmodelGibbs(Sampler):
    """Hoff's Gibbs sampler of the network eigenmodel.

    edges: an adjacency matrix with the entries 1, 0 and NaN (unknown)
    max_proposals: the number of rejections after which a coordinate stays
    """

    edges: Any
    max_proposals: int = static(default=10_000)
    compiled: bool = static(default=False)

    @property
    def manifold(self) -> Manifold:
        """The manifold of the position."""
        return SPACE

    @property
    def adjusted(self) -> bool:
        """Whether the stationary distribution is exact: always, since the conditionals are."""
        return True

    def init(self, position: Tree, key: Array | None = None) -> EigenmodelGibbsState:
        """Return the state at a position."""
        return EigenmodelGibbsState(position)

    def step(self, key: Array, state: EigenmodelGibbsState) -> tuple[EigenmodelGibbsState, GibbsInfo]:
        """Draw all parts once, in the order Z, c, and every column with its eigenvalue."""
        rng, sign = generator(key), signs(np.asarray(self.edges, float))
        position = {name: np.array(value) for name, value in state.position.items()}
        dtype = position["frame"].dtype
        u, scale = (np.array(position[name], float) for name in ("frame", "eigenvalues"))
        c = float(position["intercept"])
        z = draw_latent(rng, sign, (u * scale) @ u.T + c)
        c = draw_intercept(rng, z - (u * scale) @ u.T)
        proposals = stayed = 0
        for r in rng.permutation(scale.size):
            made, kept = draw_column(rng, u, r, scale[r] / 2 * (z - c), np.zeros(len(u)), self.max_proposals)
            scale[r] = draw_eigenvalue(rng, u[:, r] @ (z - c) @ u[:, r], len(u))
            proposals, stayed = proposals + made, stayed + kept
        new = {"frame": u, "eigenvalues": scale, "intercept": np.asarray(c)}
        rate = (coordinates(u) - stayed) / proposals
        numbers = dtype.type(log_posterior(sign, u, scale, c)), dtype.type(rate), np.int32(proposals), np.int32(stayed)
        cast = {name: value.astype(dtype) for name, value in new.items()}
        return EigenmodelGibbsState(cast), GibbsInfo(*numbers)


def signs(edges: Reals) -> Reals:
    """Return 1 for an edge, -1 for none, and 0 where it is unknown, the diagonal included."""
    sign = np.where(np.isnan(edges), 0.0, np.where(edges > 0, 1.0, -1.0))
    np.fill_diagonal(sign, 0)
    return sign


def draw_latent(rng: np.random.Generator, sign: Reals, mean: Reals) -> Reals:
    """Draw normals truncated to the side of 0 that the edge determines, untruncated where it is unknown; by
    inversion in logs."""
    from scipy.special import log_ndtr, ndtri_exp

    i, j = np.triu_indices(len(mean), 1)
    side, centre = sign[i, j], mean[i, j]
    cut = -side * ndtri_exp(np.log1p(-rng.random(i.size)) + log_ndtr(side * centre))
    z = np.zeros_like(mean)
    z[i, j] = centre + np.where(side == 0, rng.normal(size=i.size), cut)
    z += z.T
    np.fill_diagonal(z, np.diag(mean) + np.sqrt(2) * rng.normal(size=len(mean)))
    return z


def draw_intercept(rng: np.random.Generator, rest: Reals) -> float:
    """Draw c given Z - U L U'; every entry of the matrix has weight 1/2."""
    precision = rest.size / 2 + 1 / INTERCEPT_VARIANCE
    return float(rest.sum() / 2 / precision + rng.normal() / np.sqrt(precision))


def draw_eigenvalue(rng: np.random.Generator, form: float, nodes: int) -> float:
    """Draw L_r given u_r'(Z - c)u_r."""
    precision = 0.5 + 1 / nodes
    return form / 2 / precision + rng.normal() / np.sqrt(precision)


def log_posterior(sign: Reals, u: Reals, scale: Reals, c: float) -> float:
    """Return the unnormalised log posterior of (U, L, c)."""
    from scipy.special import log_ndtr

    i, j = np.nonzero(np.triu(sign, 1))
    eta = ((u * scale) @ u.T + c)[i, j]
    prior = -np.sum(scale**2) / (2 * len(u)) - c**2 / (2 * INTERCEPT_VARIANCE)
    return float(np.sum(log_ndtr(sign[i, j] * eta)) + prior)
