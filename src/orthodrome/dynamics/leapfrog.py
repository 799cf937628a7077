"""The geodesic leapfrog K A K, shared by the exact samplers.

    v <- v + (h/2) P(x) grad log pi_H(x);   (x, v) <- geodesic(x, v, h);   v <- v + (h/2) P(x) grad log pi_H(x)

is symmetric, reversible under v -> -v, preserves the volume of the tangent bundle, and keeps
H = -log pi_H(x) + |v|^2 / 2 up to O(h^2).
"""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import Array
from jax.typing import DTypeLike

from orthodrome.core import trees
from orthodrome.core.types import Setting, Tree
from orthodrome.dynamics import splitting
from orthodrome.dynamics.soft_walls import softened
from orthodrome.gradients.estimator import GradientEstimator
from orthodrome.linear import leaves
from orthodrome.linear.linear_map import is_map
from orthodrome.linear.linear_step import duration
from orthodrome.manifolds.manifold import Manifold
from orthodrome.manifolds.product import per_leaf

DIVERGENT_ENERGY = 1000.0
"""A trajectory whose energy grows by more than this has left the dynamics (Stan's convention)."""


class Point(NamedTuple):
    """A position and velocity, with the log density and its gradient there."""

    position: Tree
    velocity: Tree
    logdensity: Array
    gradient: Tree


def leapfrog(gradient: GradientEstimator, point: Point, h: Tree, inside: Manifold | None = None) -> Point:
    """Take one step K A K with the tree of steps h (negative for backward in time).

    inside: a submanifold of the gradient's manifold that the trajectory stays in; None: all of it
    """
    manifold, half = gradient.manifold if inside is None else inside, leaves.scaled(h, 0.5)
    force = softened(manifold, point.position, point.gradient, h)
    v = splitting.kick(manifold, point.position, point.velocity, force, half)
    x, v = splitting.flow(manifold, point.position, v, h)
    estimate, _ = gradient.estimate(None, x, None)
    v = splitting.kick(manifold, x, v, softened(manifold, x, estimate.gradient, h), half)
    return Point(x, v, estimate.logdensity, estimate.gradient)


def energy(point: Point) -> Array:
    """Return H; infinite where it is NaN, so that such a point is never accepted.

    Where the log density is +inf there is no law to draw from, and the gradient is often NaN. H is -inf there whatever
    the velocity, so that the point is accepted and the run, which looks at every draw, can name it.
    """
    h = trees.dot(point.velocity, point.velocity) / 2 - point.logdensity
    return jnp.where(jnp.isnan(h), jnp.where(jnp.isposinf(point.logdensity), -jnp.inf, jnp.inf), h)


def diverges(manifold: Manifold, change: Array, point: Point) -> Array:
    """Return whether the energy has grown by more than DIVERGENT_ENERGY (`change`: by how much it fell) or is NaN.

    A flow that may fail (`LevelSet`) fails by NaN positions: that is a rejected move, not a divergence.
    """
    diverging = ~(change > -DIVERGENT_ENERGY)
    exact = jax.tree.leaves(per_leaf(manifold, lambda m, _: m.exact_flow, point.position))
    return diverging if all(exact) else diverging & trees.all_finite(point.position)


def largest_step(step_size: Setting) -> Array:
    """Return the largest entry of a tree of steps (of a step in the units of a map: its size), for `info`."""
    sizes = [duration(step) for step in jax.tree.leaves(step_size, is_leaf=is_map)]
    return jnp.max(jnp.stack([jnp.max(jnp.asarray(size, jnp.float32)) for size in sizes]))


def van_der_corput(count: Array, dtype: DTypeLike) -> Array:
    """Return the van der Corput sequence 0, 1/2, 1/4, 3/4, ... at `count`: the base-2 radical inverse, on [0, 1)."""
    bits = jnp.asarray(count, jnp.uint32)
    for mask, shift in ((0x55555555, 1), (0x33333333, 2), (0x0F0F0F0F, 4), (0x00FF00FF, 8), (0x0000FFFF, 16)):
        low, high = bits & jnp.uint32(mask), (bits >> shift) & jnp.uint32(mask)
        bits = (low << shift) | high
    return (bits >> 8).astype(dtype) / jnp.asarray(2**24, dtype)
