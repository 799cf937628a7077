"""The only tree arithmetic: sums, inner products and normals over any pytree of arrays."""

from __future__ import annotations

import itertools
from typing import Any, TypeVar

import jax
import jax.numpy as jnp
from jax import Array

from orthodrome.core.types import Tree

T = TypeVar("T")


def add(x: Tree, y: Tree) -> Tree:
    """Return x + y."""
    return jax.tree.map(jnp.add, x, y)


def subtract(x: Tree, y: Tree) -> Tree:
    """Return x - y."""
    return jax.tree.map(jnp.subtract, x, y)


def negate(x: Tree) -> Tree:
    """Return -x."""
    return jax.tree.map(jnp.negative, x)


def scale(a: Any, x: Tree) -> Tree:
    """Return a x for one number a, in the dtype of x."""
    return jax.tree.map(lambda leaf: jnp.asarray(a, leaf.dtype) * leaf, x)


def axpy(a: Any, x: Tree, y: Tree) -> Tree:
    """Return a x + y for one number a, in the dtype of y."""
    return jax.tree.map(lambda u, w: jnp.asarray(a, w.dtype) * u + w, x, y)


def dot(x: Tree, y: Tree) -> Array:
    """Return the inner product of two trees of the same structure."""
    return jax.tree.reduce(jnp.add, jax.tree.map(lambda u, w: jnp.sum(u * w), x, y))


def where(condition: Array, x: T, y: T) -> T:
    """Return x if the condition holds, else y."""
    chosen: T = jax.tree.map(lambda u, w: jnp.where(condition, u, w), x, y)
    return chosen


def all_finite(x: Tree) -> Array:
    """Return whether every number in the tree is finite."""
    return jax.tree.reduce(jnp.logical_and, jax.tree.map(lambda leaf: jnp.all(jnp.isfinite(leaf)), x))


def split_like(key: Array, tree: Tree, is_leaf: Any = None) -> Tree:
    """Return one key for each leaf of the tree."""
    leaves, structure = jax.tree.flatten(tree, is_leaf=is_leaf)
    return jax.tree.unflatten(structure, list(jax.random.split(key, len(leaves))))


def normal_like(key: Array, tree: Tree) -> Tree:
    """Draw a standard normal number for every number of the tree."""
    return jax.tree.map(lambda k, leaf: jax.random.normal(k, leaf.shape, leaf.dtype), split_like(key, tree), tree)


def size(tree: Tree) -> int:
    """Return how many numbers the tree holds."""
    return sum(leaf.size for leaf in jax.tree.leaves(tree))


def real_dtype(tree: Tree) -> jnp.dtype:
    """Return the floating-point type in which scalars that belong to this tree are kept."""
    return jnp.result_type(*jax.tree.leaves(tree))


def row(tree: Tree) -> Array:
    """Return all numbers of a tree in one row."""
    return jnp.concatenate([jnp.ravel(leaf) for leaf in jax.tree.leaves(tree)])


def like_row(numbers: Array, like: Tree) -> Tree:
    """Return a row of numbers as a tree of the shapes and dtypes of `like`."""
    parts, structure = jax.tree.flatten(like)
    ends = itertools.accumulate(leaf.size for leaf in parts)
    cut = [numbers[end - a.size : end].reshape(a.shape).astype(a.dtype) for end, a in zip(ends, parts, strict=True)]
    return jax.tree.unflatten(structure, cut)
