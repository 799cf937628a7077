"""The matrix Bingham law on orthonormal frames: exp(tr B X'AX).

Split B = s I + C at a level s. The first part, exp(s tr X'AX), gets a matrix-angular-central-Gaussian envelope (Kent,
Ganeiban & Mardia 2018): with L = max(s a) I - s A >= 0 over the eigenvalues a of A, u_1 .. u_p the eigenvalues of X'LX,

    exp(-tr X'LX) = prod exp(-u_i) <= constant prod (1 + 2 u_i / b)^(-n/2) = constant |X'(I + 2 L / b)X|^(-n/2),

factor by factor the bound of the Bingham law, true for every b > 0; in logs the gap is (n/2) sum [log(1 + R_i) - R_i],
R_i = (b + 2 u_i) / n - 1. The second part is bounded by its maximum over the frames (von Neumann): with c the
eigenvalues of C and n - p zeros, tr C X'AX <= sum of the products of c and a, both in falling order. Every s gives a
true bound; the one with the smallest envelope is taken from a grid over the eigenvalues of B. For B = b I the second
part is absent.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
from jax import Array

from orthodrome import random
from orthodrome.core.pytree import pytree
from orthodrome.densities.bingham import best_scale, log_envelope_mass
from orthodrome.densities.density import RejectionDensity


@pytree
class MatrixBingham(RejectionDensity):
    """The matrix Bingham distribution exp(tr right X' left X) on n x p matrices with orthonormal columns.

    Unnormalised, with respect to the surface (Hausdorff, hence also Haar) measure.

    left: A (n x n), symmetric
    right: B (p x p), symmetric
    """

    left: Array
    right: Array

    def logdensity(self, x: Array) -> Array:
        return jnp.einsum("...ij,ik,...kl,jl->...", x, self.left, x, self.right)

    def envelope(self) -> Any:
        a, left = jnp.linalg.eigh(self.left)
        b, right = jnp.linalg.eigh(self.right)
        levels = jnp.linspace(b[0], b[-1], 33)
        masses = jax.vmap(lambda s: _largest(b - s, a) + b.size * _log_mass(s * a))(levels)
        level = levels[jnp.argmin(masses)]
        gaps = jnp.max(level * a) - level * a
        return a, left, b - level, right, gaps, best_scale(gaps)

    def propose(self, envelope: Any, key: Array, count: int) -> tuple[Array, Array]:
        a, left, c, right, gaps, b = envelope
        span, turn = jax.random.split(key)
        n, p = a.size, c.size
        normal = jax.random.normal(span, (count, n, p), a.dtype) / jnp.sqrt(b + 2 * gaps)[None, :, None]
        # the span of the normals and a uniform frame within it: a matrix angular central Gaussian
        y = random.orthonormal(normal)[0] @ random.frame(turn, (count, p, p), a.dtype)
        scaled = y * jnp.sqrt((b + 2 * gaps) / n)[None, :, None]  # scaled'scaled has the eigenvalues 1 + R_i
        spread = 2 * random.orthonormal(scaled)[1] - jnp.sum(scaled**2, axis=(-2, -1)) + p
        rest = jnp.einsum("cij,i,j->c", y**2, a, c) - _largest(c, a)
        return jnp.einsum("ni,cij,pj->cnp", left, y, right), spread * (n / 2) + jnp.minimum(rest, 0)


def _largest(c: Array, a: Array) -> Array:
    """Return the maximum of tr C X'AX over frames X, from the eigenvalues of C and A."""
    padded = jnp.concatenate([c, jnp.zeros((a.size - c.size,), c.dtype)])
    return jnp.sum(jnp.sort(padded) * jnp.sort(a))


def _log_mass(a: Array) -> Array:
    """Return the log of the envelope's integral for one column of exp(x'Ax), relative to the uniform law."""
    return jnp.max(a) + log_envelope_mass(jnp.max(a) - a)
