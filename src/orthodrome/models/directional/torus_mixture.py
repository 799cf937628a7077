"""Mixtures of sine or of cosine models on the torus, marginalised over the assignments of rows.

    p(x) = sum_k weight_k p_k(x),      log p_k = k_1 cos u + k_2 cos v + c (sin u sin v or cos(u - v)) - log constant,

one constant for each component. Labels are not identified: draws are aligned as in `fisher`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from jax.scipy.special import logsumexp

from orthodrome.manifolds import Euclidean, LogPositive, LogRatioSimplex, Product, Sphere
from orthodrome.models.directional.data import read_torus
from orthodrome.models.directional.family import (
    Family,
    Parameters,
    Reals,
    log_exponential,
    log_normal,
    perturbed,
    rough_concentration,
)
from orthodrome.models.directional.fisher import FEW_ROWS, aligned, clustered
from orthodrome.models.directional.folds import folded_draws, signed
from orthodrome.models.directional.torus import SineFamily, with_angles
from orthodrome.targets import Target

if TYPE_CHECKING:
    import xarray


class TorusMixtureFamily(Family):
    """Mixtures of sine or of cosine models on the torus."""

    mixture = True
    dims: ClassVar = {
        "mean": ["component", "angle", "axis"],
        "concentration": ["component", "angle"],
        "coupling": ["component"],
        "weight": ["component"],
    }

    def __init__(self, one: SineFamily) -> None:
        self.one = one

    def read(self, data: Any) -> Reals:
        return read_torus(data)

    def log_volume(self, x: Reals) -> float:
        return self.one.log_volume(x)

    def manifold(self) -> Product:
        kinds = {"mean": Sphere(), "concentration": LogPositive(), "coupling": Euclidean(), "weight": LogRatioSimplex()}
        return Product(kinds)

    def statistics(self, x: Any) -> dict[str, Any]:
        return {"x": x}

    def joint(self, p: Parameters, x: Array) -> Array:
        def component(mean: Array, kappa: Array, coupling: Array) -> Array:
            along = jnp.einsum("nai,ai,a->n", x, mean, kappa)
            cross = jax.vmap(lambda row: self.one.coupled(mean, jnp.outer(row[0], row[1])))(x)
            return along + coupling * cross - self.one.log_constant(kappa, coupling)

        logs = jax.vmap(component)(p["mean"], p["concentration"], p["coupling"])
        return logs.T + jnp.log(p["weight"])[None]

    def loglikelihood(self, p: Parameters, statistics: dict[str, Any]) -> Array:
        return jnp.sum(logsumexp(self.joint(p, statistics["x"]), axis=1))

    def rows(self, p: Parameters, x: Array) -> Array:
        return logsumexp(self.joint(p, x), axis=1)

    def logprior(self, p: Parameters, data: dict[str, Any]) -> Array:
        scale, weights = data["scale"], (data["weight"] - 1) * jnp.sum(jnp.log(p["weight"]))
        return log_exponential(p["concentration"], scale) + log_normal(p["coupling"], scale) + weights

    def start(self, x: Reals, rng: np.random.Generator, components: int) -> Parameters:
        size, sums = clustered(x.reshape(len(x), -1), components)
        sums = sums.reshape(components, 2, 2)
        length = np.linalg.norm(sums, axis=-1)
        kappa = np.minimum(rough_concentration(length / size[:, None], 2), 1e3)
        return {
            "mean": perturbed(rng, sums / length[..., None]),
            "concentration": kappa * np.exp(0.3 * rng.normal(size=kappa.shape)),
            "coupling": 0.1 * kappa.min(axis=1) * rng.normal(size=components),
            "weight": (size + 1) / (size + 1).sum(),
        }

    def unfolded(self, law: Target) -> Target:
        return signed(self, law)

    def folded(self, tree: xarray.DataTree) -> xarray.DataTree:
        return folded_draws(tree)

    def finished(self, tree: xarray.DataTree, x: Reals) -> xarray.DataTree:
        return with_angles(aligned(tree, x[:: max(1, len(x) // FEW_ROWS)], self))
