"""Trees of matrices over leaves: one entry (a number, an array, or a `LinearMap`) for each leaf of a position.

Users give one entry for all leaves or a tree with one per leaf; `spread` makes the second out of the first.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jax import Array

from orthodrome.core.types import Tree
from orthodrome.linear import maps
from orthodrome.linear.linear_map import Entry, is_map


def entries(values: Any, like: Tree) -> list[Entry]:
    """Return one entry for each leaf of `like`, in its order and precision; a single entry serves all leaves.

    None stands for an entry that is not there (the noise of a leaf that has none).
    """
    given, structure = jax.tree.flatten(values, is_leaf=lambda node: node is None or is_map(node))
    parts = jax.tree.leaves(like)
    if jax.tree_util.treedef_is_leaf(structure):
        given = given * len(parts)
    return [e if e is None or is_map(e) else jnp.asarray(e, x.dtype) for e, x in zip(given, parts, strict=True)]


def spread(values: Any, like: Tree) -> Tree:
    """Return the tree of `entries`, with the structure of `like`."""
    return jax.tree.unflatten(jax.tree.structure(like), entries(values, like))


def over(function: Callable[..., Any], values: Tree, *rest: Tree) -> Tree:
    """Return function(entry, leaf, ...) for trees of the same structure, the first one of entries."""
    return jax.tree.map(function, values, *rest, is_leaf=is_map)


def scaled(values: Tree, by: Any) -> Tree:
    """Return every entry of a tree times one number."""
    return over(lambda a: maps.scaled(a, by), values)


def any_map(values: Any) -> bool:
    """Return whether any entry is a `LinearMap`, and not a number or a diagonal."""
    return any(is_map(node) for node in jax.tree.leaves(values, is_leaf=is_map))


def one_if_none(values: Any) -> Any:
    """Return the identity for a setting that is not set."""
    return 1.0 if values is None else values


def mean_diagonal(values: Any, like: Tree) -> Array:
    """Return the mean of the diagonals over all numbers of the position."""
    parts = jax.tree.leaves(like)
    dtype = jnp.result_type(*parts)
    pairs = zip(entries(values, like), parts, strict=True)
    return sum(jnp.mean(maps.diagonal_values(a)).astype(dtype) * x.size for a, x in pairs) / sum(x.size for x in parts)


def largest_diagonal(values: Tree, like: Tree) -> Array:
    """Return the largest entry on the diagonals."""
    return jax.tree.reduce(jnp.maximum, over(lambda a, x: jnp.max(maps.diagonal(a, x)), values, like))


def indefinite(setting: Any) -> Array:
    """Return whether any matrix is not positive definite: a number that is not above 0, or a map without a root."""
    bad = [_indefinite(entry) for entry in jax.tree.leaves(setting, is_leaf=is_map)]
    return jnp.any(jnp.stack(bad))


def _indefinite(entry: Entry) -> Array:
    if not is_map(entry):
        return jnp.any(~(jnp.asarray(entry) > 0))
    return jnp.any(jnp.stack([jnp.any(~jnp.isfinite(part)) for part in jax.tree.leaves(entry.root())]))
