"""Linear constraints: the points x with A x = b, straight lines inside them.

With B an orthonormal basis (rows) of A's row space and o the solution of least norm,

    P u = u - B'B u,     x(t) = x + t v,     retract(x) = x - B'B (x - o).

The factorisation is made once, where the user writes `Affine(A, b)`; redundant rows are dropped. A system without a
solution is met in the least-squares sense.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from orthodrome.core.pytree import pytree
from orthodrome.core.types import Reals
from orthodrome.errors import BadInput
from orthodrome.manifolds.manifold import Manifold

_UNSET = object()


@pytree
class Affine(Manifold):
    """Vectors x with matrix x = offset; densities with respect to Lebesgue measure on that affine subspace.

    `Affine(matrix, offset)` factorises the equations once.

    matrix: A (m x n), whose rows may be redundant
    offset: b, one number or m
    basis, origin: the factorised form, which only JAX passes: an orthonormal basis of the rows, the solution of least
        norm
    """

    pins = True
    basis: Array
    origin: Array

    def __init__(self, matrix: Any = None, offset: Any = None, *, basis: Any = _UNSET, origin: Any = _UNSET) -> None:
        # JAX rebuilds the object from its two fields; only the user's call, from the equations, factorises
        fields = _factorise(matrix, offset) if basis is _UNSET else (basis, origin)
        object.__setattr__(self, "basis", fields[0])
        object.__setattr__(self, "origin", fields[1])

    def dimension(self, x: Array) -> int:
        return x.size // x.shape[-1] * (x.shape[-1] - self.basis.shape[0])

    def project(self, x: Array, u: Array) -> Array:
        return u - self._normal_part(u)

    def geodesic(self, x: Array, v: Array, t: Any) -> tuple[Array, Array]:
        return self.retract(x + t * v), v

    def retract(self, x: Array) -> Array:
        return x - self._normal_part(x - self._origin(x))

    def random_point(self, key: Array, like: Any) -> Array:
        normal = jax.random.normal(key, like.shape, like.dtype)
        return self.project(normal, normal) + self._origin(normal)

    def distance(self, x: Array) -> Array:
        return jnp.max(jnp.abs(self._normal_part(x - self._origin(x))))

    def max_step(self, x: Array) -> float:
        return jnp.inf

    def _normal_part(self, u: Array) -> Array:
        basis = jnp.asarray(self.basis, u.dtype)
        return (u @ basis.T) @ basis

    def _origin(self, x: Array) -> Array:
        return jnp.broadcast_to(jnp.asarray(self.origin, x.dtype), x.shape)


def _read(matrix: Any, offset: Any) -> tuple[Reals, Reals]:
    try:
        wide, level = np.atleast_2d(np.asarray(matrix, np.float64)), np.asarray(offset, np.float64)
    except (TypeError, ValueError):
        raise BadInput("Affine(matrix, offset) takes arrays of numbers, for matrix x = offset") from None
    if wide.ndim != 2 or not wide.size or not np.all(np.isfinite(wide)) or not np.all(np.isfinite(level)):
        raise BadInput(f"Affine: the matrix, of the shape {wide.shape}, and the offset must be of finite numbers")
    if level.shape not in ((), (1,), wide.shape[:1]):
        raise BadInput(f"Affine: the offset has the shape {level.shape}, the matrix {wide.shape}; one number for a row")
    return wide, level


def _factorise(matrix: Any, offset: Any) -> tuple[Array, Array]:
    wide, offset = _read(matrix, offset)
    left, scales, right = np.linalg.svd(wide, full_matrices=False)
    kept = scales > scales.max(initial=0.0) * max(wide.shape) * np.finfo(np.float64).eps
    basis = right[kept]
    origin = basis.T @ ((left.T @ np.broadcast_to(offset, wide.shape[:1]))[kept] / scales[kept])
    dtype = jnp.result_type(float)
    return jnp.asarray(basis, dtype), jnp.asarray(origin, dtype)
