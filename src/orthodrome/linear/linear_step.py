"""Step sizes, and steps in the units of a linear map.

A step size is a number, an array, a linear map, or a tree of these. Different steps for different parts of the position
are a change of units. With a step h_i per leaf (or per element of a flat leaf) the geodesic flow and the kicks of that
part both use h_i, and the kinetic energy stays |v|^2 / 2:

    x_i <- geodesic(x_i, v_i, h_i),      v_i <- v_i + h_i P(x_i) grad_i.

On flat leaves the change of units may be any linear map L (section 4.1 of Byrne & Girolami 2013):

    x <- x + h L v,      v <- v + h L' grad.

L L' is the inverse mass matrix of the literature; the covariance of the law is a good one.
"""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
from jax import Array

from orthodrome.core.pytree import pytree, replace
from orthodrome.linear.linear_map import LinearMap


@pytree
class LinearStep(LinearMap):
    """A step size h in the units of a linear map L, on one flat leaf: `LinearStep(0.1, Dense(covariance).root())`.

    size: h, one number
    units: L; a root of the inverse mass matrix
    """

    size: Any
    units: LinearMap

    def misfit(self, size: int) -> str | None:
        return self.units.misfit(size)

    def apply(self, v: Array) -> Array:
        return self.size * self.units.apply(v)

    def transposed(self, v: Array) -> Array:
        return self.size * self.units.transposed(v)

    def solve(self, v: Array) -> Array:
        return self.units.solve(v) / self.size

    def dense(self) -> Array:
        return self.size * self.units.dense()

    def scaled(self, by: Any) -> LinearStep:
        return replace(self, size=self.size * jnp.asarray(by, jnp.result_type(self.size, float)))


def duration(h: Any) -> Any:
    """Return the time that a step takes: the step itself, or the size of a step in the units of a map."""
    return h.size if isinstance(h, LinearStep) else h
