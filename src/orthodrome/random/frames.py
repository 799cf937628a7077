"""Uniform frames and the orientation of orthogonal matrices, by whole batches and without LAPACK."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
from jax import Array

from orthodrome.random.directions import unit_off


def frame(key: Array, shape: tuple[int, ...], dtype: Any) -> Array:
    """Draw uniform (Haar) n x p matrices with orthonormal columns.

    key: of JAX
    shape: of the result; its last two axes are n and p
    dtype: of the result
    """
    return orthonormal(jax.random.normal(key, shape, dtype))[0]


def orthonormal(z: Array) -> tuple[Array, Array]:
    """Return Q and log det R of z = QR with a positive diagonal in R, without which Q of normals would not be uniform.

    Column by column over the whole batch, not by LAPACK: its batched calls inside a compiled loop have been seen to
    wait for one another forever on a machine with two cores.
    """

    def body(carry: tuple[Array, Array], column: tuple[Array, Array]) -> tuple[tuple[Array, Array], None]:
        (q, log_det), (v, j) = carry, column
        new = unit_off(v, q)
        return (q.at[..., j].set(new), log_det + jnp.log(jnp.sum(new * v, axis=-1))), None

    start = (jnp.zeros_like(z), jnp.zeros(z.shape[:-2], z.dtype))
    return jax.lax.scan(body, start, (jnp.moveaxis(z, -1, 0), jnp.arange(z.shape[-1])))[0]


def orientation(q: Array) -> Array:
    """Return the determinant, 1 or -1, of orthogonal matrices: the parity of the reflections that make the identity.

    q: orthogonal matrices, in the last two axes
    """
    n = q.shape[-1]

    def body(carry: tuple[Array, Array], j: Array) -> tuple[tuple[Array, Array], None]:
        rest, sign = carry
        v = rest[..., j] - jnp.broadcast_to(jax.nn.one_hot(j, n, dtype=q.dtype), q.shape[:-1])
        size = jnp.sum(v**2, axis=-1)
        there = size < jnp.finfo(q.dtype).eps  # this column is in place: no reflection
        shift = jnp.einsum("...i,...ij->...j", v, rest) * jnp.where(there, 0, 2 / jnp.maximum(size, 1e-30))[..., None]
        return (rest - v[..., None] * shift[..., None, :], jnp.where(there, sign, -sign)), None

    return jax.lax.scan(body, (q, jnp.ones(q.shape[:-2], q.dtype)), jnp.arange(n))[0][1]
