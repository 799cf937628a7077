"""Points of a pytree as vectors: their coordinates by name, and functions of them checked for their shapes."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from jax.flatten_util import ravel_pytree

from orthodrome.core.types import Tree
from orthodrome.errors import BadInput


def like(found: Tree, z: Tree) -> bool:
    """Return whether a tree has the structure and the shapes of z."""
    first, second = (
        {path: leaf.shape for path, leaf in jax.tree_util.tree_leaves_with_path(tree)} for tree in (found, z)
    )
    return first == second


def check_matrix(name: str, function: Any, z: Tree, size: int) -> None:
    """Raise unless a function of z returns a square matrix over the ravelled z."""
    if function is None:
        return
    found = jax.eval_shape(function, z)
    shape = getattr(found, "shape", None)
    if shape != (size, size):
        raise BadInput(
            f"`{name}` returns {shapes_of(found)}, but z has {size} numbers: it must return a {size} x {size} matrix "
            "over the ravelled z (jax.flatten_util.ravel_pytree), or be wrapped as MatrixFree(f) with f(z, v)"
        )


def stacked(points: Tree) -> tuple[Array, Tree]:
    """Return the points as rows of a matrix in the present precision, and the first of them."""
    points = jax.tree.map(lambda leaf: jnp.asarray(leaf, jnp.result_type(float)), points)
    lengths = {leaf.shape[:1] for leaf in jax.tree.leaves(points)}
    if len(lengths) != 1 or lengths == {()} or lengths == {(0,)}:
        raise BadInput(
            f"`points` must be a tree like z with one more leading axis of the same length; the lengths are {lengths}"
        )
    return jax.vmap(lambda z: ravel_pytree(z)[0])(points), one_of(points, 0)


def coordinate_names(z: Tree) -> list[str]:
    """Return how the user would write each coordinate, such as `z[1][0]`."""
    names = []
    for path, leaf in jax.tree_util.tree_leaves_with_path(z):
        head = "z" + jax.tree_util.keystr(path)
        names += [head + (f"[{', '.join(map(str, index))}]" if index else "") for index in np.ndindex(leaf.shape)]
    return names


def one_of(points: Tree, number: int) -> Tree:
    """Return one of the stacked points."""
    return jax.tree.map(lambda leaf: leaf[number], points)


def shapes_of(tree: Tree) -> str:
    """Return the shapes of the leaves, in words for a message."""
    return str(jax.tree.map(lambda leaf: list(jnp.shape(leaf)), tree))
