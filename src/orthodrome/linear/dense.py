"""Dense matrices over one leaf, for leaves of some hundred numbers at most: n^2 numbers, n^3 operations to factor."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
from jax import Array

from orthodrome.core import lapack
from orthodrome.core.pytree import pytree
from orthodrome.linear.linear_map import LinearMap, PositiveMap, wrong_shape


class _Matrix(LinearMap):
    """What dense maps share: the product with an n x n array."""

    matrix: Array

    def misfit(self, size: int) -> str | None:
        return wrong_shape("matrix", self.matrix, (size, size))

    def apply(self, v: Array) -> Array:
        return (self.matrix @ v.ravel()).reshape(v.shape)

    def transposed(self, v: Array) -> Array:
        return (self.matrix.T @ v.ravel()).reshape(v.shape)

    def dense(self) -> Array:
        return self.matrix


@pytree
class Dense(_Matrix, PositiveMap):
    """A symmetric positive definite matrix over the ravelled leaf.

    matrix: n x n, for a leaf of n numbers
    """

    matrix: Array

    def solve(self, v: Array) -> Array:
        factor = jax.scipy.linalg.cho_factor(self.matrix)
        return jax.scipy.linalg.cho_solve(factor, v.ravel()).reshape(v.shape)

    def root(self) -> Triangular:
        return Triangular(lapack.cholesky(self.matrix))

    def inverse(self) -> Dense:
        return Dense(jnp.linalg.inv(self.matrix))

    def diagonal_entries(self) -> Array:
        return jnp.diag(self.matrix)

    def scaled(self, by: Any) -> Dense:
        return Dense(self.matrix * jnp.asarray(by, self.matrix.dtype))

    def budget(self, time: Array) -> Dense:
        root = jnp.broadcast_to(jnp.sqrt(time), self.matrix.shape[:1])
        return Dense(2 * root[:, None] * self.matrix * root[None, :])


@pytree
class Triangular(_Matrix):
    """A lower triangular matrix over the ravelled leaf, such as Cholesky's factor of a covariance.

    matrix: n x n, zero above the diagonal
    """

    matrix: Array

    def solve(self, v: Array) -> Array:
        return jax.scipy.linalg.solve_triangular(self.matrix, v.ravel(), lower=True).reshape(v.shape)

    def scaled(self, by: Any) -> Triangular:
        return Triangular(self.matrix * jnp.asarray(by, self.matrix.dtype))
