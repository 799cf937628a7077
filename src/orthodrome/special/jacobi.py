"""Eigenvalues and vectors of symmetric matrices by Jacobi's rotations, and by LAPACK where they are large.

Each rotation sets one pair of off-diagonal entries to zero. The pairs of one round of a tournament (Brent & Luk 1985)
have no index in common, so n/2 rotations are made at once, as elementwise products of the halves of the matrix: a round
costs O(n^2), a sweep of n - 1 rounds meets every pair and costs O(n^3), and the sweeps converge quadratically.

LAPACK's batched calls inside a compiled loop have been seen to wait for one another forever; here everything is
arithmetic that `vmap` spreads. Above `LARGEST` rows LAPACK is faster, and parallel rotations converge slowly where many
eigenvalues are equal.
"""

from __future__ import annotations

import math
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

LARGEST = 16
_SWEEPS = 8
"""For one row; one more for every doubling of their number (measured: at most 2e-14 of the largest entry is left)."""


def eigen(matrix: Array) -> tuple[Array, Array]:
    """Return the eigenvalues (n,), in no order, and the eigenvectors (n, n), in columns, of one symmetric matrix."""
    return jacobi(matrix) if matrix.shape[0] <= LARGEST else jnp.linalg.eigh(matrix)


def jacobi(matrix: Array) -> tuple[Array, Array]:
    """Return the eigenvalues (n,) in no order, and the eigenvectors (n, n) in columns, of one symmetric matrix."""
    n = matrix.shape[0]
    vectors = jnp.eye(n, dtype=matrix.dtype)
    if n == 1:
        return matrix[0], vectors
    if n % 2:  # a player without an opponent: a row of zeros, which no rotation touches
        matrix, vectors = jnp.pad(matrix, ((0, 1), (0, 1))), jnp.pad(vectors, ((0, 0), (0, 1)))
    size = n + n % 2
    rounds = (_SWEEPS + int(math.log2(size))) * (size - 1)
    a, vectors = jax.lax.fori_loop(0, rounds, lambda _, carry: _round(*carry), (matrix, vectors))
    if n == size:
        return jnp.diagonal(a), vectors
    # after whole sweeps everybody is back in place, the idle player at the end
    return jnp.diagonal(a)[:n], vectors[:, :n]


def _round(a: Array, vectors: Array) -> tuple[Array, Array]:
    """Rotate the pairs (i, i + n/2) to zero, all at once, and seat the players for the next round."""
    half = a.shape[0] // 2
    diagonal = jnp.diagonal(a)
    cos, sin = _rotation(diagonal[:half], diagonal[half:], jnp.diagonal(a, half))
    seats = _seats(2 * half)
    turned = _turn_columns(a, cos, sin)
    both = _turn_columns(turned.T, cos, sin)
    return both[seats][:, seats], _turn_columns(vectors, cos, sin)[:, seats]


def _turn_columns(a: Array, cos: Array, sin: Array) -> Array:
    """Return a G, where G rotates column i and column i + n/2 into each other."""
    half = cos.shape[0]
    first, second, cos, sin = a[:, :half], a[:, half:], cos[None], sin[None]
    return jnp.concatenate([first * cos - second * sin, first * sin + second * cos], axis=1)


def _seats(size: int) -> np.ndarray:
    """Return who sits where next: player 0 stays, the others go round the table one seat."""
    half = size // 2
    ring = [*range(1, half), *range(size - 1, half - 1, -1)]
    seats = np.arange(size)
    seats[ring] = ring[-1:] + ring[:-1]
    return seats


def _rotation(first: Array, second: Array, off: Array) -> tuple[Any, Any]:
    """Return the cosine and sine of the smaller angle that makes the pair diagonal."""
    none = off == 0
    ratio = (second - first) / jnp.where(none, 1, 2 * off)
    tangent = jnp.where(ratio < 0, -1, 1) / (jnp.abs(ratio) + jnp.sqrt(1 + ratio * ratio))
    tangent = jnp.where(none, 0, tangent).astype(off.dtype)
    cos = 1 / jnp.sqrt(1 + tangent * tangent)
    return cos, tangent * cos
