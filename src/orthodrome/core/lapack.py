"""LAPACK's factorisations, one matrix at a time also under `vmap`.

jaxlib (from 0.10 on) hands the matrices of a batch, if they are large, to the threads on which the program itself runs,
and waits there until they are done. As many batches at once as there are threads then wait for each other for ever:
two, on two cores, which a warm-up over several chains of a large leaf met (two batches of QR factorisations of 10,000
rows). A batch of one is factorised where it is asked for. None of these is differentiable.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, TypeVar, cast

import jax.numpy as jnp
from jax import Array
from jax.custom_batching import sequential_vmap

Function = TypeVar("Function", bound=Callable[..., object])


def one_at_a_time(function: Function) -> Function:
    """Return a function that `vmap` turns into a loop."""
    return cast(Function, sequential_vmap(function))


class ThinSVD(NamedTuple):
    """A matrix as left diag(values) right."""

    left: Array
    values: Array
    right: Array


@one_at_a_time
def orthonormal_columns(matrix: Array) -> Array:
    """Return Q of the thin QR factorisation."""
    return jnp.linalg.qr(matrix)[0]


@one_at_a_time
def thin_svd(matrix: Array) -> ThinSVD:
    """Return the singular value decomposition with as many values as the shorter side has elements."""
    return ThinSVD(*jnp.linalg.svd(matrix, full_matrices=False))


@one_at_a_time
def eigh(matrix: Array) -> tuple[Array, Array]:
    """Return the eigenvalues of a symmetric matrix, ascending, and its eigenvectors in columns."""
    values, vectors = jnp.linalg.eigh(matrix)
    return values, vectors


@one_at_a_time
def eigvalsh(matrix: Array) -> Array:
    """Return the eigenvalues of a symmetric matrix, ascending."""
    values: Array = jnp.linalg.eigvalsh(matrix)
    return values


@one_at_a_time
def cholesky(matrix: Array) -> Array:
    """Return the lower triangular root."""
    root: Array = jnp.linalg.cholesky(matrix)
    return root
