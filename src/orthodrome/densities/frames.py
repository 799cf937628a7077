"""Matrix von Mises-Fisher laws on orthonormal frames and on rotations: exp(tr F'X).

**Frames.** Let F = U D V' with d_1 >= .. >= d_p and W = XV; then tr F'X = sum_j d_j u_j'w_j. Propose the columns one
after the other (Hoff 2009): w_j given the earlier ones is von Mises-Fisher on the unit sphere of their orthogonal
complement (of dimension n_j = n - j + 1), with parameter d_j P_j u_j, P_j the projection there. Its constant is
L_j(|d_j P_j u_j|) = log 0F1(n_j / 2; |d_j P_j u_j|^2 / 4), so the target over the proposal is

    prod_j exp[L_j(d_j |P_j u_j|)]  <=  prod_j exp[L_j(d_j)],

because L_j increases and |P_j u_j| <= 1: a true bound, and the sum of L_j(d_j |P_j u_j|) - L_j(d_j) is the log
acceptance probability. At high concentration w_i is close to u_i, orthogonal to u_j, so the rate tends to a constant
instead of 0; with one column it is 1. A matrix-angular-central-Gaussian envelope is uniform over the rotations of the
columns among themselves, and its rate falls without limit as F grows.

**Rotations.** On SO(3) with unit quaternions q, tr F'R(q) = q'Kq: a Bingham law, and R has the law wanted. Both uniform
laws correspond, so the constants are in the ratio of the volumes, 2^(3/2) 8 pi^2 of SO(3) to 2 pi^2 of the sphere. On
SO(2) tr F'R(t) = a cos t + b sin t, with (a, b) = (F_11 + F_22, F_21 - F_12): 2 pi I_0(sqrt(a^2 + b^2)), times sqrt(2)
since a turn by dt has the length sqrt(2) dt. In other dimensions the frames with determinant -1 are refused.
"""

from __future__ import annotations

import math
from typing import Any

import jax
import jax.numpy as jnp
from jax import Array

from orthodrome import random, special
from orthodrome.core.pytree import pytree
from orthodrome.densities.bingham import Bingham
from orthodrome.densities.density import RejectionDensity
from orthodrome.errors import Unsupported


@pytree
class MatrixVonMisesFisher(RejectionDensity):
    """The matrix von Mises-Fisher distribution exp(tr parameter'X) on n x p matrices with orthonormal columns.

    For p = n it is on the orthogonal group, with both determinants. Unnormalised, with respect to the surface
    (Hausdorff,
    hence also Haar) measure.

    parameter: F (n x p)
    """

    parameter: Array

    def logdensity(self, x: Array) -> Array:
        return jnp.sum(x * jnp.broadcast_to(self.parameter, x.shape), axis=(-2, -1))

    def envelope(self) -> Any:
        left, strength, right = jnp.linalg.svd(self.parameter, full_matrices=False)
        return left, strength, right

    def propose(self, envelope: Any, key: Array, count: int) -> tuple[Array, Array]:
        left, strength, right = envelope
        n, p = self.parameter.shape

        def body(carry: tuple[Array, Array], column: tuple[Array, ...]) -> tuple[tuple[Array, Array], None]:
            (frame, log_accept), (column_key, direction, size, j) = carry, column
            drawn, log_ratio = _propose_column(column_key, frame, direction, size, n - j)
            return (frame.at[..., j].set(drawn), log_accept + log_ratio), None

        start = (jnp.zeros((count, n, p), left.dtype), jnp.zeros((count,), left.dtype))
        columns = (jax.random.split(key, p), left.T, strength, jnp.arange(p))
        (frame, log_accept), _ = jax.lax.scan(body, start, columns)
        return frame @ right, log_accept


@pytree
class RotationVonMisesFisher(RejectionDensity):
    """The matrix von Mises-Fisher distribution exp(tr parameter'R) on n x n rotations (determinant 1).

    Unnormalised, with respect to the surface (Hausdorff, hence also Haar) measure.

    parameter: F (n x n)
    """

    parameter: Array

    def logdensity(self, x: Array) -> Array:
        return MatrixVonMisesFisher(self.parameter).logdensity(x)

    def envelope(self) -> Any:
        return self._law().envelope()

    def propose(self, envelope: Any, key: Array, count: int) -> tuple[Array, Array]:
        draws, log_accept = self._law().propose(envelope, key, count)
        if self.parameter.shape[-1] == 3:
            return rotation_from_quaternion(draws), log_accept
        return draws, jnp.where(random.orientation(draws) > 0, log_accept, -jnp.inf)

    def log_constant(self) -> Array:
        """Return the log of the integral of exp(logdensity) over the rotations, in two or three dimensions."""
        n = self.parameter.shape[-1]
        if n == 3:
            return Bingham(quaternion_form(self.parameter)).log_constant() + math.log(8 * math.sqrt(2))
        if n == 2:
            (a, b), (c, d) = self.parameter
            return special.log_bessel_i(0, jnp.hypot(a + d, c - b)) + math.log(2 * math.sqrt(2) * math.pi)
        raise Unsupported(
            f"RotationVonMisesFisher.log_constant is known for 2 x 2 and 3 x 3 rotations, not {n} x {n}; estimate it "
            "with `Tempering` and `log_evidence`"
        )

    def _law(self) -> RejectionDensity:
        three = self.parameter.shape[-1] == 3
        return Bingham(quaternion_form(self.parameter)) if three else MatrixVonMisesFisher(self.parameter)


def _propose_column(
    key: Array, frame: Array, direction: Array, strength: Array, dimension: Array
) -> tuple[Array, Array]:
    """Draw a von Mises-Fisher column in the orthogonal complement of a frame, and return L_j(d_j |P_j u_j|) - L_j(d_j)
    with it.

    frame: the columns so far, zeros for those to come
    direction, strength: u_j and d_j
    dimension: n_j, of the complement
    """
    radial, normals = jax.random.split(key)
    count, n, _ = frame.shape
    covered = jnp.sum(jnp.einsum("cnk,n->ck", frame, direction) ** 2, axis=-1)
    length = jnp.sqrt(jnp.maximum(1 - covered, 0))
    mean = random.unit_off(jnp.broadcast_to(direction, (count, n)), frame)
    normal = jax.random.normal(normals, (count, n), frame.dtype)
    tangent = random.unit_off(normal, jnp.concatenate([frame, mean[..., None]], axis=-1))
    column = random.step_from(mean, random.cosine_gap(radial, dimension, strength * length), tangent)
    flat = strength * length < jnp.finfo(frame.dtype).eps  # uniform, and the mean may be mere rounding
    column = random.unit_off(jnp.where(flat[:, None], normal, column), frame)
    constants = special.log_sphere_mgf_scaled(
        dimension.astype(frame.dtype) / 2 - 1, strength * jnp.concatenate([length, jnp.ones_like(length[:1])])
    )
    return column, constants[:-1] - constants[-1] - strength * covered / (1 + length)


def quaternion_form(f: Array) -> Array:
    """Return the matrix K with tr F'R(q) = q'Kq for unit quaternions q = (w, x, y, z)."""
    (a, b, c), (d, e, g), (h, i, j) = f
    return jnp.array(
        [
            [a + e + j, i - g, c - h, d - b],
            [i - g, a - e - j, b + d, c + h],
            [c - h, b + d, e - a - j, g + i],
            [d - b, c + h, g + i, j - a - e],
        ]
    )


def rotation_from_quaternion(q: Array) -> Array:
    """Return the rotation matrices of unit quaternions (w, x, y, z)."""
    w, x, y, z = jnp.moveaxis(q, -1, 0)
    rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
        [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
        [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
    ]
    return jnp.stack([jnp.stack(row, axis=-1) for row in rows], axis=-2)
