"""The natural unit of each leaf, learnt from draws and projected gradients.

On a Gaussian with standard deviation s the draws spread by s and the gradients by 1/s, so (var x / var g)^(1/4) = s
from either side, and an error of one is halved by the other. So

    flat leaves        per element,  (var x / var g)^(1/4);   also on planes whose steps may be maps that keep them
    compact leaves     one number,   min(1, sqrt(m) / E|P g|)
    other leaves       one number,   (var x / m)^(1/4) (sqrt(m) / E|P g|)^(1/2)

with m the dimension of one copy. On a compact space the spread of the draws says nothing about the local scale (an
antipodal law of any concentration spreads over the whole sphere), the projected gradients do; the mean of their
norm, unlike that of its square, is finite at the poles of the square-root simplex. A sampler without gradients uses
the draws alone.

With a `Metric` the leaves that it serves get a linear map instead: see `metrics`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import Array

from orthodrome.core.types import Tree
from orthodrome.linear.centred import uncentred
from orthodrome.manifolds.manifold import Manifold
from orthodrome.manifolds.product import per_leaf
from orthodrome.tuning.metrics import Metric


class LeafMoments(NamedTuple):
    """Sums over the draws (and chains) of one window, relative to a reference, for one leaf."""

    reference: Array
    sum_x: Array
    sum_xx: Array
    sum_g: Array
    sum_gg: Array
    sum_norm: Array
    metric: Any


def start(manifold: Manifold, metric: Metric | None, position: Tree) -> Tree:
    """Return empty moments about a position."""

    def leaf(m: Manifold, x: Array) -> LeafMoments:
        zero = jnp.zeros_like(x)
        learner = _learner(m, metric)
        extra = learner.start(x) if learner else None
        return LeafMoments(x, zero, zero, zero, zero, jnp.zeros((), x.dtype), extra)

    return per_leaf(manifold, leaf, position)


def ones(manifold: Manifold, metric: Metric | None, position: Tree) -> Tree:
    """Return units of one: an array on flat leaves (or the identity map, with a metric), one number elsewhere."""

    def leaf(m: Manifold, x: Array) -> Any:
        learner = _learner(m, metric)
        return learner.identity(x) if learner else jnp.ones(x.shape if m.flat else (), x.dtype)

    return per_leaf(manifold, leaf, position)


def update(
    manifold: Manifold,
    metric: Metric | None,
    moments: Tree,
    position: Tree,
    gradient: Tree | None,
    pool: Callable[[Array], Array],
) -> Tree:
    """Add one draw of every chain; `pool` averages over chains."""
    gradient = jax.tree.map(jnp.zeros_like, position) if gradient is None else manifold.project(position, gradient)

    def add(m: Manifold, old: LeafMoments, x: Array, g: Array) -> LeafMoments:
        d = x - old.reference
        norm = jnp.mean(jnp.sqrt(jnp.sum(g.reshape(_copies(m, x), -1) ** 2, axis=1)))
        new = (d, d**2, g, g**2, norm)
        sums = [s + pool(jnp.where(jnp.isfinite(n), n, 0)) for s, n in zip(old[1:6], new, strict=True)]
        learner = _learner(m, metric)
        extra = learner.update(old.metric, d, g, pool) if learner else None
        return LeafMoments._make([old.reference, *sums, extra])

    return per_leaf(manifold, add, moments, position, gradient)


def averages(manifold: Manifold, metric: Metric | None, moments: Tree) -> Tree:
    """Return what devices average of the moments, None for the rest: each device keeps its own reference until the
    window ends."""

    def leaf(m: Manifold, now: LeafMoments) -> LeafMoments:
        learner = _learner(m, metric)
        extra = learner.averages(now.metric) if learner else None
        return LeafMoments(None, *now[1:6], extra)  # type: ignore[arg-type]

    return per_leaf(manifold, leaf, moments)


def scales(
    manifold: Manifold,
    metric: Metric | None,
    moments: Tree,
    count: Array,
    position: Tree,
    gather: Callable[[Array], Array] | None,
) -> Tree:
    """Return the unit (or map) of each leaf after `count` draws; `gather` collects rows from all chains."""

    def leaf(m: Manifold, s: LeafMoments, x: Array) -> Any:
        n = count.astype(x.dtype)
        learner = _learner(m, metric)
        unit = _unit(m, s, n, x, learner is not None)
        return learner.learn(s.metric, unit, s.sum_x.ravel() / n, n, gather) if learner else unit

    return per_leaf(manifold, leaf, moments, position)


def _learner(manifold: Manifold, metric: Metric | None) -> Metric | None:
    """Return the metric if the leaf can have one, else None."""
    return None if metric is None else metric.on(manifold)


def _unit(manifold: Manifold, s: LeafMoments, n: Array, x: Array, by_element: bool) -> Array:
    """Return the units of a leaf; `by_element`: a number for each element, whatever the manifold."""
    tiny = jnp.asarray(jnp.finfo(x.dtype).tiny ** 0.5, x.dtype)
    var_x = jnp.maximum(s.sum_xx / n - (s.sum_x / n) ** 2, tiny)
    var_g = jnp.maximum(s.sum_gg / n - (s.sum_g / n) ** 2, tiny)
    norm, spread = jnp.maximum(s.sum_norm / n, tiny), jnp.sum(var_x)
    blind = s.sum_norm == 0  # no gradients: the draws alone
    if by_element and not manifold.flat:  # the elements sum to zero, so each shows the spread of all
        var_x = uncentred(var_x)
    if manifold.flat or by_element:
        return jnp.where(blind, jnp.sqrt(var_x), (var_x / var_g) ** 0.25)
    dimension = max(1, manifold.dimension(x))
    by_draws = jnp.sqrt(spread / dimension)
    by_gradients = math.sqrt(dimension / _copies(manifold, x)) / norm
    if math.isfinite(manifold.max_step(x)):
        return jnp.minimum(1, jnp.where(blind, by_draws, by_gradients)).astype(x.dtype)
    return jnp.where(blind, by_draws, jnp.sqrt(by_draws * by_gradients)).astype(x.dtype)


def _copies(manifold: Manifold, x: Array) -> int:
    """Return the number of independent points in one leaf."""
    shape = jax.eval_shape(manifold.to_user, x).shape
    return math.prod(shape[: len(shape) - manifold.point_ndim])
