"""Inverse, determinant and Cholesky's factor of small positive definite matrices in plain array operations.

Batches of LAPACK calls inside compiled loops have been seen to hang, and the exact Riemannian samplers factor a metric
in every iteration of every chain. A matrix here is an array over a vector: n x n, or n numbers for a diagonal.
"""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import Array


class Inverted(NamedTuple):
    """A matrix, its inverse, and the log of its determinant (NaN if the matrix is not positive definite)."""

    matrix: Array
    inverse: Array
    log_determinant: Array


def invert(a: Array) -> Inverted:
    """Return inverse and determinant by Gauss-Jordan sweeps; the pivots of a positive definite matrix are positive."""
    if a.ndim == 1:
        return Inverted(a, 1 / a, jnp.sum(jnp.log(a)))

    def sweep(k: Array, carry: tuple[Array, Array]) -> tuple[Array, Array]:
        rest, log_determinant = carry
        row, pivot = rest[k], rest[k, k]
        rest = rest - jnp.outer(row, row) / pivot
        line = (row / pivot).at[k].set(-1 / pivot)
        return rest.at[k].set(line).at[:, k].set(line), log_determinant + jnp.log(pivot)

    swept, log_determinant = jax.lax.fori_loop(0, len(a), sweep, (a, jnp.zeros((), a.dtype)))
    return Inverted(a, -swept, log_determinant)


def cholesky(a: Array) -> Array:
    """Return the lower triangular s with s s' = a, column by column; elementwise for a diagonal."""
    if a.ndim == 1:
        return jnp.sqrt(a)
    rows = jnp.arange(len(a))

    def column(k: Array, carry: tuple[Array, Array]) -> tuple[Array, Array]:
        rest, factor = carry
        line = jnp.where(rows >= k, rest[:, k] / jnp.sqrt(rest[k, k]), 0)
        return rest - jnp.outer(line, line), factor.at[:, k].set(line)

    return jax.lax.fori_loop(0, len(a), column, (a, jnp.zeros_like(a)))[1]


def product(a: Array, v: Array) -> Array:
    """Return a v."""
    return a * v if a.ndim == 1 else a @ v


def outer(w: Array, like: Array) -> Array:
    """Return w w' in the form of `like`: the matrix, or its diagonal."""
    return w * w if like.ndim == 1 else jnp.outer(w, w)
