"""The posterior of a matrix with few observed entries, by its singular value decomposition.

    y_ij ~ N(mu + [U diag(s) V']_ij, sigma^2),   U, V uniform on the frames of p columns,   s_r > 0,

and a spectral prior of s (Song & Zhu 2016):

    'exponential'   s_r ~ Exp(1 / scale): its mode is nuclear-norm regularisation
    'adaptive'      s_r ~ Exp(rate_r), rate_r ~ Gamma(SHAPE, scale): each singular value has a rate of its own, which
                    is integrated out:  p(s_r) ~ (1 + s_r / scale)^-(SHAPE + 1)

They relax U and V to unit columns; here the columns are orthonormal, so that s are the singular values themselves. The
adaptive prior shrinks small values as the other does, and leaves large ones alone. Priors are densities in s, not in
the matrix. mu is normal about the mean of the entries, sigma exponential; both are weak. `scale` is in units of
sigma_y sqrt(m + n), the size of the largest singular value of pure noise with the entries' standard deviation.

Columns may have noises of their own, sigma t_j with t fixed (`noises`).
"""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import Array

from orthodrome.core.types import Reals
from orthodrome.manifolds import Euclidean, LogPositive, Product, Stiefel
from orthodrome.models.completion.entries import Entries
from orthodrome.targets import Posterior

SHAPE = 2.0
"""The shape of the Gamma law of the rates: the smallest whole number with a finite mean of s."""
PRIORS = ("adaptive", "exponential")


def manifold() -> Product:
    """Return the space of the parameters."""
    flat = {"singular_values": LogPositive(), "noise": LogPositive(), "mean": Euclidean()}
    return Product({"left": Stiefel(), "right": Stiefel()} | flat)


def adaptive_logprior(x: dict[str, Array]) -> Array:
    """Return the log prior with a rate of its own for each singular value, integrated out; units as in `posterior`."""
    return -(SHAPE + 1) * jnp.sum(jnp.log1p(x["singular_values"])) - x["noise"] - x["mean"] ** 2 / 2


def exponential_logprior(x: dict[str, Array]) -> Array:
    """Return the log prior with one rate for all singular values; units as in `posterior`."""
    return -jnp.sum(x["singular_values"]) - x["noise"] - x["mean"] ** 2 / 2


def entry_loglikelihood(x: dict[str, Array], entry: dict[str, Array]) -> Array:
    """Return the log likelihood of one entry, in units of the standard deviation of all."""
    low = jnp.sum(x["left"][entry["row"]] * x["singular_values"] * x["right"][entry["column"]])
    off = (entry["value"] - x["mean"] - entry["unit"] * low) / (x["noise"] * entry["own"])
    return -off * off / 2 - jnp.log(x["noise"])


LOGPRIORS = {"adaptive": adaptive_logprior, "exponential": exponential_logprior}


def posterior(entries: Entries, prior: str, scale: float, dtype: str, own: Reals) -> Posterior:
    """Return the posterior, in units in which the entries have mean 0 and standard deviation 1 and s has scale 1.

    own: t_j, the noise of each column in units of the common one
    """
    centre, spread, unit = units(entries, scale)
    count = len(entries.values)
    data: dict[str, Any] = {
        "row": jnp.asarray(entries.rows),
        "column": jnp.asarray(entries.columns),
        "value": jnp.asarray((entries.values - centre) / spread, dtype),
        "unit": jnp.full(count, unit / spread, dtype),
        "own": jnp.asarray(own[entries.columns], dtype),
    }
    return Posterior(manifold(), LOGPRIORS[prior], entry_loglikelihood, data)


def units(entries: Entries, scale: float) -> tuple[float, float, float]:
    """Return the mean and standard deviation of the entries, and the unit of the singular values."""
    spread = float(np.std(entries.values))
    return float(np.mean(entries.values)), spread, scale * spread * float(np.sqrt(sum(entries.shape)))
