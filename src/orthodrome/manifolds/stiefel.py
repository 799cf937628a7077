"""Orthonormal frames: n x p matrices with X'X = I, in the embedded (Euclidean) metric (Byrne & Girolami, section 4.3).

    P(X) U = U - X (X'U + U'X) / 2,
    [X(t) V(t)] = [X V] exp(t [[A, -S], [I, A]]) diag(e^{-tA}, e^{-tA}),   A = X'V (skew),  S = V'V.

Everything but the first and the last product happens in 2p x 2p matrices. The rounding errors of the incoming pair are
removed in the coefficients, at every call: X (I - (X'X - I) / 2) is one Newton-Schulz step to the polar factor, and V
loses its normal part. V is measured in units of its size, which balances the exponent. One column is a sphere.

The injectivity radius is pi (Zimmermann & Stoye 2024), sqrt(2) pi for square matrices.
"""

from __future__ import annotations

import math
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from orthodrome.core.pytree import pytree
from orthodrome.core.types import Reals
from orthodrome.manifolds.exponential import exponential, exponential_skew, identity, transposed
from orthodrome.manifolds.manifold import Manifold
from orthodrome.manifolds.speed import restoring_factor, steady_square
from orthodrome.manifolds.sphere import Sphere, log_area


@pytree
class Stiefel(Manifold):
    """Matrices (..., n, p) with orthonormal columns, n >= p; densities with respect to the surface measure."""

    point_ndim = 2
    mirrored = True

    def dimension(self, x: Array) -> int:
        n, p = x.shape[-2:]
        return x.size // (n * p) * _dimension_of_one(n, p)

    def project(self, x: Array, u: Array) -> Array:
        return u - x @ _symmetric(transposed(x) @ u)

    def geodesic(self, x: Array, v: Array, t: Any) -> tuple[Array, Array]:
        if x.shape[-1] == 1:
            y, w = Sphere().geodesic(x[..., 0], v[..., 0], t)
            return y[..., None], w[..., None]
        p, pair = x.shape[-1], jnp.concatenate([x, v], axis=-1)
        moved = pair @ _coefficients(transposed(pair) @ pair, t)
        return moved[..., :p], moved[..., p:]

    def retract(self, x: Array) -> Array:
        left, _, right = jnp.linalg.svd(x, full_matrices=False)
        return left @ right

    def random_point(self, key: Array, like: Any) -> Array:
        return self.retract(jax.random.normal(key, like.shape, like.dtype))

    def distance(self, x: Array) -> Array:
        gram = transposed(x) @ x
        return jnp.max(jnp.abs(gram - identity(gram)))

    def component(self, x: Array) -> Array:
        return reflected(x) if x.shape[-1] == x.shape[-2] else super().component(x)

    def into_component(self, x: Array, other: Array) -> Array:
        return turned_to(x, other) if x.shape[-1] == x.shape[-2] else x

    def max_step(self, x: Array) -> float:
        n, p = x.shape[-2:]
        radius = math.pi * (math.sqrt(2) if n == p > 1 else 1)
        return radius / 2 / math.sqrt(max(1, _dimension_of_one(n, p)))

    def log_volume_of_point(self, shape: tuple[int, ...]) -> float:
        return log_frames(*shape)

    @classmethod
    def summary(cls, draws: Reals) -> dict[str, Reals]:
        """Return the mean frame, which is defined up to signs and rotation of its columns (the leading eigenvectors of
        E X X'), and the share of E X X' in its span."""
        columns = draws.shape[-1]
        second = np.einsum("cd...ik,cd...jk->...ij", draws, draws, dtype=float) / (draws.shape[0] * draws.shape[1])
        eigenvalues, vectors = np.linalg.eigh(second)
        frame = vectors[..., ::-1][..., :columns]
        share = eigenvalues[..., ::-1][..., :columns].sum(-1) / columns
        return {"mean_frame": frame, "share_of_span": share}


def log_frames(n: int, p: int) -> float:
    """Return the log volume of the n x p orthonormal frames, 2^{p(p-1)/4} prod_{k<p} area(S^{n-1-k}).

    Turning two columns into each other moves both, so each of the p(p-1)/2 such directions is sqrt(2) longer than an
    angle.
    """
    return p * (p - 1) / 4 * math.log(2) + sum(log_area(n - k) for k in range(p))


def reflected(x: Array) -> Array:
    """Return 1 for every square matrix of negative determinant and 0 for the others, as a vector."""
    return jnp.ravel(jnp.linalg.det(x) < 0).astype(jnp.int32)


def turned_to(x: Array, other: Array) -> Array:
    """Return the square matrices x with the first column negated where the determinant of `other` has another sign."""
    differ = jnp.linalg.det(x) * jnp.linalg.det(other) < 0
    return x.at[..., 0].multiply(jnp.where(differ, -1, 1).astype(x.dtype)[..., None])


def _dimension_of_one(n: int, p: int) -> int:
    return n * p - p * (p + 1) // 2


def _symmetric(a: Array) -> Array:
    return (a + transposed(a)) / 2


def _coefficients(gram: Array, t: Any) -> Array:
    """Return the 2p x 2p matrix that takes [X V] to [X(t) V(t)], from the inner products of the columns of [X V]."""
    p = gram.shape[-1] // 2
    frame, cross, squares = gram[..., :p, :p], gram[..., :p, p:], gram[..., p:, p:]
    square = jnp.trace(squares, axis1=-2, axis2=-1)[..., None, None]
    wanted = steady_square(square)
    factor, size = restoring_factor(wanted, square), jnp.sqrt(jnp.where(wanted > 0, wanted, 1))
    lean = _symmetric(cross)
    turn, squares = (cross - lean) * factor, squares * (factor * factor)
    # columns: the corrected X, and the corrected V in units of its size
    corrected = _blocks(
        1.5 * identity(frame) - 0.5 * frame, -lean / size, jnp.zeros_like(frame), identity(frame) * (factor / size)
    )
    generator = t * _blocks(turn, -squares / size, identity(frame) * size, turn)
    flow = exponential(generator, _norm_bound(turn, size, t))
    turned_back = (flow.reshape(*flow.shape[:-2], 4 * p, p) @ exponential_skew(-turn, t)).reshape(flow.shape)
    return corrected @ jnp.concatenate([turned_back[..., :p], turned_back[..., p:] * size], axis=-1)


def _norm_bound(turn: Array, size: Array, t: Any) -> Array:
    spin = jnp.sqrt(0.5 * jnp.sum(turn * turn, axis=(-2, -1)))
    return jnp.abs(t) * (spin + size[..., 0, 0])


def _blocks(a: Array, b: Array, c: Array, d: Array) -> Array:
    return jnp.concatenate([jnp.concatenate([a, b], axis=-1), jnp.concatenate([c, d], axis=-1)], axis=-2)
