"""Orthogonal matrices and rotations: one-parameter subgroups.

    X(t) = X exp(t A),   V(t) = X(t) A,   A = X'V skew-symmetric,

in closed form for n = 2 and n = 3 (Rodrigues). With the embedded (Frobenius) metric the surface measure is Haar's, and
a plane turning once has length 2 sqrt(2) pi. The flow stays in its component: the determinant never changes.
"""

from __future__ import annotations

import math
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from orthodrome.core.pytree import pytree, static
from orthodrome.core.types import Reals
from orthodrome.manifolds.exponential import exponential_skew, identity, transposed
from orthodrome.manifolds.manifold import Manifold
from orthodrome.manifolds.speed import restoring_factor, steady_square
from orthodrome.manifolds.stiefel import log_frames, reflected, turned_to


@pytree
class Rotation(Manifold):
    """Rotation matrices; densities with respect to the surface measure, which is proportional to Haar measure.

    special: whether the determinant is 1; otherwise all orthogonal matrices
    """

    special: bool = static(default=True)
    point_ndim = 2
    mirrored = True

    def dimension(self, x: Array) -> int:
        n = x.shape[-1]
        return x.size // (n * n) * (n * (n - 1) // 2)

    def project(self, x: Array, u: Array) -> Array:
        return x @ _skew(transposed(x) @ u)

    def geodesic(self, x: Array, v: Array, t: Any) -> tuple[Array, Array]:
        turn = _skew(transposed(x) @ v)
        square = jnp.sum(turn * turn, axis=(-2, -1), keepdims=True)
        turn = turn * restoring_factor(steady_square(square), square)
        # one Newton-Schulz step to the polar factor removes the rounding errors of x
        y = x @ ((1.5 * identity(x) - 0.5 * (transposed(x) @ x)) @ exponential_skew(turn, t))
        return y, y @ turn

    def retract(self, x: Array) -> Array:
        left, _, right = jnp.linalg.svd(x)
        if not self.special:
            return left @ right
        return jnp.concatenate([left[..., :-1], left[..., -1:] * _determinant(left @ right)], axis=-1) @ right

    def random_point(self, key: Array, like: Any) -> Array:
        return self.retract(jax.random.normal(key, like.shape, like.dtype))

    def distance(self, x: Array) -> Array:
        off = jnp.max(jnp.abs(transposed(x) @ x - identity(x)))
        return jnp.maximum(off, jnp.max(jnp.abs(_determinant(x) - 1))) if self.special else off

    def component(self, x: Array) -> Array:
        return super().component(x) if self.special else reflected(x)

    def into_component(self, x: Array, other: Array) -> Array:
        return x if self.special else turned_to(x, other)

    def max_step(self, x: Array) -> float:
        n = x.shape[-1]
        return math.pi / math.sqrt(2) / math.sqrt(max(1, n * (n - 1) // 2))

    def log_volume_of_point(self, shape: tuple[int, ...]) -> float:
        return log_frames(*shape) - (math.log(2) if self.special else 0.0)  # SO(n) is half of the square frames

    @classmethod
    def summary(cls, draws: Reals) -> dict[str, Reals]:
        """Return the mean rotation M of every copy and tr(M' E X) / n as the resultant length.

        M is the matrix nearest to E X with the determinant that all draws of the copy have, and its polar factor where
        they have both.
        """
        mean = draws.mean((0, 1), dtype=float)
        u, _, vt = np.linalg.svd(mean)
        signs = np.sign(np.linalg.det(draws.astype(float)))
        orientation = np.where((signs == signs[:1, :1]).all((0, 1)), signs[0, 0], 0)  # 0: chains in both components
        turn = np.where(orientation == 0, 1, orientation * np.sign(np.linalg.det(u @ vt)))
        u[..., -1] *= turn[..., None]
        rotation = u @ vt
        length = np.sum(rotation * mean, axis=(-2, -1)) / mean.shape[-1]
        return {"mean_rotation": rotation, "resultant_length": length}


def _skew(a: Array) -> Array:
    return (a - transposed(a)) / 2


def _determinant(a: Array) -> Array:
    determinant: Array = jnp.linalg.det(a)
    return determinant[..., None, None]
