"""Spaces that are mapped onto spheres: the embedded point is a unit vector along the last axis.

`Simplex`, `Ball` and `Box` differ only in their maps to and from the user's coordinates; projection, geodesic and the
removal of rounding errors are the sphere's.
"""

from __future__ import annotations

from typing import Any

from jax import Array

from orthodrome.manifolds.manifold import Manifold
from orthodrome.manifolds.sphere import Sphere

SPHERE = Sphere()


class OnSphere(Manifold):
    """A manifold whose embedded points are unit vectors along the last axis."""

    def dimension(self, x: Array) -> int:
        return SPHERE.dimension(x)

    def project(self, x: Array, u: Array) -> Array:
        return SPHERE.project(x, u)

    def geodesic(self, x: Array, v: Array, t: Any) -> tuple[Array, Array]:
        return SPHERE.geodesic(x, v, t)

    def retract(self, x: Array) -> Array:
        return SPHERE.retract(x)

    def distance(self, x: Array) -> Array:
        return SPHERE.distance(x)

    def max_step(self, x: Array) -> float:
        return SPHERE.max_step(x)
