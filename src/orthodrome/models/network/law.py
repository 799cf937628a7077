"""The posterior of the network eigenmodel (Hoff 2009; Byrne & Girolami 2013, section 5.3 and Appendix B).

    P(edge ij) = F([U L U']_ij + c),   U uniform on the m x p frames,   L_r ~ N(0, m),   c ~ N(0, 100)

    log pi = sum_{i<j} log F(Y_ij eta_ij) - sum_r L_r^2 / (2 m) - c^2 / 200,       Y = 1 for an edge, -1 for none.

The pairs are laid out as the blocks on and above the diagonal of a grid of blocks, so that half of the symmetric matrix
is never computed and everything is dense; a weight of 0 leaves a pair out (missing, or the diagonal), pairs inside a
diagonal block occur twice and have weight 1/2.
"""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import Array

from orthodrome.core.types import Reals
from orthodrome.manifolds import Euclidean, Product, Stiefel
from orthodrome.models.network.links import log_cdf
from orthodrome.targets import Target

BLOCKS = 8
"""The number of blocks along each side of the matrix."""
SPACE = Product({"frame": Stiefel(), "eigenvalues": Euclidean(), "intercept": Euclidean()})
"""The space of a position."""
INTERCEPT_VARIANCE = 100.0
"""The prior variance of c."""


def layout(edges: Reals, dtype: str) -> dict[str, Any]:
    """Return the blocks of an adjacency matrix with the entries 1, 0 and NaN (unknown)."""
    m = len(edges)
    side = -(-m // min(BLOCKS, m))
    count = -(-m // side)
    known = np.isfinite(edges) & ~np.eye(m, dtype=bool)
    sign, weight = np.ones((2, count * side, count * side))
    sign[:m, :m] = np.where(known & (edges > 0), 1.0, -1.0)
    weight[:] = 0
    weight[:m, :m] = known
    cut = lambda a: a.reshape(count, side, count, side).swapaxes(1, 2)
    row, column = np.triu_indices(count)
    half = np.where(row == column, 0.5, 1.0)[:, None, None]
    return {
        "sign": jnp.asarray(cut(sign)[row, column], dtype),
        "weight": jnp.asarray(cut(weight)[row, column] * half, dtype),
        "row": jnp.asarray(row, jnp.int32),
        "column": jnp.asarray(column, jnp.int32),
        "nodes": jnp.asarray(m, dtype),
    }


def logdensity(x: dict[str, Array], data: dict[str, Array], link: str) -> Array:
    """Return the unnormalised log posterior."""
    blocks, side, _ = data["sign"].shape
    count = int((np.sqrt(8 * blocks + 1) - 1) / 2)
    frame, scale = x["frame"], x["eigenvalues"]
    padded = jnp.pad(frame, ((0, count * side - len(frame)), (0, 0))).reshape(count, side, -1)
    left = (padded * scale[None, None])[data["row"]]
    eta = jnp.einsum("bir,bjr->bij", left, padded[data["column"]]) + x["intercept"]
    likelihood = jnp.sum(data["weight"] * log_cdf(link, data["sign"] * eta))
    return likelihood - jnp.sum(scale**2) / (2 * data["nodes"]) - x["intercept"] ** 2 / (2 * INTERCEPT_VARIANCE)


def probit_logdensity(x: dict[str, Array], data: dict[str, Array]) -> Array:
    """Return the unnormalised log posterior with the probit link."""
    return logdensity(x, data, "probit")


def logit_logdensity(x: dict[str, Array], data: dict[str, Array]) -> Array:
    """Return the unnormalised log posterior with the logit link."""
    return logdensity(x, data, "logit")


DENSITIES = {"probit": probit_logdensity, "logit": logit_logdensity}


def target(edges: Reals, link: str = "probit", dtype: str = "float32") -> Target:
    """Return the posterior over {"frame": U, "eigenvalues": L, "intercept": c}."""
    return Target(SPACE, DENSITIES[link], layout(edges, dtype))
