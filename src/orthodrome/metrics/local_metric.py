"""Metrics G(x) for the exact Riemannian samplers, over the whole position taken as one vector.

`LocalMetric(function)` is the user's. `FisherMetric(posterior)` is the information of the data with the curvature of
the prior (Girolami & Calderhead 2011, section 3), in its empirical form:

    G(x) = sum_i s_i s_i' - d^2 log prior,     s_i = d log likelihood of datum i.

Its mean over data is the expected information, which only the model knows: where that has a closed form, give it as a
`LocalMetric`. The samplers are exact with any metric that is positive definite; a point where it is not is never
accepted.

A metric is a matrix (n x n) or its diagonal (n).
"""

from __future__ import annotations

import abc
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import Array
from jax.flatten_util import ravel_pytree

from orthodrome.core.pytree import pytree, static
from orthodrome.core.types import Tree
from orthodrome.targets import Posterior


class PointMetric(abc.ABC):
    """What the exact Riemannian samplers ask of a metric."""

    @abc.abstractmethod
    def matrix(self, x: Tree) -> Array:
        """G over the ravelled position: n x n, or its diagonal n."""


@pytree
class LocalMetric(PointMetric):
    """G by a function of the (embedded) position: `function(x)`, or `function(x, data)` with data."""

    function: Callable[..., Any] = static()
    data: Any = None

    def matrix(self, x: Tree) -> Array:
        return self.function(x) if self.data is None else self.function(x, self.data)


@pytree
class FisherMetric(PointMetric):
    """The empirical information of the data and the curvature of the prior, of a `Posterior`."""

    posterior: Posterior

    def matrix(self, x: Tree) -> Array:
        flat, unravel = ravel_pytree(x)
        law = self.posterior
        one = lambda y, datum: law.loglikelihood(law.manifold.to_user(unravel(y)), datum)
        scores = jax.vmap(jax.grad(one), in_axes=(None, 0))(flat, law.data)
        return scores.T @ scores - jax.hessian(lambda y: law.embedded_prior(unravel(y)))(flat)


class MetricAtPoint(NamedTuple):
    """The metric at a point, its inverse, and the log of its determinant (NaN if not positive definite)."""

    matrix: Array
    inverse: Array
    log_determinant: Array


def at_point(g: Array) -> MetricAtPoint:
    """Inverse and determinant by Gauss-Jordan sweeps over the pivots, which are positive if g is positive definite.

    Plain array operations, since batches of LAPACK calls inside compiled loops have been seen to hang.
    """
    if g.ndim == 1:
        return MetricAtPoint(g, 1 / g, jnp.sum(jnp.log(g)))

    def sweep(k: Array, carry: tuple[Array, Array]) -> tuple[Array, Array]:
        a, log_determinant = carry
        row, pivot = a[k], a[k, k]
        a = a - jnp.outer(row, row) / pivot
        line = (row / pivot).at[k].set(-1 / pivot)
        return a.at[k].set(line).at[:, k].set(line), log_determinant + jnp.log(pivot)

    swept, log_determinant = jax.lax.fori_loop(0, len(g), sweep, (g, jnp.zeros((), g.dtype)))
    return MetricAtPoint(g, -swept, log_determinant)


def root(a: Array) -> Array:
    """Cholesky's factor, column by column; elementwise for a diagonal."""
    if a.ndim == 1:
        return jnp.sqrt(a)
    rows = jnp.arange(len(a))

    def column(k: Array, carry: tuple[Array, Array]) -> tuple[Array, Array]:
        rest, factor = carry
        line = jnp.where(rows >= k, rest[:, k] / jnp.sqrt(rest[k, k]), 0)
        return rest - jnp.outer(line, line), factor.at[:, k].set(line)

    return jax.lax.fori_loop(0, len(a), column, (a, jnp.zeros_like(a)))[1]


def times(a: Array, v: Array) -> Array:
    """a v, for a matrix or a diagonal."""
    return a * v if a.ndim == 1 else a @ v


def outer(w: Array, like: Array) -> Array:
    """w w', or its diagonal."""
    return w * w if like.ndim == 1 else jnp.outer(w, w)
