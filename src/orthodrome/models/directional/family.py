"""The contract of the families that `Directional` fits.

A family is the likelihood of directional data by its sufficient statistics (so that a gradient costs the same at any
number of rows), a weak prior of one scale, starts from the data, and the post-processing of the draws. Priors:
directions are uniform; concentrations are exponential with the mean `scale`; matrices, vectors and couplings, which may
have either sign, are normal with that standard deviation, in coordinates in which rotations of the space are
isometries.
"""

from __future__ import annotations

import abc
import dataclasses
import json
from typing import TYPE_CHECKING, Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from orthodrome.core.types import Reals
from orthodrome.manifolds import Product, Sphere
from orthodrome.models.directional.data import check_spread
from orthodrome.targets import Posterior, Target

if TYPE_CHECKING:
    import xarray

Parameters = dict[str, Any]


class Family(abc.ABC):
    """A family of distributions on a sphere, a torus or the rotations."""

    dims: ClassVar[dict[str, list[str]]]
    mixture: ClassVar[bool] = False
    """Whether the family has components, and `joint`."""
    told_apart: ClassVar[tuple[str, ...]] = ()
    """Variables of a law with several modes that no symmetry changes: chains that disagree on them are in two."""

    @abc.abstractmethod
    def read(self, data: Any) -> Reals:
        """Return the user's data as rows of the family, or raise."""

    @abc.abstractmethod
    def manifold(self) -> Product:
        """Return the manifold of the parameters."""

    @abc.abstractmethod
    def statistics(self, x: Any) -> dict[str, Any]:
        """Return the sufficient statistics of the rows."""

    @abc.abstractmethod
    def loglikelihood(self, p: Parameters, statistics: dict[str, Any]) -> Array:
        """Return the normalised log likelihood of the rows, from their statistics."""

    @abc.abstractmethod
    def logprior(self, p: Parameters, data: dict[str, Any]) -> Array:
        """Return the log prior, up to a constant."""

    @abc.abstractmethod
    def start(self, x: Reals, rng: np.random.Generator, components: int) -> Parameters:
        """Return a start for a chain near the data."""

    def check_spread(self, x: Reals) -> None:
        """Raise if the data would be fitted with an infinite concentration."""
        check_spread(x)

    def log_volume(self, x: Reals) -> float:
        """Return the log of the volume of the space of a row: minus the log density of the uniform distribution."""
        return Sphere().log_volume(x[0])

    def joint(self, p: Parameters, x: Array) -> Array:
        """Return log weight + log density of every row and component (n, K) of a mixture."""
        raise NotImplementedError(f"{type(self).__name__} is not a mixture")

    def responsibilities(self, p: Parameters, x: Array) -> Array:
        """Return P(component | row), for one draw of a mixture."""
        return jax.nn.softmax(self.joint(p, x), axis=1)

    def unfolded(self, law: Target) -> Target:
        """Return the posterior as chains move on it, which may have several copies of every law."""
        return law

    def folded(self, tree: xarray.DataTree) -> xarray.DataTree:
        """Return draws of `unfolded` with every law in its one copy in `manifold`."""
        return tree

    def finished(self, tree: xarray.DataTree, x: Reals) -> xarray.DataTree:
        """Return the draws aligned to one another, with the derived variables added."""
        return tree

    def logdensity(self, p: Parameters, data: dict[str, Any]) -> Array:
        """Return the log posterior, up to a constant."""
        return self.loglikelihood(p, data["statistics"]) + self.logprior(p, data)

    def rows(self, p: Parameters, x: Array) -> Array:
        """Return the log density of every row."""
        return jax.vmap(lambda row: self.loglikelihood(p, self.statistics(row[None])))(x)

    def target(self, x: Reals, scale: float, weight: float, dtype: str) -> Target:
        """Return the posterior given some rows.

        scale: of the prior
        weight: the concentration of the Dirichlet prior of a mixture
        dtype: of the computation
        """
        data = {"statistics": self.statistics(x), "scale": scale, "weight": weight}
        return Target(self.manifold(), self.logdensity, jax.tree.map(lambda a: jnp.asarray(a, dtype), data))

    def posterior(self, x: Reals, scale: float, weight: float, dtype: str) -> Posterior:
        """Return the posterior of a mixture as a prior and the likelihood of one row, for minibatches of rows."""
        prior = RowPrior(self, float(scale), float(weight))
        return Posterior(self.manifold(), prior, RowLikelihood(self), jnp.asarray(x, dtype))


@dataclasses.dataclass(frozen=True)
class RowLikelihood:
    """The log likelihood of one row, for minibatches."""

    family: Family

    def __call__(self, p: Parameters, row: Array) -> Array:
        """Return it at parameters in the user's coordinates."""
        return self.family.loglikelihood(p, self.family.statistics(row[None]))


@dataclasses.dataclass(frozen=True)
class RowPrior:
    """The log prior with its settings, for minibatches."""

    family: Family
    scale: float
    weight: float

    def __call__(self, p: Parameters) -> Array:
        """Return it at parameters in the user's coordinates."""
        return self.family.logprior(p, {"scale": self.scale, "weight": self.weight})


def with_kinds(tree: xarray.DataTree, kinds: dict[str, str], drop: str = "") -> xarray.DataTree:
    """Return the tree with the manifolds of added variables noted, which `summary` and `diagnose` read."""
    known = json.loads(tree.attrs.get("manifolds", "{}"))
    known.pop(drop, None)
    tree.attrs["manifolds"] = json.dumps(known | kinds)
    return tree


def log_exponential(kappa: Array, scale: Array) -> Array:
    """Return the log density of exponential variables with the mean `scale`, up to a constant."""
    return -jnp.sum(kappa) / scale


def log_normal(x: Array, scale: Array) -> Array:
    """Return the log density of normal variables with the standard deviation `scale`, up to a constant."""
    return -jnp.sum(x * x) / (2 * scale * scale)


def rough_concentration(resultant: Any, d: int) -> Any:
    """Return a concentration with about this mean resultant length (Banerjee et al. 2005), within bounds."""
    r = np.clip(resultant, 0.01, 1 - 1e-6)
    return r * (d - r**2) / (1 - r**2)


def perturbed(rng: np.random.Generator, direction: Reals, size: float = 0.1) -> Reals:
    """Return unit vectors close to the given ones."""
    moved = direction + size * rng.normal(size=direction.shape)
    return moved / np.linalg.norm(moved, axis=-1, keepdims=True)
