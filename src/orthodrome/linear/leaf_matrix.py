"""Matrices over one leaf of the position: a number (times the identity), an array of the leaf's shape (a diagonal),
or a `LeafMatrix` over the ravelled leaf. Preconditioners, masses, frictions and metrics are trees of these, or one
for all."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
from jax import Array

from orthodrome.core.pytree import pytree
from orthodrome.core.types import Tree
from orthodrome.linear.noise import MatrixFriction


@pytree
class LeafMatrix:
    """A matrix over the ravelled leaf; symmetric positive definite unless said otherwise."""

    matrix: Array


def is_matrix(node: Any) -> bool:
    """Whether a node of a tree is a matrix over one leaf."""
    return isinstance(node, LeafMatrix | MatrixFriction)


def spread(values: Any, like: Tree) -> Tree:
    """One entry per leaf of `like`; one entry serves all leaves."""
    entries, structure = jax.tree.flatten(values, is_leaf=is_matrix)
    leaves, wanted = jax.tree.flatten(like)
    if len(entries) == 1 and jax.tree_util.treedef_is_leaf(structure):
        entries = entries * len(leaves)
    cast = [e if is_matrix(e) else jnp.asarray(e, x.dtype) for e, x in zip(entries, leaves, strict=True)]
    return jax.tree.unflatten(wanted, cast)


def one_if_none(values: Any) -> Any:
    """What is not set is 1."""
    return 1.0 if values is None else values


def any_matrix(values: Any) -> bool:
    """Whether any entry is a matrix."""
    return any(is_matrix(node) for node in jax.tree.leaves(values, is_leaf=is_matrix))


def over(function: Any, entries: Tree, *rest: Tree) -> Tree:
    """function(entry, leaf, ...) over trees of the same structure."""
    return jax.tree.map(function, entries, *rest, is_leaf=is_matrix)


def times(a: Any, v: Array) -> Array:
    """a v."""
    return (a.matrix @ v.ravel()).reshape(v.shape) if is_matrix(a) else a * v


def transposed(a: Any, v: Array) -> Array:
    """a' v."""
    return (a.matrix.T @ v.ravel()).reshape(v.shape) if is_matrix(a) else a * v


def solve(a: Any, v: Array) -> Array:
    """a^-1 v, for a positive definite a."""
    if not is_matrix(a):
        return v / a
    factor = jax.scipy.linalg.cho_factor(a.matrix)
    return jax.scipy.linalg.cho_solve(factor, v.ravel()).reshape(v.shape)


def root(a: Any) -> Any:
    """s with s s' = a: the elementwise root, or Cholesky's lower factor."""
    return LeafMatrix(jnp.linalg.cholesky(a.matrix)) if is_matrix(a) else jnp.sqrt(a)


def diagonal(a: Any, like: Array) -> Array:
    """The diagonal, in the shape of the leaf."""
    return jnp.diag(a.matrix).reshape(like.shape) if is_matrix(a) else jnp.broadcast_to(a, like.shape)


def mean_diagonal(entries: Tree, like: Tree) -> Array:
    """The mean over all numbers of the position."""
    sums = over(lambda a, x: jnp.sum(diagonal(a, x)), entries, like)
    return jax.tree.reduce(jnp.add, sums) / sum(leaf.size for leaf in jax.tree.leaves(like))


def largest_diagonal(entries: Tree, like: Tree) -> Array:
    """The largest entry on the diagonal."""
    return jax.tree.reduce(jnp.maximum, over(lambda a, x: jnp.max(diagonal(a, x)), entries, like))


def inverse(a: Any) -> Any:
    """a^-1, for a positive definite a."""
    return LeafMatrix(jnp.linalg.inv(a.matrix)) if is_matrix(a) else 1 / a


def scaled(by: Any, a: Any) -> Any:
    """A number times a."""
    return type(a)(by * a.matrix) if is_matrix(a) else by * a


def damped(friction: Any, h: Any, v: Array) -> Array:
    """h C v; with one h per element h^(1/2) C h^(1/2) v, as in the noise that goes with it."""
    return jnp.sqrt(h) * times(friction, jnp.sqrt(h) * v) if is_matrix(friction) else h * friction * v
