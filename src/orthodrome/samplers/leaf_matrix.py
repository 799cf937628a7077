"""Matrices over one leaf of the position: a number (times the identity), an array of the leaf's shape (a diagonal),
or a `LeafMatrix` over the ravelled leaf. Preconditioners, masses, frictions and metrics are trees of these, or one
for all."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
from jax import Array

from orthodrome.gradients.noise import MatrixFriction
from orthodrome.manifolds.manifold import Tree
from orthodrome.pytree import pytree


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


def damped(friction: Any, h: Any, v: Array) -> Array:
    """h C v; with one h per element h^(1/2) C h^(1/2) v, as in the noise that goes with it."""
    return jnp.sqrt(h) * times(friction, jnp.sqrt(h) * v) if is_matrix(friction) else h * friction * v
