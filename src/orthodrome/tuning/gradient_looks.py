"""What three gradients tell of a step: the noise of the gradient, and the curvature along the way.

After every transition of a warm-up the gradient is asked twice at the new position x with independent batches (g1,
g2), and with the first of these batches at the old position x0 (g0). With the inverse metric D of the sampler (or the
squares of its units) and m the dimension,

    V   = (g1 - g2)' D (g1 - g2) / (2 m)                             the gradient's noise
    L^2 = (g1 - g0)' D (g1 - g0) / (x - x0)' D^-1 (x - x0)           the curvature along the way, of the same batch

are averaged over chains, and over steps with a memory of MEMORY of them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import Array

from orthodrome.core import trees
from orthodrome.core.types import State, Tree
from orthodrome.gradients.estimator import Estimate, GradientEstimator
from orthodrome.linear import leaves, maps
from orthodrome.manifolds.manifold import Manifold

MEMORY = 50
"""The number of transitions over which the running means are averaged."""


class GradientLook(NamedTuple):
    """The three gradients of one step of a chain.

    position: x
    estimate: the first estimate at x
    error: g1 - g2
    way: x - x0
    bend: g1 - g0
    """

    position: Tree
    estimate: Estimate
    error: Tree
    way: Tree
    bend: Tree


class Seen(NamedTuple):
    """Running means of curvature, gradient noise (also without units) and the metric's size, and their number."""

    curvature: Array
    noise: Array
    raw_noise: Array
    stretch: Array
    measured: Array


def look(
    gradient: GradientEstimator, manifold: Manifold, one_key: Array, other_key: Array, old: Tree, inner: State
) -> GradientLook:
    """Ask the gradient three times around a step from `old` to the position of the state `inner`."""
    x = inner.position
    ask = lambda key, y: gradient.estimate(key, y, inner.memory)[0]
    estimate = ask(one_key, x)
    here, again = manifold.project(x, estimate.gradient), manifold.project(x, ask(other_key, x).gradient)
    there = manifold.project(old, ask(jax.random.clone(one_key), old).gradient)
    return GradientLook(x, estimate, trees.subtract(here, again), trees.subtract(x, old), trees.subtract(here, there))


def remembered(seen: Seen, new: GradientLook, metric: Tree, dimension: int, pool: Callable[[Array], Array]) -> Seen:
    """Add one step to the running means; `pool` averages over chains, and what is not finite does not count."""
    size = lambda a: a.astype(seen.noise.dtype)
    moved = size(inverse_square(metric, new.way))
    curvature = jnp.sqrt(size(square(metric, new.bend)) / jnp.maximum(moved, 1e-30))
    curvature = jnp.where(moved > 0, curvature, jnp.nan)
    weight = jnp.maximum(1 / (seen.measured + 1), 1 / MEMORY)
    mix = lambda before, now: before + weight * (pool(jnp.where(jnp.isfinite(now), now, before)) - before)
    return Seen(
        curvature=jnp.maximum(mix(seen.curvature, curvature), 1e-12),
        noise=mix(seen.noise, size(square(metric, new.error)) / (2 * dimension)),
        raw_noise=mix(seen.raw_noise, size(trees.dot(new.error, new.error)) / (2 * dimension)),
        stretch=jnp.maximum(mix(seen.stretch, size(leaves.largest_diagonal(metric, new.position))), 1e-12),
        measured=seen.measured + 1,
    )


def square(metric: Tree, g: Tree) -> Array:
    """Return g' D g."""
    return trees.dot(g, leaves.over(maps.apply, metric, g))


def inverse_square(metric: Tree, d: Tree) -> Array:
    """Return d' D^-1 d."""
    return trees.dot(d, leaves.over(maps.solve, metric, d))
