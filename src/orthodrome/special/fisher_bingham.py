"""The normalising constant of exp(x'Ax + c'x) on the sphere, and its first two moments, to rounding.

Integrate exp(-s|y|^2 + y'Ay + c'y) over all of R^d in two ways, as a Gaussian integral and in polar coordinates: the
constant C is an inverse Laplace transform (Kume & Wood 2005). With a_i the eigenvalues of A and g = V'c in the basis of
its eigenvectors V,

    C = (2 pi^(d/2) / 2 pi i) int exp(K(s)) ds,    K(s) = s - sum_i log(s - a_i) / 2 + sum_i g_i^2 / (4 (s - a_i)),

along any path that has all a_i on its left. K is convex on the real line beyond the largest a_i. From its minimum the
path follows the parabola s = s_0 + i y - b y^2, b = -K''' / (6 K''), which is the path of steepest descent to third
order: the integrand has no oscillation to cancel, falls like exp(-b y^2), and is analytic in a strip around the real
y, so the trapezoidal rule converges geometrically, however large A and c are. (The saddle-point approximation is its
first term.) The moments are the derivatives of log C under the same integral, with r_i = 1 / (s - a_i):

    E y_i = <g_i r_i> / 2,      E y_i y_j = <g_i g_j r_i r_j> / 4 + [i = j] <r_i> / 2,      y = V'x.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import Array

from orthodrome.special.jacobi import eigen

_NODES, _NEWTON = 96, 16


class FisherBingham(NamedTuple):
    """The normalising constant and the first moments of a Fisher-Bingham distribution.

    log_constant: the log of the integral over the surface measure
    mean: E x
    second: E x x'
    """

    log_constant: Array
    mean: Array
    second: Array


@jax.jit
def fisher_bingham(matrix: Array, vector: Array) -> FisherBingham:
    """Return the constant and the moments of exp(x' matrix x + vector'x), matrix symmetric, in any dimension >= 2."""
    values, vectors = eigen(matrix)
    g, top = vector @ vectors, jnp.max(values)
    x0 = _saddle(top - values, g) + (top - values)  # s_0 - a_i
    log_total, p, r = _contour(x0, g)
    height = top + x0[jnp.argmax(values)] + jnp.sum(g * g / x0) / 4 - jnp.sum(jnp.log(x0)) / 2
    log_constant = height + log_total + (g.size / 2 - 1) * math.log(math.pi)
    first = jnp.real(p @ r)
    second = jnp.diag(first) / 2 + jnp.outer(g, g) * jnp.real((p[:, None] * r).T @ r) / 4
    return FisherBingham(log_constant, vectors @ (g * first) / 2, vectors @ second @ vectors.T)


@jax.custom_jvp
def log_fisher_bingham(matrix: Array, vector: Array) -> Array:
    """Return the log integral of exp(x' matrix x + vector'x) over the unit sphere; its derivatives are the moments."""
    return fisher_bingham(matrix, vector).log_constant


@log_fisher_bingham.defjvp
def _log_fisher_bingham_jvp(primals: Any, tangents: Any) -> tuple[Array, Array]:
    found = fisher_bingham(*primals)
    return found.log_constant, jnp.sum(found.second * tangents[0]) + jnp.sum(found.mean * tangents[1])


def _saddle(gaps: Array, g: Array) -> Array:
    """Return s_0 minus the largest a_i, where K'(s_0) = 0.

    With the gaps in rising order, x = s + gap_k and G_k the sum of the first k squares of g, the first k terms of the
    sum that must be 1 are at least (k/2 + G_k / (4 x)) / x, which bounds s from below; from the best of these bounds,
    in any dimension within a few doublings of the root, Newton's method rises monotonically, since the sum is convex
    and falls.
    """
    order = jnp.argsort(gaps)
    half = jnp.arange(1, gaps.size + 1, dtype=gaps.dtype) / 2
    start = jnp.max((half + jnp.sqrt(half**2 + jnp.cumsum(g[order] ** 2))) / 2 - gaps[order])

    def body(_: Any, s: Array) -> Array:
        x = s + gaps
        return s + (jnp.sum((0.5 + g * g / (4 * x)) / x) - 1) / jnp.sum((0.5 + g * g / (2 * x)) / x**2)

    return jax.lax.fori_loop(0, _NEWTON, body, start)


def _contour(x0: Array, g: Array) -> tuple[Array, Array, Array]:
    """Return the log integral relative to the saddle point, the share of every node, and 1 / (s - a_i) at the nodes."""
    pull = g * g / x0
    b = jnp.sum((1 + 1.5 * pull) / x0**3) / (3 * jnp.sum((1 + pull) / x0**2))
    reach = jnp.sqrt((2 - jnp.log(jnp.finfo(x0.dtype).eps)) / b)
    y = jnp.linspace(0, 1, _NODES, dtype=x0.dtype) * reach
    away = jax.lax.complex(-b * y * y, y)  # s - s_0
    z = away[:, None] / x0.astype(away.dtype)[None, :]
    log_height = away - jnp.sum(jnp.log1p(z), axis=1) / 2 - jnp.sum(pull.astype(z.dtype)[None, :] * z / (1 + z), 1) / 4
    weight = jnp.exp(log_height) * jax.lax.complex(jnp.ones_like(y), 2 * b * y)
    weight = weight.at[0].multiply(0.5) * (2 * reach / (_NODES - 1)).astype(weight.dtype)
    total = jnp.sum(jnp.real(weight))
    return jnp.log(total), weight / total.astype(weight.dtype), 1 / (x0.astype(z.dtype)[None, :] * (1 + z))
