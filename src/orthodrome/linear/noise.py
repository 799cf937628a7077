"""The noise that a sampler adds beside the noise that its gradient already has.

V is the covariance of the gradient's error, in ambient coordinates; of a tree of positions it is a tree of the same
structure, with a number (V I), an array of the leaf's shape (a diagonal), a `Dense` or a `LowRank` map for each leaf;
None stands for zero. A kick of gain h multiplies the error by h; a friction C over the time t wants a total noise of
covariance 2 C t. So what is added is (Eq. 8 of Liu et al. 2016)

    N(0, 2 C t - h V h'),

its negative eigenvalues set to zero. That clipping is reported: where it happens the chain runs too hot, and a smaller
step or more friction is the remedy.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import jax
import jax.numpy as jnp
from jax import Array

from orthodrome.core import lapack
from orthodrome.core.types import Tree
from orthodrome.linear import leaves, maps
from orthodrome.linear.linear_map import Entry, is_map
from orthodrome.linear.linear_step import duration
from orthodrome.linear.low_rank import LowRank

ROUNDING = 16
"""How many rounding errors below zero an eigenvalue may be and count as zero: a few operations, with a margin."""


def injected_noise(key: Array, h: Tree, friction: Any, noise: Any, like: Tree) -> tuple[Tree, Array]:
    """Draw N(0, 2 C t - h V h') for every leaf of `like`; return it, and whether any leaf had to be clipped.

    h: the tree of steps, one per leaf
    friction, noise: C and V, one entry for all leaves or one per leaf
    """
    steps = leaves.entries(h, like)
    budgets = (maps.budget(c, duration(s)) for c, s in zip(leaves.entries(friction, like), steps, strict=True))
    return compensated(key, budgets, noise, steps, like)


def compensated(
    key: Array, totals: Iterable[Entry], noise: Any, gains: Iterable[Entry], like: Tree
) -> tuple[Tree, Array]:
    """Draw N(0, total - gain V gain') for every leaf of `like`; return it, and whether any leaf had to be clipped.

    totals: the covariance that is wanted, one entry per leaf; gains: what multiplies the gradient of each leaf
    """
    shapes, structure = jax.tree.flatten(like)
    parts = zip(leaf_keys(key, len(shapes)), totals, leaves.entries(noise, like), gains, shapes, strict=True)
    drawn = [compensated_leaf(*part) for part in parts]
    clipped = jnp.any(jnp.stack([flag for _, flag in drawn]))
    return jax.tree.unflatten(structure, [value for value, _ in drawn]), clipped


def leaf_keys(key: Array, count: int) -> Any:
    """Return one key per leaf; a single leaf has the key itself, as a split costs as much as a few draws."""
    return [key] if count == 1 else jax.random.split(key, count)


def compensated_leaf(key: Array, total: Entry, noise: Entry | None, gain: Entry, like: Array) -> tuple[Array, Array]:
    """Draw N(0, total - gain V gain') for one leaf; return it, and whether it had to be clipped."""
    z = jax.random.normal(key, like.shape, like.dtype)
    if noise is None and not is_map(total):
        return jnp.sqrt(total) * z, jnp.zeros((), bool)
    if noise is None and isinstance(total, LowRank):
        return total.root().apply(z), jnp.zeros((), bool)
    if isinstance(noise, LowRank) and noise.sign > 0 and not is_map(total) and not is_map(gain):
        return _low_rank(z, total, noise, gain)
    if is_map(total) or is_map(noise) or is_map(gain):
        return _dense(z, total, noise, gain)
    left = total - gain**2 * noise
    return jnp.sqrt(jnp.maximum(left, 0)) * z, _below(left, total)


def _dense(z: Array, total: Entry, noise: Entry | None, gain: Entry) -> tuple[Array, Array]:
    """Draw with a root from the eigenvalues of the covariance that is left."""
    whole = maps.dense(total, z)
    left = whole - _pushed(noise, gain, z) if noise is not None else whole
    values, vectors = lapack.eigh(left)
    drawn = vectors @ (jnp.sqrt(jnp.maximum(values, 0)) * z.ravel())
    return drawn.reshape(z.shape), _below(values, jnp.trace(whole) / whole.shape[0])


def _low_rank(z: Array, total: Entry, noise: LowRank, gain: Entry) -> tuple[Array, Array]:
    """Draw with a root of diag(a) - (g F) (g F)', a = total - g^2 d, where V = diag(d) + F F' and g is the gain.

    With a^(-1/2) g F = U diag(c) W' it is a^(1/2) (I - U diag(1 - (1 - c^2)^(1/2)) U').
    """
    flat = lambda value: jnp.broadcast_to(value, z.shape).ravel()
    a = flat(total) - flat(gain) ** 2 * noise.diagonal
    root = jnp.sqrt(jnp.maximum(a, jnp.finfo(z.dtype).tiny))
    u, c, _ = lapack.thin_svd((flat(gain) / root)[:, None] * noise.factor)
    kept = jnp.sqrt(jnp.maximum(1 - c**2, 0))
    drawn = root * (z.ravel() - u @ ((1 - kept) * (u.T @ z.ravel())))
    return drawn.reshape(z.shape), _below(a, flat(total)) | _below(1 - c**2, jnp.ones_like(c))


def _below(left: Array, total: Any) -> Array:
    """Return whether anything is below zero by more than rounding."""
    return jnp.any(left < -ROUNDING * jnp.finfo(left.dtype).eps * total)


def _pushed(noise: Entry, gain: Entry, like: Array) -> Array:
    """Return gain V gain' as a matrix; a gradient g is multiplied by the transpose of a step's map."""
    push = jax.vmap(lambda row: maps.transposed(gain, row.reshape(like.shape)).ravel())
    return push(push(maps.dense(noise, like)).T)
