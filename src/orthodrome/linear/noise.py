"""The noise of a stochastic gradient, and the noise that a sampler adds to it.

V(x) is the covariance of the gradient's error, in ambient coordinates. Of a tree of positions it is a tree of the same
structure, whose leaves are a number (V I), an array of the leaf's shape (a diagonal), a `FullNoise` or a `LowRankNoise`
over the ravelled leaf; None stands for zero.

A kick of gain h multiplies the error by h; a friction C over the time t wants a total noise of covariance 2 C t. So
what is added is (Eq. 8 of Liu et al. 2016)

    N(0, 2 C t - h V h'),

its negative eigenvalues set to zero. That clipping is reported: where it happens the chain runs too hot, and a smaller
step or more friction is the remedy.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
from jax import Array

from orthodrome.core.pytree import pytree
from orthodrome.core.types import Tree
from orthodrome.linear import steps


@pytree
class FullNoise:
    """V as a matrix over the ravelled leaf."""

    matrix: Array


@pytree
class LowRankNoise:
    """V = factor factor' + diag(diagonal), over the ravelled leaf."""

    factor: Array
    diagonal: Array


@pytree
class MatrixFriction:
    """A friction C that is a symmetric positive semidefinite matrix over the ravelled leaf."""

    matrix: Array


def is_noise(node: Any) -> bool:
    """Whether a node of a tree is the noise (or friction) of one leaf; None is none."""
    return node is None or isinstance(node, FullNoise | LowRankNoise | MatrixFriction)


def spread(values: Any, like: Tree) -> list[Any]:
    """One entry per leaf of `like`, in its order, from a tree of noises or frictions; one entry serves all leaves."""
    entries, structure = jax.tree.flatten(values, is_leaf=is_noise)
    leaves = jax.tree.leaves(like)
    if jax.tree_util.treedef_is_leaf(structure):
        entries = entries * len(leaves)
    return [e if is_noise(e) else jnp.asarray(e, x.dtype) for e, x in zip(entries, leaves, strict=True)]


def duration(h: Any) -> Any:
    """The time that a step takes: the step itself, or the size of a linear map."""
    return h.size if steps.is_step(h) else h


def injected_noise(key: Array, h: Tree, friction: Any, noise: Any, like: Tree) -> tuple[Tree, Array]:
    """A draw of N(0, 2 C t - h V h') for every leaf of `like`, and whether any of them had to be clipped.

    h: the tree of steps (see `steps.per_leaf`); friction, noise: one entry for all leaves or one per leaf
    """
    leaves, structure = jax.tree.flatten(like)
    keys = leaf_keys(key, len(leaves))
    gains = jax.tree.leaves(h, is_leaf=steps.is_step)
    parts = zip(keys, spread(friction, like), spread(noise, like), gains, leaves, strict=True)
    drawn = [compensated(k, budget(c, duration(s)), v, s, x) for k, c, v, s, x in parts]
    clipped = jnp.any(jnp.stack([flag for _, flag in drawn]))
    return jax.tree.unflatten(structure, [value for value, _ in drawn]), clipped


def leaf_keys(key: Array, count: int) -> Any:
    """One key per leaf; a single leaf has the key itself, as a split costs as much as a few draws."""
    return [key] if count == 1 else jax.random.split(key, count)


def budget(friction: Any, time: Any) -> Any:
    """2 C t: the whole noise that a friction wants over a time."""
    if isinstance(friction, MatrixFriction):
        # with one time per element C acts in the units of each: t^(1/2) C t^(1/2)
        root = jnp.broadcast_to(jnp.ravel(jnp.sqrt(time)), (friction.matrix.shape[0],))
        return MatrixFriction(2 * root[:, None] * friction.matrix * root[None, :])
    return 2 * friction * time


def compensated(key: Array, total: Any, noise: Any, gain: Any, like: Array) -> tuple[Array, Array]:
    """A draw of N(0, total - gain V gain') with the shape of one leaf, and whether it had to be clipped.

    total: a number, an array of the leaf's shape, or a `MatrixFriction`
    noise: V of the leaf; gain: what multiplies the gradient
    """
    z = jax.random.normal(key, like.shape, like.dtype)
    if noise is None and not isinstance(total, MatrixFriction):
        return jnp.sqrt(total) * z, jnp.zeros((), bool)
    if isinstance(total, MatrixFriction) or isinstance(noise, FullNoise) or steps.is_step(gain):
        return _dense(z, total, noise, gain)
    if isinstance(noise, LowRankNoise):
        return _low_rank(z, total, noise, gain)
    left = total - gain**2 * noise
    return jnp.sqrt(jnp.maximum(left, 0)) * z, _below(left, total)


def _dense(z: Array, total: Any, noise: Any, gain: Any) -> tuple[Array, Array]:
    whole = total.matrix if isinstance(total, MatrixFriction) else _diagonal(total, z)
    left = whole - _pushed(noise, gain, z) if noise is not None else whole
    values, vectors = jnp.linalg.eigh(left)
    drawn = vectors @ (jnp.sqrt(jnp.maximum(values, 0)) * z.ravel())
    return drawn.reshape(z.shape), _below(values, jnp.trace(whole) / whole.shape[0])


def _low_rank(z: Array, total: Any, noise: LowRankNoise, gain: Any) -> tuple[Array, Array]:
    """With a = total - gain^2 diagonal and a^(-1/2) gain F = U s W', a root of what is left of the covariance is
    a^(1/2) (I - U (1 - (1 - s^2)^(1/2)) U')."""
    flat = lambda value: jnp.broadcast_to(value, z.shape).ravel()
    a = flat(total) - flat(gain) ** 2 * noise.diagonal
    root = jnp.sqrt(jnp.maximum(a, jnp.finfo(z.dtype).tiny))
    u, s, _ = jnp.linalg.svd((flat(gain) / root)[:, None] * noise.factor, full_matrices=False)
    kept = jnp.sqrt(jnp.maximum(1 - s**2, 0))
    drawn = root * (z.ravel() - u @ ((1 - kept) * (u.T @ z.ravel())))
    return drawn.reshape(z.shape), _below(a, flat(total)) | _below(1 - s**2, jnp.ones_like(s))


def _below(left: Array, total: Any) -> Array:
    """Below zero by more than rounding."""
    return jnp.any(left < -16 * jnp.finfo(left.dtype).eps * total)


def dense(noise: Any, like: Array) -> Array:
    """V of one leaf as a matrix."""
    if isinstance(noise, FullNoise):
        return noise.matrix
    if isinstance(noise, LowRankNoise):
        return noise.factor @ noise.factor.T + jnp.diag(noise.diagonal)
    return _diagonal(noise, like)


def _diagonal(value: Any, like: Array) -> Array:
    return jnp.diag(jnp.broadcast_to(jnp.asarray(value, like.dtype), like.shape).ravel())


def _pushed(noise: Any, gain: Any, like: Array) -> Array:
    """gain V gain'."""
    matrix = dense(noise, like)
    push = jax.vmap(lambda row: steps.transposed(gain, row.reshape(like.shape)).ravel())
    return push(push(matrix).T)
