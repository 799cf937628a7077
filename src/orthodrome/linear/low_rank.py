"""A diagonal with a few directions of its own, over one leaf: k n numbers and O(k n) operations, for any n.

`LowRank` is the positive map

    A = diag(d) + F F',         F with k columns,

or the same with a minus sign, so that the inverse has the same form (Woodbury's identity):

    (diag(d) + s F F')^-1 = diag(1/d) - s W W',     W = diag(1/d) F K^-T,   K K' = I + s F' diag(1/d) F,   s = +-1.

With the singular values diag(d)^(-1/2) F = U diag(c) W' a root of A is

    S = diag(d)^(1/2) (I + U diag(sqrt(1 + s c^2) - 1) U'),

which is `Stretched`: the identity stretched along a few orthonormal directions, then scaled element by element.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
from jax import Array

from orthodrome.core import lapack
from orthodrome.core.pytree import pytree, replace, static
from orthodrome.linear.linear_map import LinearMap, PositiveMap, wrong_shape


@pytree
class LowRank(PositiveMap):
    """diag(diagonal) + sign factor factor', over the ravelled leaf.

    factor: n x k, for a leaf of n numbers
    diagonal: n numbers; above 0, except for a covariance that is only subtracted (the gradient's noise)
    sign: 1; the inverse of a map has the opposite sign
    """

    factor: Array
    diagonal: Array
    sign: int = static(default=1)

    def misfit(self, size: int) -> str | None:
        factor = wrong_shape("factor", self.factor, (size, self.factor.shape[-1]))
        return factor or wrong_shape("diagonal", self.diagonal, (size,))

    def apply(self, v: Array) -> Array:
        flat = v.ravel()
        return (self.diagonal * flat + self.sign * (self.factor @ (self.factor.T @ flat))).reshape(v.shape)

    def transposed(self, v: Array) -> Array:
        return self.apply(v)

    def solve(self, v: Array) -> Array:
        return self.inverse().apply(v)

    def dense(self) -> Array:
        square = self.factor @ self.factor.T
        return (square if self.sign > 0 else -square) + jnp.diag(self.diagonal)

    def root(self) -> Stretched:
        scale = jnp.sqrt(self.diagonal)
        directions, c, _ = lapack.thin_svd(self.factor / scale[:, None])
        return Stretched(scale, directions, jnp.sqrt(1 + self.sign * c**2))

    def inverse(self) -> LowRank:
        part = self.factor / self.diagonal[:, None]
        capacitance = jnp.eye(self.factor.shape[1], dtype=part.dtype) + self.sign * (self.factor.T @ part)
        columns = jax.scipy.linalg.solve_triangular(lapack.cholesky(capacitance), part.T, lower=True).T
        return LowRank(columns, 1 / self.diagonal, -self.sign)

    def diagonal_entries(self) -> Array:
        return self.diagonal + self.sign * jnp.sum(self.factor**2, axis=1)

    def scaled(self, by: Any) -> LowRank:
        by = jnp.asarray(by, self.diagonal.dtype)
        return replace(self, factor=self.factor * jnp.sqrt(by), diagonal=self.diagonal * by)

    def budget(self, time: Array) -> LowRank:
        return replace(self, factor=jnp.sqrt(2 * time)[:, None] * self.factor, diagonal=2 * time * self.diagonal)


@pytree
class Stretched(LinearMap):
    """diag(scale) (I + U diag(stretch - 1) U'), over the ravelled leaf; not symmetric.

    scale: n numbers, for a leaf of n numbers
    directions: U, n x k with orthonormal columns
    stretch: k numbers, the factor along each direction
    """

    scale: Array
    directions: Array
    stretch: Array

    def misfit(self, size: int) -> str | None:
        rank = self.stretch.shape[-1]
        directions = wrong_shape("directions", self.directions, (size, rank))
        return directions or wrong_shape("scale", self.scale, (size,)) or wrong_shape("stretch", self.stretch, (rank,))

    def apply(self, v: Array) -> Array:
        return (self.scale * self._stretched(v.ravel(), self.stretch)).reshape(v.shape)

    def transposed(self, v: Array) -> Array:
        return self._stretched(self.scale * v.ravel(), self.stretch).reshape(v.shape)

    def solve(self, v: Array) -> Array:
        return self._stretched(v.ravel() / self.scale, 1 / self.stretch).reshape(v.shape)

    def dense(self) -> Array:
        stretched = (self.directions * (self.stretch - 1)[None, :]) @ self.directions.T
        return self.scale[:, None] * (jnp.eye(self.scale.size, dtype=self.scale.dtype) + stretched)

    def scaled(self, by: Any) -> Stretched:
        return replace(self, scale=self.scale * jnp.asarray(by, self.scale.dtype))

    def _stretched(self, v: Array, stretch: Array) -> Array:
        return v + self.directions @ ((stretch - 1) * (self.directions.T @ v))
