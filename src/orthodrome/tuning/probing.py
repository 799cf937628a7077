"""The scale of each leaf from the density itself, for samplers without gradients.

The spread of draws tells a unit only if they move. One step size for leaves with the standard deviations 1e-6 and 1e6
moves the first and leaves the second where it is; no window of draws tells that from a leaf that is narrow. So each
element of a flat leaf (each leaf, if it is curved or large) is moved alone from x by a distance s and by -s, and the s
is found by bisection where the mean of

    min(1, pi_H(x + s e) / pi_H(x)),    min(1, pi_H(x - s e) / pi_H(x))

falls below ACCEPTED: s = 1.35 standard deviations at the mode of a Gaussian, and in its tail twice the way to the mode.
Units that differ from s by a factor of more than FAR are replaced by it; others are left to the draws.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import jax
import jax.numpy as jnp
from jax import Array

from orthodrome.core.types import Tree
from orthodrome.manifolds.manifold import Manifold
from orthodrome.manifolds.product import per_leaf

ACCEPTED, FAR = 0.4, 30.0
DECADES, HALVINGS = 18, 9
"""The bisection goes over so many decades up and down, with so many halvings."""
ELEMENTS = 64
"""Elements of a flat leaf are probed one by one up to so many; beyond, all together."""


def corrected(
    manifold: Manifold, height: Callable[[Tree], Array], x: Tree, units: Tree, pool: Callable[[Array], Array]
) -> Tree:
    """Return the units, replaced where they are far from what the density says; `pool` averages over chains."""
    parts, structure = jax.tree.flatten(units)
    flat = jax.tree.leaves(per_leaf(manifold, lambda m, a: m.flat, x))
    most = jax.tree.leaves(jax.tree.map(lambda a, b: jnp.asarray(b, a.dtype), units, manifold.max_step(x)))
    new = [_leaf(manifold, height, x, index, unit, flat[index], most[index], pool) for index, unit in enumerate(parts)]
    return jax.tree.unflatten(structure, new)


def _leaf(
    manifold: Manifold,
    height: Callable[[Tree], Array],
    x: Tree,
    index: int,
    unit: Array,
    flat: bool,
    most: Array,
    pool: Callable[[Array], Array],
) -> Array:
    """Return the units of one leaf."""
    leaf = jax.tree.leaves(x)[index]
    single = flat and leaf.size <= ELEMENTS
    normal = jax.random.normal(jax.random.key(index), (1, leaf.size), leaf.dtype)
    ways = jnp.eye(leaf.size, dtype=leaf.dtype) if single else normal
    found = jax.lax.map(lambda way: _distance(manifold, height, x, index, way.reshape(leaf.shape)), ways)
    known = (jnp.abs(found) < DECADES * math.log(10) - 1) & jnp.isfinite(found)
    log_s = pool(jnp.where(known, found, 0)) / jnp.maximum(pool(known.astype(leaf.dtype)), jnp.finfo(leaf.dtype).tiny)
    s = jnp.minimum(jnp.exp(log_s).reshape(leaf.shape if single else ()), most).astype(unit.dtype)
    known = (pool(known.astype(leaf.dtype)) > 0).reshape(s.shape)
    far = (unit > FAR * s) | (unit < s / FAR)
    return jnp.where(known & far, s, unit)


def _distance(manifold: Manifold, height: Callable[[Tree], Array], x: Tree, index: int, way: Array) -> Array:
    """Return the log of the distance along one direction of one leaf."""
    here, structure = height(x), jax.tree.structure(x)
    put = lambda value, other: jax.tree.unflatten(
        structure, [value if i == index else other(leaf) for i, leaf in enumerate(jax.tree.leaves(x))]
    )
    v = manifold.project(x, put(way, jnp.zeros_like))

    def accepted(log_s: Array) -> Array:
        there = lambda sign: height(
            manifold.geodesic(x, v, put(sign * jnp.exp(log_s), lambda leaf: jnp.zeros((), leaf.dtype)))[0]
        )
        rise = jnp.stack([there(sign) for sign in (-1, 1)]) - here
        return jnp.mean(jnp.exp(jnp.minimum(jnp.where(jnp.isnan(rise), -jnp.inf, rise), 0)))

    def halved(_: int, bounds: tuple[Array, Array]) -> tuple[Array, Array]:
        low, high = bounds
        middle = (low + high) / 2
        short = accepted(middle) > ACCEPTED
        return jnp.where(short, middle, low), jnp.where(short, high, middle)

    end = jnp.asarray(DECADES * math.log(10), way.dtype)
    low, high = jax.lax.fori_loop(0, HALVINGS, halved, (-end, end))
    return (low + high) / 2
