"""Laws on the torus have no wall where a concentration is zero.

Half a turn of a mean changes the sign of its cosine and of what couples it to the other angle. So the sine and the
cosine law have the same density at

    (m_j, k_j, c)    and    (-m_j, -k_j, -c),      j = 1, 2,

and concentrations k > 0 are one of four copies of the same laws. A posterior that reaches k_j = 0 goes on beyond it,
with the opposite mean and the opposite coupling. Among k > 0 these are two modes that meet only at k_j = 0: no path of
(m, log k, c) joins them but one through c = 0, where rows that are coupled are as unlikely at every temperature that
tempering uses. So chains move over concentrations of either sign, in the chart

    k = sinh(x),      dk = cosh(x) dx,

a logarithm far from zero and linear near it, with the prior of |k|; then every draw is folded into k > 0. The four
copies have the same law, so the folded draws have that of one.
"""

from __future__ import annotations

import dataclasses
import math
from typing import TYPE_CHECKING, Any

import jax.numpy as jnp
import numpy as np
from jax import Array

from orthodrome.core.pytree import pytree
from orthodrome.manifolds import Product
from orthodrome.manifolds.euclidean import Euclidean
from orthodrome.models.directional.family import Family, Parameters, with_kinds
from orthodrome.targets import Target

if TYPE_CHECKING:
    import xarray

FOLDED = ("mean", "concentration", "coupling")


@pytree
class SignedLog(Euclidean):
    """Numbers of either sign by k = sinh(x); densities with respect to Lebesgue measure dk."""

    def to_user(self, x: Array) -> Array:
        return jnp.sinh(x)

    def from_user(self, p: Array) -> Array:
        return jnp.arcsinh(p)

    def log_measure(self, x: Array) -> Array | float:
        return jnp.sum(jnp.logaddexp(x, -x) - math.log(2))


@dataclasses.dataclass(frozen=True)
class SignedLaw:
    """The log posterior of a family of laws on the torus, at concentrations of either sign."""

    family: Family

    def __call__(self, p: Parameters, data: dict[str, Any]) -> Array:
        """Return it at parameters in the user's coordinates."""
        return self.family.logdensity(p | dict(zip(FOLDED, folded(*(p[name] for name in FOLDED)), strict=True)), data)


def signed(family: Family, law: Target) -> Target:
    """Return the posterior of a family at concentrations of either sign.

    law: the posterior at positive ones
    """
    manifold = Product(family.manifold().factors | {"concentration": SignedLog()})
    return Target(manifold, SignedLaw(family), law.data)


def folded(mean: Any, concentration: Any, coupling: Any) -> tuple[Any, Any, Any]:
    """Return the copy of some parameters with positive concentrations: mean (..., 2, 2), concentration (..., 2) and
    coupling (...)."""
    sign = 1 - 2.0 * (concentration < 0).astype(mean.dtype)
    return mean * sign[..., None], concentration * sign, coupling * sign[..., 0] * sign[..., 1]


def folded_draws(tree: xarray.DataTree) -> xarray.DataTree:
    """Return the draws with positive concentrations."""
    posterior = tree["posterior"].dataset
    values = folded(*(np.asarray(posterior[name]) for name in FOLDED))
    new = {name: (posterior[name].dims, value) for name, value in zip(FOLDED, values, strict=True)}
    tree["posterior"].dataset = posterior.assign(new)
    return with_kinds(tree, {"concentration": "LogPositive"})
