"""The contract of every space a parameter can live on.

A manifold is embedded in R^n with the metric it inherits from there. Vectors are ambient arrays; `project` makes them
tangent. Densities inside the samplers are with respect to the surface (Hausdorff) measure of the embedding:

    log pi_H(x) = logdensity(to_user(x)) + log_measure(x),

where `logdensity` is the user's function of the coordinates they think in, with respect to the measure each class
names, and `log_measure` is the log Jacobian between the two. It is added once by the target and never multiplied by
N/n.

The last `point_ndim` axes of an array make one point; all axes before them are independent copies: a K x V matrix on
`Sphere()` is K unit vectors, of dimension K (V - 1).
"""

from __future__ import annotations

import abc
import math
from typing import Any, ClassVar

import jax.numpy as jnp
import numpy as np
from jax import Array

from orthodrome.core import trees
from orthodrome.core.types import Reals, Tree
from orthodrome.errors import BadInput
from orthodrome.linear.linear_map import LinearMap

NEAR = 1e-3
"""A point this near to the manifold would pass the doors, but for rounding."""
QUANTILES = (0.05, 0.5, 0.95)
"""The quantiles of a summary: the median and a central 90 per cent interval."""


class Manifold(abc.ABC):
    """The base class of all manifolds: projection, geodesic flow and measure (Byrne & Girolami 2013)."""

    exact_flow: ClassVar[bool] = True
    """Whether geodesics compose and keep their speed to rounding (not `LevelSet`, whose flow is RATTLE's drift)."""
    smooth: ClassVar[bool] = True
    """Whether geodesics are differentiable in time (not at walls that reflect)."""
    flat: ClassVar[bool] = False
    """Whether the projection is the identity, so that every element may have its own step size."""
    step_maps: ClassVar[tuple[type[LinearMap], ...]] = ()
    """The linear maps whose units a step may have where it is not `flat`: those that keep the tangent space."""
    point_ndim: ClassVar[int] = 1
    """The number of trailing axes of an array that make one point, in the user's coordinates."""
    mirrored: ClassVar[bool] = False
    """Whether the space contains -x with every x, so that the sign of a parameter may be arbitrary."""
    pins: ClassVar[bool] = False
    """Some of its numbers may be the same in all draws: a constraint fixes them, or they underflow to 0."""
    advice: ClassVar[str] = ""
    """What to do if the log density at the start is non-finite."""

    @abc.abstractmethod
    def dimension(self, x: Tree) -> int:
        """Return the dimension of the manifold, summed over copies."""

    @abc.abstractmethod
    def project(self, x: Tree, u: Tree) -> Tree:
        """Return the orthogonal projection of the ambient vector u onto the tangent space at x."""

    @abc.abstractmethod
    def geodesic(self, x: Tree, v: Tree, t: Any) -> tuple[Tree, Tree]:
        """Return the point and the velocity at time t on the geodesic that leaves x with velocity v.

        t: a tree like x with one number per leaf, or one per element on flat leaves
        returns: NaN where the flow fails (`LevelSet`), which the samplers take as a rejected move
        """

    @abc.abstractmethod
    def retract(self, x: Tree) -> Tree:
        """Return a point of the manifold nearest or close to x; the identity on the manifold."""

    @abc.abstractmethod
    def random_point(self, key: Array, like: Tree) -> Tree:
        """Draw a random embedded point: uniformly on compact spaces, from a standard choice elsewhere.

        like: an array of the parameter's shape and dtype, in the user's coordinates
        """

    @abc.abstractmethod
    def distance(self, x: Tree) -> Array:
        """Return how far x is from the manifold: the largest violation of its equations over elements and copies."""

    @abc.abstractmethod
    def max_step(self, x: Tree) -> Any:
        """Return the largest sensible step size of each leaf, infinite on flat spaces.

        It is half the injectivity radius over the square root of the dimension per copy (a typical speed), so that one
        step never passes a quarter of a closed geodesic.
        """

    def random_velocity(self, key: Array, x: Tree) -> Tree:
        """Draw a standard normal vector in the tangent space at x."""
        return self.project(x, trees.normal_like(key, x))

    def to_user(self, x: Tree) -> Tree:
        """Convert an embedded point to the user's coordinates."""
        return x

    def user_logs(self, x: Tree) -> Tree | None:
        """Return the logs of `to_user(x)`, exact where the numbers themselves underflow; None: they are not known.

        Where they are known, the user's log p is taken from them (`core.carried_logs`).
        """
        return None

    def from_user(self, p: Tree) -> Tree:
        """Convert a point in the user's coordinates to an embedded point; `to_user` takes it back."""
        return p

    def walls(self, x: Tree) -> Tree | None:
        """Return the distance of every element from the wall it would cross, inf where there is none; None: no walls.

        Exact samplers soften the force near walls (`dynamics.soft_walls`).
        """
        return None

    def component(self, x: Tree) -> Array:
        """Return which of two connected components each copy is in, as 0 or 1 in one row; empty where there is one.

        Geodesics never leave their component, so neither do the samplers that follow them.
        """
        return jnp.zeros((0,), jnp.int32)

    def into_component(self, x: Tree, other: Tree) -> Tree:
        """Return x moved into the component of another point of the same shape, by a reflection if need be."""
        return x

    def log_measure(self, x: Tree) -> Array | float:
        """Return the log density of the user's reference measure with respect to the surface measure, summed over all
        copies."""
        return 0.0

    def log_volume(self, like: Tree) -> float:
        """Return the log of the surface measure of the whole space, for positions of the shape of `like`."""
        first = like.ndim - self.point_ndim
        copies: int = math.prod(like.shape[:first])
        return copies * self.log_volume_of_point(like.shape[first:])

    def log_volume_of_point(self, shape: tuple[int, ...]) -> float:
        """Return the log of the surface measure for one copy, whose embedded points have this shape."""
        kind = type(self).__name__
        raise BadInput(f"the volume of {kind} is not known or not finite; known are Sphere, Simplex, Stiefel, Rotation")

    def least_concentration(self, adjusted: bool) -> float | None:
        """Return the smallest a at which a sampler, with a Metropolis test or without, is valid at a wall where the
        density is like p^(a - 1); None: any a, or there are no walls."""
        return None

    def remedy(self, name: str, p: Reals) -> str:
        """Return what to do with a start p, called `name`, that is off the manifold."""
        retracted = self.retract(jnp.asarray(p))
        if bool(jnp.all(jnp.isfinite(retracted))) and float(self.distance(retracted)) < NEAR:
            return "pass `manifold.retract(start)`"
        return "no point of the space is nearest to it: start elsewhere, or ask for random points (ShapeDtypeStruct)"

    @classmethod
    def summary(cls, draws: Reals) -> dict[str, Reals]:
        """Return statistics of draws (chain, draw, ...) in the user's coordinates, by name: mean, sd and quantiles."""
        quantiles = np.quantile(draws, QUANTILES, axis=(0, 1))
        found = {"mean": draws.mean((0, 1)), "sd": draws.std((0, 1), ddof=1)}
        return found | {f"q{100 * q:02.0f}": level for q, level in zip(QUANTILES, quantiles, strict=True)}


def manifold_named(name: str) -> type[Manifold]:
    """Return the class of a manifold by its name, as draws on disk state it; `Manifold` if there is none."""
    found, every = Manifold, [Manifold]
    while every:
        kind = every.pop()
        found, every = (kind if kind.__name__ == name else found), every + kind.__subclasses__()
    return found
