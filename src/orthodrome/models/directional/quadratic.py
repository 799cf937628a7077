"""Bingham and Bingham-von Mises-Fisher data: exp(x'Ax + c'x) over its exact constant (`special.fisher_bingham`).

Axes and eigenvalues are of interest, but neither is sampled: A itself is, in an orthonormal basis of the symmetric
matrices of trace zero (the trace is not identified, as |x| = 1). There the likelihood is that of an exponential family
in its natural parameters, so it is log-concave, has one mode, and is smooth where eigenvalues coincide and axes cannot
be told apart. Axes and eigenvalues of every draw are added afterwards.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import jax.numpy as jnp
import numpy as np
from jax import Array

from orthodrome import special
from orthodrome.manifolds import Euclidean, Product
from orthodrome.models.directional.data import read_directions
from orthodrome.models.directional.family import Family, Parameters, Reals, log_normal, with_kinds

if TYPE_CHECKING:
    import xarray


class BinghamFamily(Family):
    """The Bingham family exp(x'Ax), for axes: x and -x are equivalent."""

    dims: ClassVar = {"shape": ["coordinate"]}

    def read(self, data: Any) -> Reals:
        return read_directions(data)

    def manifold(self) -> Product:
        return Product({"shape": Euclidean()})

    def statistics(self, x: Any) -> dict[str, Any]:
        return {"count": 1.0 * len(x), "first": x.mean(0), "second": x.T @ x / len(x)}

    def loglikelihood(self, p: Parameters, statistics: dict[str, Any]) -> Array:
        matrix = symmetric(p["shape"], statistics["first"].size)
        vector = p.get("vector", jnp.zeros_like(statistics["first"]))
        height = jnp.sum(matrix * statistics["second"]) + jnp.sum(vector * statistics["first"])
        return statistics["count"] * (height - special.log_fisher_bingham(matrix, vector))

    def logprior(self, p: Parameters, data: dict[str, Any]) -> Array:
        return sum((log_normal(value, data["scale"]) for value in p.values()), jnp.zeros_like(data["scale"]))

    def start(self, x: Reals, rng: np.random.Generator, components: int) -> Parameters:
        d = x.shape[1]
        return {"shape": rng.normal(size=d * (d + 1) // 2 - 1)}

    def finished(self, tree: xarray.DataTree, x: Reals) -> xarray.DataTree:
        return with_axes(tree, x.shape[1])


class BinghamVonMisesFisherFamily(BinghamFamily):
    """The Bingham-von Mises-Fisher family exp(x'Ax + c'x)."""

    dims: ClassVar = {"shape": ["coordinate"], "vector": ["axis"]}

    def manifold(self) -> Product:
        return Product({"shape": Euclidean(), "vector": Euclidean()})

    def start(self, x: Reals, rng: np.random.Generator, components: int) -> Parameters:
        return {**super().start(x, rng, components), "vector": rng.normal(size=x.shape[1])}


def basis(d: int) -> Reals:
    """Return an orthonormal basis (d(d+1)/2 - 1, d, d) of the symmetric matrices of trace zero."""
    found = []
    for i in range(d):
        for j in range(i):
            found.append(np.zeros((d, d)))
            found[-1][i, j] = found[-1][j, i] = 0.5**0.5
        if i:
            entries = np.r_[np.ones(i), -i, np.zeros(d - i - 1)]
            found.append(np.diag(entries / np.linalg.norm(entries)))
    return np.array(found)


def symmetric(shape: Array, d: int) -> Array:
    """Return the matrix A from its coordinates."""
    return jnp.einsum("k,kij->ij", shape, jnp.asarray(basis(d), shape.dtype))


def with_axes(tree: xarray.DataTree, d: int) -> xarray.DataTree:
    """Return the draws with A, its eigenvalues (decreasing) and its axes (in columns), oriented like those of the
    mean of A."""
    posterior = tree["posterior"].dataset
    matrix = np.einsum("cdk,kij->cdij", np.asarray(posterior["shape"], float), basis(d))
    values, axes = (array[..., ::-1] for array in np.linalg.eigh(matrix))
    reference = np.linalg.eigh(matrix.mean((0, 1)))[1][:, ::-1]
    sign = np.where(np.einsum("ij,cdij->cdj", reference, axes) < 0, -1.0, 1.0)
    tree["posterior"].dataset = (
        posterior.drop_vars("shape")
        .drop_dims("coordinate", errors="ignore")
        .assign(
            matrix=(("chain", "draw", "axis", "other_axis"), matrix),
            eigenvalues=(("chain", "draw", "rank"), values),
            axes=(("chain", "draw", "axis", "rank"), axes * sign[:, :, None]),
        )
    )
    return with_kinds(tree, {"matrix": "Euclidean", "eigenvalues": "Euclidean", "axes": "Axes"}, drop="shape")
