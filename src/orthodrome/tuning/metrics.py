"""Linear maps for correlated flat leaves, learnt in warm-up instead of one unit per element (Byrne & Girolami, section
4.1).

`DenseMetric` uses the Cholesky factor of the covariance of the draws, shrunk toward its diagonal; for up to some
hundred numbers.

`LowRankMetric` corrects the units per element in a few directions. With draws and gradients measured in those
units, let U span the leading directions of both, and S_x, S_g be their covariances within U. The map that makes the
covariances of draws and of gradients equal has the square

    A = S_x # S_g^-1,     the geometric mean:  A S_g A = S_x,

whose eigenvectors are the directions and the square roots of whose eigenvalues the stretches: wide directions show in
the draws, stiff ones in the gradients.

`PerElement` is what `Adapted` takes if nothing else is asked for: one unit per element of every leaf that can have it.
"""

from __future__ import annotations

import abc
from typing import Any, NamedTuple

import jax.numpy as jnp
from jax import Array

from orthodrome.core import lapack
from orthodrome.core.pytree import pytree, static
from orthodrome.linear.centred import CentredScales
from orthodrome.linear.dense import Triangular
from orthodrome.linear.linear_step import LinearStep
from orthodrome.linear.low_rank import Stretched
from orthodrome.manifolds.euclidean import Euclidean
from orthodrome.manifolds.manifold import Manifold


class Metric(abc.ABC):
    """What `scales` needs of a metric, for one Euclidean leaf."""

    def on(self, manifold: Manifold) -> Metric | None:
        """Return the metric that learns a map for a leaf on this manifold, or None: its units are numbers."""
        if CentredScales in manifold.step_maps:
            return CentredMetric()
        return self if isinstance(manifold, Euclidean) else None

    @abc.abstractmethod
    def identity(self, x: Array) -> LinearStep:
        """Return the identity map, the one before anything is known."""

    @abc.abstractmethod
    def start(self, x: Array) -> Any:
        """Return empty sums for a window."""

    @abc.abstractmethod
    def update(self, sums: Any, d: Array, g: Array, pool: Any) -> Any:
        """Add one draw (relative to the reference) and gradient of every chain."""

    @abc.abstractmethod
    def averages(self, sums: Any) -> Any:
        """Return what devices average of the sums, None for what belongs to a chain."""

    @abc.abstractmethod
    def learn(self, sums: Any, unit: Array, mean: Array, count: Array, gather: Any) -> LinearStep:
        """Return the map after a window, given the units per element and the mean (relative to the reference)."""


@pytree
class CentredMetric(Metric):
    """Units per element where the elements sum to zero; the sums of `scales` are all it needs."""

    def identity(self, x: Array) -> LinearStep:
        return LinearStep(jnp.ones((), x.dtype), CentredScales(jnp.ones_like(x)))

    def start(self, x: Array) -> None:
        return None

    def update(self, sums: None, d: Array, g: Array, pool: Any) -> None:
        return None

    def averages(self, sums: None) -> None:
        return None

    def learn(self, sums: None, unit: Array, mean: Array, count: Array, gather: Any) -> LinearStep:
        return LinearStep(jnp.ones((), unit.dtype), CentredScales(unit))


@pytree
class PerElement(CentredMetric):
    """One unit per element: a number for each on flat leaves, a map that keeps the plane on `LogRatioSimplex`."""

    def on(self, manifold: Manifold) -> Metric | None:
        return None if isinstance(manifold, Euclidean) else super().on(manifold)


@pytree
class DenseMetric(Metric):
    """A dense metric, from the covariance of the draws."""

    def identity(self, x: Array) -> LinearStep:
        return LinearStep(jnp.ones((), x.dtype), Triangular(jnp.eye(x.size, dtype=x.dtype)))

    def start(self, x: Array) -> Array:
        return jnp.zeros((x.size, x.size), x.dtype)

    def update(self, sums: Array, d: Array, g: Array, pool: Any) -> Array:
        return sums + pool(jnp.outer(d, d))

    def averages(self, sums: Array) -> Array:
        return sums

    def learn(self, sums: Array, unit: Array, mean: Array, count: Array, gather: Any) -> LinearStep:
        covariance = sums / count - jnp.outer(mean, mean)
        trust = count / (count + 5)
        shrunk = trust * covariance + (1 - trust) * jnp.diag(unit.ravel() ** 2)
        # a window shorter than the dimension leaves the covariance singular: the diagonal keeps it definite
        floor = 1e-4 * jnp.diag(unit.ravel() ** 2)
        return LinearStep(jnp.ones((), mean.dtype), Triangular(lapack.cholesky(shrunk + floor)))


class Rows(NamedTuple):
    """The latest draws and gradients of one chain, in a ring buffer."""

    draws: Array
    gradients: Array
    added: Array


@pytree
class LowRankMetric(Metric):
    """A metric of units per element and a few directions; costs O(rank) per number of the leaf.

    rank: the number of directions
    window: the number of latest draws and gradients of each chain that it learns from
    """

    rank: int = static(default=8)
    window: int = static(default=64)

    def identity(self, x: Array) -> LinearStep:
        rank = min(self.rank, x.size)
        directions = jnp.eye(x.size, rank, dtype=x.dtype)
        return LinearStep(
            jnp.ones((), x.dtype), Stretched(jnp.ones(x.size, x.dtype), directions, jnp.ones(rank, x.dtype))
        )

    def start(self, x: Array) -> Rows:
        empty = jnp.zeros((self.window, x.size), x.dtype)
        return Rows(empty, empty, jnp.zeros((), jnp.int32))

    def update(self, sums: Rows, d: Array, g: Array, pool: Any) -> Rows:
        at = sums.added % self.window
        return Rows(sums.draws.at[at].set(d.ravel()), sums.gradients.at[at].set(g.ravel()), sums.added + 1)

    def averages(self, sums: Rows) -> None:
        return None

    def learn(self, sums: Rows, unit: Array, mean: Array, count: Array, gather: Any) -> LinearStep:
        scale = unit.ravel()
        filled = (jnp.arange(self.window) < sums.added).astype(scale.dtype)[:, None]
        y = gather(filled * (sums.draws - mean[None]) / scale[None])
        g = gather(filled * sums.gradients * scale[None])
        n = jnp.maximum(jnp.sum(gather(filled)), 1)
        directions = _leading(jnp.concatenate([y, g]), min(self.rank, scale.size))
        s_x, s_g = _covariance(y @ directions, n), _covariance(g @ directions, n)
        values, vectors = lapack.eigh(_geometric_mean(s_x, s_g))
        return LinearStep(jnp.ones((), scale.dtype), Stretched(scale, directions @ vectors, jnp.sqrt(values)))


def _leading(rows: Array, rank: int) -> Array:
    _, _, vt = lapack.thin_svd(rows)
    return vt[:rank].T


def _covariance(rows: Array, n: Array) -> Array:
    return (rows.T @ rows) / n + jnp.eye(rows.shape[1], dtype=rows.dtype) * jnp.asarray(1e-4, rows.dtype)


def _geometric_mean(s_x: Array, s_g: Array) -> Array:
    """Return A with A s_g A = s_x: A = r^-1 (r s_x r)^(1/2) r^-1, r = s_g^(1/2)."""
    root, inverse_root = _power(s_g, 0.5), _power(s_g, -0.5)
    return inverse_root @ _power(root @ s_x @ root, 0.5) @ inverse_root


def _power(a: Array, exponent: float) -> Array:
    values, vectors = lapack.eigh((a + a.T) / 2)
    return (vectors * jnp.maximum(values, jnp.finfo(a.dtype).tiny)[None] ** exponent) @ vectors.T
