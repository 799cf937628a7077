"""The algebra of matrices over one leaf, whatever their form: a number, an array of the leaf's shape, or a `LinearMap`.

A friction C over the time t asks for a noise of covariance 2 C t, its `budget`; where every element has a time of its
own, C acts in the units of each, and the budget is 2 t^(1/2) C t^(1/2).
"""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
from jax import Array

from orthodrome.linear import sweeps
from orthodrome.linear.dense import Dense, Triangular
from orthodrome.linear.linear_map import Entry, is_map


def apply(a: Entry, v: Array) -> Array:
    """Return a v."""
    return a.apply(v) if is_map(a) else a * v


def transposed(a: Entry, v: Array) -> Array:
    """Return a' v."""
    return a.transposed(v) if is_map(a) else a * v


def solve(a: Entry, v: Array) -> Array:
    """Return a^-1 v."""
    return a.solve(v) if is_map(a) else v / a


def root(a: Entry) -> Entry:
    """Return s with s s' = a, for a positive a."""
    return a.root() if is_map(a) else jnp.sqrt(a)


def smooth_root(a: Entry) -> Entry:
    """Return s with s s' = a, for a positive a, in operations that can be differentiated; of a map Cholesky's factor.

    The factorisations behind `root` have no derivatives, which a matrix that depends on the position needs.
    """
    return Triangular(sweeps.cholesky(a.dense())) if is_map(a) else jnp.sqrt(a)


def inverse(a: Entry) -> Entry:
    """Return a^-1, for a positive a."""
    return a.inverse() if is_map(a) else 1 / a


def diagonal(a: Entry, like: Array) -> Array:
    """Return the diagonal of a positive a, in the shape of the leaf."""
    return a.diagonal_entries().reshape(like.shape) if is_map(a) else jnp.broadcast_to(a, like.shape)


def diagonal_values(a: Entry) -> Array:
    """Return the numbers on the diagonal of a positive a: a vector for a map, one number for a number."""
    return a.diagonal_entries() if is_map(a) else a


def dense(a: Entry, like: Array) -> Array:
    """Return a as an n x n array, for a leaf of n numbers."""
    if is_map(a):
        return a.dense()
    return jnp.diag(jnp.broadcast_to(jnp.asarray(a, like.dtype), like.shape).ravel())


def scaled(a: Entry, by: Any) -> Entry:
    """Return `by` times a, for one positive number, in the precision of a."""
    return a.scaled(by) if is_map(a) else a * jnp.asarray(by, jnp.result_type(a, float))


def add(a: Entry, b: Entry, like: Array) -> Entry:
    """Return a + b; a dense map if either is a map."""
    return Dense(dense(a, like) + dense(b, like)) if is_map(a) or is_map(b) else a + b


def budget(friction: Entry, time: Any) -> Entry:
    """Return 2 C t, the covariance of the noise that balances a friction over a time (one, or one per element)."""
    return friction.budget(jnp.ravel(time)) if is_map(friction) else 2 * friction * time


def damped(friction: Entry, time: Any, v: Array) -> Array:
    """Return t C v, or t^(1/2) C t^(1/2) v with one time per element, to match the noise of `budget`."""
    if not is_map(friction):
        return time * friction * v
    return jnp.sqrt(time) * friction.apply(jnp.sqrt(time) * v)
