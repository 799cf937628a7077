"""Von Mises-Fisher data: one mean direction and concentration, or a mixture of several.

    p(x) = exp(kappa (mean'x - 1) + constant(kappa, d)),          p(x) = sum_k weight_k p_k(x),

kappa (mean'x - 1) = -kappa |x - mean|^2 / 2. With S the sum of n rows, R = |S| and m = S / R, the exponent of all of
them is -kappa [(n - R) + R |mean - m|^2 / 2]: nothing large cancels, at any concentration. The mixture is marginalised
over the assignments. Its labels are not identified: draws are aligned by the assignment of rows that they imply.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from jax.scipy.special import logsumexp

from orthodrome import special
from orthodrome.diagnostics.alignment import align
from orthodrome.manifolds import LogPositive, LogRatioSimplex, Product, Sphere
from orthodrome.models.directional.data import read_directions
from orthodrome.models.directional.family import (
    Family,
    Parameters,
    Reals,
    log_exponential,
    perturbed,
    rough_concentration,
)

if TYPE_CHECKING:
    import xarray

FEW_ROWS = 500
"""The largest number of rows whose assignments are compared when labels are aligned."""


def log_normaliser(d: int, kappa: Array) -> Array:
    """Return the log density at the mean."""
    return -special.log_sphere_mgf_scaled(d / 2 - 1, kappa) - special.log_sphere_area(d, kappa.dtype)


class VonMisesFisherFamily(Family):
    """The von Mises-Fisher family: one mean direction and one concentration."""

    dims: ClassVar = {"mean": ["axis"]}

    def read(self, data: Any) -> Reals:
        return read_directions(data)

    def manifold(self) -> Product:
        return Product({"mean": Sphere(), "concentration": LogPositive()})

    def statistics(self, x: Any) -> dict[str, Any]:
        total = x.sum(0)
        length = (total @ total) ** 0.5
        return {"count": 1.0 * len(x), "length": length, "short": len(x) - length, "towards": total / length}

    def loglikelihood(self, p: Parameters, statistics: dict[str, Any]) -> Array:
        off = p["mean"] - statistics["towards"]
        spread = statistics["short"] + statistics["length"] * jnp.sum(off * off) / 2
        kappa = p["concentration"]
        return statistics["count"] * log_normaliser(p["mean"].size, kappa) - kappa * spread

    def logprior(self, p: Parameters, data: dict[str, Any]) -> Array:
        return log_exponential(p["concentration"], data["scale"])

    def start(self, x: Reals, rng: np.random.Generator, components: int) -> Parameters:
        mean = x.mean(0)
        length = np.linalg.norm(mean)
        kappa = rough_concentration(length, x.shape[1]) * np.exp(0.3 * rng.normal())
        return {"mean": perturbed(rng, mean / length, 0.5 / np.sqrt(kappa)), "concentration": np.asarray(kappa)}


class MixtureFamily(Family):
    """Mixtures of von Mises-Fisher laws: several mean directions, concentrations and weights."""

    mixture = True
    dims: ClassVar = {"mean": ["component", "axis"], "concentration": ["component"], "weight": ["component"]}

    def read(self, data: Any) -> Reals:
        return read_directions(data)

    def manifold(self) -> Product:
        return Product({"mean": Sphere(), "concentration": LogPositive(), "weight": LogRatioSimplex()})

    def statistics(self, x: Any) -> dict[str, Any]:
        return {"x": x}

    def loglikelihood(self, p: Parameters, statistics: dict[str, Any]) -> Array:
        return jnp.sum(logsumexp(joint(p, statistics["x"]), axis=1))

    def logprior(self, p: Parameters, data: dict[str, Any]) -> Array:
        return log_exponential(p["concentration"], data["scale"]) + (data["weight"] - 1) * jnp.sum(jnp.log(p["weight"]))

    def start(self, x: Reals, rng: np.random.Generator, components: int) -> Parameters:
        size, sums = clustered(x, components)
        length = np.linalg.norm(sums, axis=1)
        kappa = np.minimum(rough_concentration(length / size, x.shape[1]), 1e3) * np.exp(
            0.3 * rng.normal(size=components)
        )
        weight = (size + 1) / (size + 1).sum()
        return {"mean": perturbed(rng, sums / length[:, None]), "concentration": kappa, "weight": weight}

    def finished(self, tree: xarray.DataTree, x: Reals) -> xarray.DataTree:
        return aligned(tree, x[:: max(1, len(x) // FEW_ROWS)], self)

    def joint(self, p: Parameters, x: Array) -> Array:
        return joint(p, x)


def joint(p: Parameters, x: Array) -> Array:
    """Return log weight + log density of every row and component (n, K)."""
    off = x[:, None, :] - p["mean"][None]
    height = jnp.log(p["weight"]) + log_normaliser(x.shape[1], p["concentration"])
    return height[None] - p["concentration"][None] * jnp.sum(off * off, axis=-1) / 2


@partial(jax.jit, static_argnums=0)
def responsibilities(family: Family, p: Parameters, x: Array) -> Array:
    """Return P(component | row) of a mixture, for one draw."""
    return family.responsibilities(p, x)


def clustered(x: Reals, components: int) -> tuple[Any, Reals]:
    """Return the sizes and the sums of clusters of rows, for starts."""
    from sklearn.cluster import KMeans

    label = KMeans(components, n_init=10, random_state=0).fit(x).labels_
    return np.bincount(label, minlength=components), np.stack([x[label == k].sum(0) for k in range(components)])


def aligned(tree: xarray.DataTree, x: Reals, family: Family) -> xarray.DataTree:
    """Return the tree with labels permuted so that rows are assigned as in the draw of highest density."""
    dtype = tree["posterior"]["weight"].dtype
    rows = jnp.asarray(x, dtype)
    at = lambda one: responsibilities(family, {name: one[name] for name in family.dims}, rows).T
    return align(tree, "component", by=at, sort_by="weight")
