"""The alphabet of the integrators, on any manifold.

Every sampler of this package is a word over a few exactly solvable flows of (x, v), with dx = v dt along geodesics
and P(x) the projection on the tangent space:

    A   geodesic flow:      (x, v) -> geodesic(x, v, h)
    B   friction:           v -> exp(-P(x) C h) v
    O   gradient and noise: v -> v + P(x) [h grad + N(0, 2 C h - h^2 V(x))]        (Eq. 8 of Liu et al. 2016)
    K   kick:               v -> v + h P(x) grad
    U   Ornstein-Uhlenbeck: v -> exp(-P C h) v + (1 - exp(-2 P C P h))^(1/2) P N(0, I), friction and its noise together

`h` is a tree of steps, one per leaf of x (see `linear_step`); the friction C a tree with a number (an array on flat
leaves) or a `LinearMap` per leaf. The ambient gradient is projected once, here. For a matrix C the exponential is taken
on the tangent space, exp(-P C P h), which is exp(-P C h) for tangent v (erratum 000-9).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jax import Array

from orthodrome.core import lapack
from orthodrome.core.types import Noise, Tree
from orthodrome.linear import maps
from orthodrome.linear.linear_map import LinearMap, is_map
from orthodrome.linear.linear_step import duration
from orthodrome.linear.noise import injected_noise
from orthodrome.manifolds.manifold import Manifold
from orthodrome.manifolds.product import per_leaf


def flow(manifold: Manifold, x: Tree, v: Tree, h: Tree) -> tuple[Tree, Tree]:
    """Apply A: follow the geodesic for the time h."""
    return manifold.geodesic(x, v, h)


def kick(manifold: Manifold, x: Tree, v: Tree, gradient: Tree, h: Tree) -> Tree:
    """Apply K: the gradient of the log density for the time h."""
    push = manifold.project(x, gradient)
    return jax.tree.map(lambda w, g, s: w + maps.transposed(s, g), v, push, h)


def damp(manifold: Manifold, x: Tree, v: Tree, friction: Tree, h: Tree) -> Tree:
    """Apply B: friction alone for the time h."""

    def leaf(m: Manifold, a: Array, w: Array, c: Any, s: Any) -> Array:
        if is_map(c):
            return _on_tangent(m, a, c, s, lambda rate: jnp.exp(-rate), w)
        return jnp.exp(-c * duration(s)) * w

    return per_leaf(manifold, leaf, x, v, friction, h)


def noisy_kick(
    key: Array, manifold: Manifold, x: Tree, v: Tree, gradient: Tree, noise: Noise, friction: Tree, h: Tree
) -> tuple[Tree, Array]:
    """Apply O: the gradient for the time h, and the noise that V leaves to inject; say also whether it was clipped."""
    drawn, clipped = injected_noise(key, h, friction, noise, x)
    push = manifold.project(x, jax.tree.map(lambda g, n, s: maps.transposed(s, g) + n, gradient, drawn, h))
    return jax.tree.map(jnp.add, v, push), clipped


def thermalise(key: Array, manifold: Manifold, x: Tree, v: Tree, friction: Tree, h: Tree) -> Tree:
    """Apply U: friction and the noise that balances it, exactly, for the time h."""

    def leaf(m: Manifold, a: Array, w: Array, c: Any, s: Any, z: Array) -> Array:
        if is_map(c):
            kept = _on_tangent(m, a, c, s, lambda rate: jnp.exp(-rate), w)
            return kept + _on_tangent(m, a, c, s, lambda rate: jnp.sqrt(-jnp.expm1(-2 * rate)), z)
        rate = c * duration(s)
        return jnp.exp(-rate) * w + jnp.sqrt(-jnp.expm1(-2 * rate)) * z

    return per_leaf(manifold, leaf, x, v, friction, h, manifold.random_velocity(key, x))


def _on_tangent(m: Manifold, x: Array, c: LinearMap, h: Any, f: Callable[[Array], Array], v: Array) -> Array:
    """Return f(P C P h) v."""
    rows = jnp.eye(x.size, dtype=x.dtype).reshape(x.size, *x.shape)
    projection = jax.vmap(lambda row: m.project(x, row).ravel())(rows)
    rates, directions = lapack.eigh(projection @ (maps.dense(maps.budget(c, duration(h)), x) / 2) @ projection)
    # rounding may leave the normal directions, where the rate is 0, a little below it
    return (directions @ (f(jnp.maximum(rates, 0)) * (directions.T @ v.ravel()))).reshape(v.shape)
