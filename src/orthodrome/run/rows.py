"""Draws as rows: what is kept of a draw, its elements of one dtype side by side.

A draw has a position and some ten small numbers. Written into ten buffers they cost more than a transition on a small
space; written as one row per dtype they cost little. The buffers are taken apart once, after the loop.
"""

from __future__ import annotations

import math

import jax
import jax.numpy as jnp
from jax import Array

from orthodrome.core.types import Tree

Rows = dict[str, Array]


def row(tree: Tree) -> Rows:
    """Return the leaves of a tree as one flat row for each dtype."""
    groups: dict[str, list[Array]] = {}
    for leaf in jax.tree.leaves(tree):
        groups.setdefault(leaf.dtype.name, []).append(leaf.ravel())
    return {name: jnp.concatenate(leaves) for name, leaves in groups.items()}


def empty(like: Tree, length: int) -> Rows:
    """Return buffers for `length` rows of trees with these shapes."""
    return {name: jnp.zeros((length, *a.shape), a.dtype) for name, a in jax.eval_shape(row, like).items()}


def write(rows: Rows, tree: Tree, i: Array) -> Rows:
    """Return the buffers with a tree written to row i."""
    new = row(tree)
    return {name: jax.lax.dynamic_update_index_in_dim(rows[name], new[name], i, 0) for name in rows}


def taken_apart(rows: Rows, like: Tree) -> Tree:
    """Return the tree whose leaves have the leading axis of the rows."""
    begin = dict.fromkeys(rows, 0)
    leaves = []
    for leaf in jax.tree.leaves(like):
        name, first = leaf.dtype.name, begin[leaf.dtype.name]
        begin[name] = first + math.prod(leaf.shape)
        leaves.append(rows[name][:, first : begin[name]].reshape(-1, *leaf.shape))
    return jax.tree.unflatten(jax.tree.structure(like), leaves)
