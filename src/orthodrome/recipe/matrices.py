"""The two matrices of the recipe, D(z) and Q(z), as the user gives them.

    None             the zero matrix
    f(z)             a matrix over the ravelled z
    MatrixFree(f)    by its products: f(z, v) is D(z) v, for trees v like z; for a large z

If there are `data`, every function gets them as its last argument.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jax import Array
from jax.flatten_util import ravel_pytree

from orthodrome.core.types import Tree


@dataclasses.dataclass(frozen=True)
class MatrixFree:
    """A matrix that is given by its products with vectors.

    function: (z, v) -> D(z) v, a tree like z
    root: (z, w) -> R(z) w with R R' = D, which a diffusion needs for its noise; None: from the matrix, for a small z
    """

    function: Callable[..., Any]
    root: Callable[..., Any] | None = None


Matrix = Callable[..., Any] | MatrixFree | None


def product(matrix: Matrix, z: Tree, v: Tree, data: Any) -> Tree:
    """Return the matrix at z times v."""
    if matrix is None:
        return jax.tree.map(jnp.zeros_like, v)
    if isinstance(matrix, MatrixFree):
        return call(matrix.function, data, z, v)
    flat, unravel = ravel_pytree(v)
    return unravel(call(matrix, data, z) @ flat)


def dense(matrix: Matrix, z: Tree, data: Any) -> Array:
    """Return the matrix at z as an array over the ravelled z."""
    flat, unravel = ravel_pytree(z)
    if matrix is None:
        return jnp.zeros((flat.size, flat.size), flat.dtype)
    if isinstance(matrix, MatrixFree):
        column = lambda e: ravel_pytree(call(matrix.function, data, z, unravel(e)))[0]
        return jax.vmap(column, out_axes=1)(jnp.eye(flat.size, dtype=flat.dtype))
    return call(matrix, data, z)


def call(function: Callable[..., Any], data: Any, *arguments: Any) -> Any:
    """Call the user's function, with the data as its last argument if there are any."""
    return function(*arguments) if data is None else function(*arguments, data)


def symmetric_root(matrix: Array) -> tuple[Array, Array]:
    """Return the root of a symmetric matrix, negative eigenvalues set to zero, and the smallest eigenvalue over the
    largest."""
    values, vectors = jnp.linalg.eigh(matrix)
    size = jnp.maximum(jnp.max(jnp.abs(values)), jnp.finfo(matrix.dtype).tiny)
    return (vectors * jnp.sqrt(jnp.maximum(values, 0))[None, :]) @ vectors.T, values[0] / size
