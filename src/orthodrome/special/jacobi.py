"""Eigenvalues and vectors of small symmetric matrices by Jacobi's rotations, without LAPACK.

Each rotation sets one pair of off-diagonal entries to zero; sweeps over all pairs converge quadratically, and eight of
them are enough for both precisions. LAPACK's batched calls inside a compiled loop have been seen to wait for one
another forever; here everything is arithmetic that `vmap` spreads.
"""

from __future__ import annotations

from itertools import combinations
from typing import Any

import jax
import jax.numpy as jnp
from jax import Array

_SWEEPS = 8


def jacobi(matrix: Array) -> tuple[Array, Array]:
    """Return the eigenvalues (n,) in no order, and the eigenvectors (n, n) in columns, of one symmetric matrix."""
    n = matrix.shape[0]
    eye = jnp.eye(n, dtype=matrix.dtype)
    if n == 1:
        return matrix[0], eye
    pairs = jnp.asarray(list(combinations(range(n), 2)), jnp.int32)

    def body(i: Array, carry: tuple[Array, Array]) -> tuple[Array, Array]:
        a, vectors = carry
        p, q = pairs[i % len(pairs)]
        cos, sin = _rotation(a[p, p], a[q, q], a[p, q])
        turn = eye.at[p, p].set(cos).at[q, q].set(cos).at[p, q].set(sin).at[q, p].set(-sin)
        return turn.T @ a @ turn, vectors @ turn

    a, vectors = jax.lax.fori_loop(0, _SWEEPS * len(pairs), body, (matrix, eye))
    return jnp.diagonal(a), vectors


def _rotation(first: Array, second: Array, off: Array) -> tuple[Any, Any]:
    """Return the cosine and sine of the smaller angle that makes the pair diagonal."""
    none = off == 0
    ratio = (second - first) / jnp.where(none, 1, 2 * off)
    tangent = jnp.where(ratio < 0, -1, 1) / (jnp.abs(ratio) + jnp.sqrt(1 + ratio * ratio))
    tangent = jnp.where(none, 0, tangent).astype(off.dtype)
    cos = 1 / jnp.sqrt(1 + tangent * tangent)
    return cos, tangent * cos
