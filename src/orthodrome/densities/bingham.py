"""Bingham and Bingham-von Mises-Fisher laws: exp(x'Ax) and exp(x'Ax + c'x) on the unit sphere.

**Envelope** (Kent, Ganeiban & Mardia 2018). Let a be the largest eigenvalue of A, L = a I - A >= 0, u = x'Lx, q the
dimension. The angular central Gaussian law has density proportional to (1 + 2 u / b)^(-q/2) and is a normalised normal
vector with precision I + 2 L / b. For every b > 0, with R = (b + 2 u) / q - 1 > -1,

    log[exp(-u) (1 + 2 u / b)^(q/2)] = (q/2) [log(1 + R) - R] + constant <= constant,

since log(1 + R) <= R: a true bound for any b, and (q/2)(log(1 + R) - R) is the log acceptance probability. The best b
solves sum_i 1 / (b + 2 l_i) = 1 over the eigenvalues l_i of L.

**Linear term.** The envelope is even in x, so draw the pair {x, -x} first, from the even law exp(x'Ax) cosh(c'x), then
the sign: + with probability 1 / (1 + exp(-2 c'x)). With k = |c|, m = c / k, w = (m'x)^2, log cosh(k sqrt(w)) is concave
in w (tanh(y) / y falls), so it lies below each of its tangents: for every t > 0

    log cosh(k m'x) <= log cosh(k t) + k tanh(k t) / (2 t) [(m'x)^2 - t^2],

and the right side joins A: a Bingham law with A + k tanh(k t) / (2 t) m m'. t is chosen on a grid for the smallest
envelope; any t gives a true bound.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
from jax import Array

from orthodrome import special
from orthodrome.core.pytree import pytree
from orthodrome.densities.density import RejectionDensity


@pytree
class Bingham(RejectionDensity):
    """The Bingham distribution exp(x' matrix x) on the unit sphere, unnormalised, with respect to the surface measure.

    matrix: A, symmetric
    """

    matrix: Array

    def logdensity(self, x: Array) -> Array:
        return jnp.sum(x * (x @ self.matrix), axis=-1)

    def log_constant(self) -> Array:
        """Return the log of the integral of exp(logdensity) over the sphere."""
        return special.log_fisher_bingham(self.matrix, jnp.zeros_like(self.matrix[0]))

    def envelope(self) -> Any:
        values, vectors = jnp.linalg.eigh(self.matrix)
        gaps = values[-1] - values
        return gaps, vectors, best_scale(gaps)

    def propose(self, envelope: Any, key: Array, count: int) -> tuple[Array, Array]:
        gaps, vectors, b = envelope
        y = angular_central_gaussian(key, b + 2 * gaps, count)
        return y @ vectors.T, log_accept_quadratic(y**2 @ gaps, b, gaps.size)


@pytree
class BinghamVonMisesFisher(RejectionDensity):
    """The Bingham-von Mises-Fisher distribution exp(x' matrix x + vector'x) on the unit sphere.

    Unnormalised, with respect to the surface measure.

    matrix: A, symmetric
    vector: c
    """

    matrix: Array
    vector: Array

    def logdensity(self, x: Array) -> Array:
        return jnp.sum(x * (x @ self.matrix), axis=-1) + x @ self.vector

    def log_constant(self) -> Array:
        """Return the log of the integral of exp(logdensity) over the sphere."""
        return special.log_fisher_bingham(self.matrix, self.vector)

    def envelope(self) -> Any:
        kappa = jnp.sqrt(jnp.sum(self.vector**2))
        mean = self.vector / jnp.maximum(kappa, jnp.finfo(kappa.dtype).tiny)
        t = _best_tangent(self.matrix, mean, kappa)
        joined = Bingham(self.matrix + tangent_slope(kappa, t) * jnp.outer(mean, mean))
        return joined.envelope(), mean, kappa, t

    def propose(self, envelope: Any, key: Array, count: int) -> tuple[Array, Array]:
        pair, sign = jax.random.split(key)
        even, mean, kappa, t = envelope
        x, log_accept = Bingham(self.matrix).propose(even, pair, count)
        cosine = x @ mean
        below = log_cosh(kappa * cosine) - log_cosh(kappa * t) - tangent_slope(kappa, t) * (cosine**2 - t**2)
        positive = jax.random.uniform(sign, (count,), x.dtype) < jax.nn.sigmoid(2 * kappa * cosine)
        return x * jnp.where(positive, 1, -1).astype(x.dtype)[:, None], log_accept + jnp.minimum(below, 0)


def best_scale(gaps: Array) -> Array:
    """Return b with sum 1 / (b + 2 gaps) = 1, by Newton's method from the left, monotone since the sum is convex."""

    def body(_: Any, b: Array) -> Array:
        inverse = 1 / (b + 2 * gaps)
        return b + (jnp.sum(inverse) - 1) / jnp.sum(inverse**2)

    return jax.lax.fori_loop(0, 30, body, jnp.ones((), gaps.dtype))


def angular_central_gaussian(key: Array, precision: Array, count: int) -> Array:
    """Draw normal vectors with a diagonal precision, normalised to length one."""
    z = jax.random.normal(key, (count, precision.size), precision.dtype) / jnp.sqrt(precision)[None, :]
    return z / jnp.sqrt(jnp.sum(z**2, axis=-1, keepdims=True))


def log_accept_quadratic(u: Array, b: Array, q: int) -> Array:
    """Return the log acceptance probability (q/2) [log(1 + R) - R] with R = (b + 2 u) / q - 1."""
    excess = (b - q + 2 * u) / q
    return (jnp.log1p(excess) - excess) * (q / 2)


def log_envelope_mass(gaps: Array) -> Array:
    """Return the log of the integral of the bound of exp(-u), relative to the uniform law, at the best b."""
    b, q = best_scale(gaps), gaps.size
    return (b - q + q * jnp.log(q / b) - jnp.sum(jnp.log1p(2 * gaps / b))) / 2


def log_cosh(y: Array) -> Array:
    """Return log cosh(y) without overflow."""
    return jnp.abs(y) + jnp.log1p(jnp.expm1(-2 * jnp.abs(y)) / 2)


def tangent_slope(kappa: Array, t: Array) -> Array:
    """Return the slope of log cosh(kappa sqrt(w)) in w, at w = t^2."""
    return kappa * jnp.tanh(kappa * t) / (2 * t)


def _best_tangent(matrix: Array, mean: Array, kappa: Array) -> Array:
    """Return the tangent point with the smallest envelope, from a coarse grid and then a fine one."""

    def log_mass(t: Array) -> Array:
        slope = tangent_slope(kappa, t)
        values = jnp.linalg.eigvalsh(matrix + slope * jnp.outer(mean, mean))
        return log_cosh(kappa * t) - slope * t**2 + values[-1] + log_envelope_mass(values[-1] - values)

    coarse = jnp.linspace(0.05, 1, 20, dtype=matrix.dtype)
    first = coarse[jnp.argmin(jax.lax.map(log_mass, coarse))]
    fine = first + jnp.linspace(-0.04, 0.04, 9, dtype=matrix.dtype)
    return fine[jnp.argmin(jax.lax.map(log_mass, fine))]
