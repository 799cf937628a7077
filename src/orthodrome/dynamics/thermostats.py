"""Nose-Hoover thermostats with one variable for each ambient coordinate, on any manifold.

With x = chart(q), M = dx/dq, G = M'M, the projection P = M G^-1 M' and the velocity v = M G^-1 p, take

    H = -log pi_H(x) + p' G^-1 p / 2 + sum_i mass (xi_i - C)^2 / 2,
    D = C G in the block of p,       Q_{p, xi_i} = M' e_i v_i / mass = -Q_{xi_i, p}'.

The recipe then gives the friction -M' diag(xi) v of p, that is -P diag(xi) v of v, and

    d xi_i = [v_i^2 - P_ii(x)] dt / mass,                   Gamma of xi_i being -(M G^-1 M')_ii / mass,

under which each xi_i is N(C, 1/mass). It compensates for gradient noise whose variance differs between coordinates. On
flat space P_ii is 1 and the coordinates have a thermostat each. Unlike v.v, the squares v_i^2 change along a geodesic:
the thermostats take half of their time before it and half after, so that a palindrome stays one, of second order.
The friction is exact, exp(-P diag(xi) t) v = exp(-P diag(xi) P t) v for a tangent v, by scaling and squaring for every
copy by itself: O(n^3) for a point of n numbers.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
from jax import Array

from orthodrome.core.types import Tree
from orthodrome.manifolds.exponential import exponential
from orthodrome.manifolds.manifold import Manifold
from orthodrome.manifolds.product import per_leaf


def heated(manifold: Manifold, xi: Tree, x: Tree, v: Tree, times: Tree, mass: Any) -> Tree:
    """Return the thermostats after the time, with x and v held fixed: xi_i + (v_i^2 - P_ii) t / mass."""

    def leaf(m: Manifold, f: Array, a: Array, w: Array, t: Array) -> Array:
        return f + t * (w**2 - _shares(m, a)) / mass

    return per_leaf(manifold, leaf, xi, x, v, times)


def damped(manifold: Manifold, rates: Tree, x: Tree, v: Tree) -> Tree:
    """Return exp(-P diag(rates)) v, the rates being those of the thermostats times the time."""

    def leaf(m: Manifold, rate: Array, a: Array, w: Array) -> Array:
        return jnp.exp(-rate) * w if m.flat else _over_copies(m, _damped_point, a, rate, w)

    return per_leaf(manifold, leaf, rates, x, v)


def _shares(m: Manifold, x: Array) -> Array:
    """Return P_ii for every number of x: which part of its axis is tangent."""
    return jnp.ones_like(x) if m.flat else _over_copies(m, lambda m, a: jnp.diag(_projection(m, a)).reshape(a.shape), x)


def _damped_point(m: Manifold, x: Array, rate: Array, v: Array) -> Array:
    projection, rates = _projection(m, x), rate.ravel()
    decay = exponential(-projection @ (rates[:, None] * projection), jnp.max(jnp.abs(rates)))
    return (decay @ v.ravel()).reshape(v.shape)


def _projection(m: Manifold, x: Array) -> Array:
    """Return P as an n x n matrix."""
    rows = jnp.eye(x.size, dtype=x.dtype).reshape(x.size, *x.shape)
    return jax.vmap(lambda row: m.project(x, row).ravel())(rows)


def _over_copies(m: Manifold, function: Any, x: Array, *rest: Array) -> Array:
    """Apply function(manifold, point, ...) to every copy."""
    shape = x.shape[x.ndim - m.point_ndim :]
    flat = (jnp.broadcast_to(a, x.shape).reshape(-1, *shape) for a in (x, *rest))
    return jax.vmap(lambda *parts: function(m, *parts))(*flat).reshape(x.shape)
