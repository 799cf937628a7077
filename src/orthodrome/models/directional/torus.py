"""Pairs of angles: the sine and the cosine model on the torus (section 4.4 of Byrne & Girolami: a product of circles).

    exp(k_1 cos u + k_2 cos v + c sin u sin v)        sine      (Singh, Hnizdo & Demchuk 2002)
    exp(k_1 cos u + k_2 cos v + c cos(u - v))         cosine    (Mardia, Taylor & Subramaniam 2007)

for angles u, v from their means, k_1, k_2 > 0 and a coupling c of either sign. The means are two points of the circle;
with x, y the data as unit vectors, m, n the means and Jm the mean turned by a right angle, cos u = m'x, sin u = (Jm)'x:
all that is needed of the data are the sums of x, of y and of xy'. The constants are exact (`special.torus`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import jax.numpy as jnp
import numpy as np
from jax import Array

from orthodrome import special
from orthodrome.manifolds import Euclidean, LogPositive, Product, Sphere
from orthodrome.models.directional.data import read_torus
from orthodrome.models.directional.family import (
    Family,
    Parameters,
    Reals,
    log_exponential,
    log_normal,
    perturbed,
    rough_concentration,
    with_kinds,
)
from orthodrome.models.directional.folds import folded_draws, signed
from orthodrome.targets import Target

if TYPE_CHECKING:
    import xarray


class SineFamily(Family):
    """The sine model: two angles coupled through sin u sin v."""

    dims: ClassVar = {"mean": ["angle", "axis"], "concentration": ["angle"]}
    told_apart: ClassVar = ("concentration", "coupling")

    def read(self, data: Any) -> Reals:
        return read_torus(data)

    def log_volume(self, x: Reals) -> float:
        return float(2 * np.log(2 * np.pi))

    def manifold(self) -> Product:
        return Product({"mean": Sphere(), "concentration": LogPositive(), "coupling": Euclidean()})

    def statistics(self, x: Any) -> dict[str, Any]:
        return {"count": 1.0 * len(x), "first": x.mean(0), "cross": x[:, 0].T @ x[:, 1] / len(x)}

    def loglikelihood(self, p: Parameters, statistics: dict[str, Any]) -> Array:
        along = jnp.sum(p["concentration"] * jnp.sum(p["mean"] * statistics["first"], axis=-1))
        height = along + p["coupling"] * self.coupled(p["mean"], statistics["cross"])
        return statistics["count"] * (height - self.log_constant(p["concentration"], p["coupling"]))

    def coupled(self, mean: Array, cross: Array) -> Array:
        """Return the mean of sin u sin v over the data."""
        first, second = turned(mean)
        return first @ cross @ second

    def log_constant(self, concentration: Array, coupling: Array) -> Array:
        """Return the log of the integral over the torus."""
        return special.log_sine_constant(concentration, coupling)

    def logprior(self, p: Parameters, data: dict[str, Any]) -> Array:
        return log_exponential(p["concentration"], data["scale"]) + log_normal(p["coupling"], data["scale"])

    def start(self, x: Reals, rng: np.random.Generator, components: int) -> Parameters:
        mean = x.mean(0)
        length = np.linalg.norm(mean, axis=-1)
        kappa = np.minimum(rough_concentration(length, 2), 1e3) * np.exp(0.3 * rng.normal(size=2))
        return {
            "mean": perturbed(rng, mean / length[:, None]),
            "concentration": kappa,
            "coupling": np.asarray(0.3 * kappa.min() * rng.normal()),
        }

    def unfolded(self, law: Target) -> Target:
        return signed(self, law)

    def folded(self, tree: xarray.DataTree) -> xarray.DataTree:
        return folded_draws(tree)

    def finished(self, tree: xarray.DataTree, x: Reals) -> xarray.DataTree:
        return with_angles(tree)


class CosineFamily(SineFamily):
    """The cosine model: two angles coupled through cos(u - v)."""

    def coupled(self, mean: Array, cross: Array) -> Array:
        """Return the mean of cos(u - v) over the data."""
        first, second = turned(mean)
        return mean[0] @ cross @ mean[1] + first @ cross @ second

    def log_constant(self, concentration: Array, coupling: Array) -> Array:
        """Return the log of the integral over the torus."""
        return special.log_cosine_constant(concentration, coupling)


def turned(mean: Array) -> Array:
    """Return points of the circle rotated by a right angle."""
    return jnp.stack([-mean[..., 1], mean[..., 0]], axis=-1)


def with_angles(tree: xarray.DataTree) -> xarray.DataTree:
    """Return the draws with the mean angles, within pi of their own mean direction so that no cluster is cut in two."""
    posterior = tree["posterior"].dataset
    mean = np.asarray(posterior["mean"], float)
    center = mean.mean((0, 1))
    middle = np.arctan2(center[..., 1], center[..., 0])
    angle = np.arctan2(mean[..., 1], mean[..., 0]) - middle
    angle = middle + np.angle(np.exp(1j * angle))
    tree["posterior"].dataset = posterior.assign(mean_angle=(posterior["mean"].dims[:-1], angle))
    return with_kinds(tree, {"mean_angle": "Euclidean"})
