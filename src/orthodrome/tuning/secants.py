"""The natural unit of every element of a flat leaf, from differences of gradients along the way of a noisy chain.

The spread of a chain that noise forces to tiny steps says little about the law, and the spread of its gradients is
mostly that of their noise. But the difference of two gradients of the same batch, over the difference of their
positions, is a curvature without either: over the steps of a window

    lambda_i = (sum (g_i - g0_i)^2 / sum (x_i - x0_i)^2)^(1/2),        unit_i = lambda_i^(-1/2),

which is the standard deviation of a Gaussian. Where the density is nearly flat it would grow beyond bounds; it may be
at most MOST times the spread of the window's draws.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import jax.numpy as jnp
from jax import Array

from orthodrome.core.types import Tree
from orthodrome.manifolds.manifold import Manifold
from orthodrome.manifolds.product import per_leaf

MOST = 10.0
"""The largest unit, in multiples of the standard deviation of the window's draws."""


class Secants(NamedTuple):
    """Sums of squares over the steps (and chains) of a window, for one flat leaf; unused elsewhere.

    way: of the differences of positions
    bend: of the differences of gradients
    """

    way: Array
    bend: Array


def start(manifold: Manifold, position: Tree) -> Tree:
    """Return empty sums."""
    return per_leaf(manifold, lambda m, x: Secants(jnp.zeros_like(x), jnp.zeros_like(x)), position)


def update(manifold: Manifold, sums: Tree, way: Tree, bend: Tree, pool: Callable[[Array], Array]) -> Tree:
    """Add one step of every chain; `pool` averages over chains."""

    def add(m: Manifold, old: Secants, d: Array, g: Array) -> Secants:
        fine = jnp.isfinite(d) & jnp.isfinite(g)
        square = lambda a: pool(jnp.where(fine, a, 0) ** 2)
        return Secants(old.way + square(d), old.bend + square(g))

    return per_leaf(manifold, add, sums, way, bend)


def units(manifold: Manifold, sums: Tree, spreads: Tree) -> Tree:
    """Return the units of flat leaves; those of the other leaves are their spreads, unchanged."""

    def leaf(m: Manifold, s: Secants, spread: Array) -> Array:
        if not m.flat:
            return spread
        known = (s.way > 0) & (s.bend > 0)
        unit = jnp.where(known, s.way, 1) ** 0.25 / jnp.where(known, s.bend, 1) ** 0.25
        return jnp.where(known, jnp.minimum(unit, MOST * spread), spread)

    return per_leaf(manifold, leaf, sums, spreads)
