"""Checks of the matrices of a recipe: shapes, signs, symmetry; where and by how much they are wrong."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from jax.flatten_util import ravel_pytree

import orthodrome.recipe.matrices as matrices
from orthodrome.core.coordinates import check_matrix, coordinate_names, like
from orthodrome.core.types import Tree
from orthodrome.errors import BadInput
from orthodrome.recipe.diffusion_matrix import wrong_diffusion as wrong_diffusion
from orthodrome.recipe.matrices import MatrixFree

DOOR_TOLERANCE = 1e-5
"""The tolerance at the door, relative to each pair of coordinates, in the precision of a start."""
LARGE = 500
"""The number of elements of z from which the eigenvalues of D are too costly to compute at the door."""


def matrix_problems(recipe: Any, z: Tree) -> list[str]:
    """Return what is wrong with D and Q at one z, in the precision of z; of a large z only the shapes are checked."""
    check_shapes(recipe, z)
    names = coordinate_names(z)
    if len(names) > LARGE:
        return []
    d, q = (np.asarray(matrix, float)[None] for matrix in both_matrices(recipe, z))
    found = [*wrong_diffusion(d, DOOR_TOLERANCE, names), *wrong_curl(q, DOOR_TOLERANCE, names)]
    return [text.replace("point 0", "the start") for text in found]


def both_matrices(recipe: Any, z: Tree) -> tuple[Array, Array]:
    """Return D and Q at z."""
    d, q = (matrices.dense(matrix, z, recipe.data) for matrix in (recipe.diffusion, recipe.curl))
    return d, q


def indefinite(recipe: Any, z: Tree) -> Array:
    """Return whether D has a negative eigenvalue at z; False of a large z and of products with a root, unseen."""
    diffusion, size = recipe.diffusion, ravel_pytree(z)[0].size
    rooted = isinstance(diffusion, MatrixFree) and diffusion.root is not None
    if diffusion is None or rooted or size > LARGE:
        return jnp.zeros((), bool)
    values = jnp.linalg.eigvalsh(matrices.dense(diffusion, z, recipe.data))
    return values[0] < -64 * jnp.finfo(values.dtype).eps * jnp.max(jnp.abs(values))


def check_shapes(recipe: Any, z: Tree) -> None:
    """Raise unless the three functions return the right shapes; they are traced, not run."""
    size = ravel_pytree(z)[0].size
    for name, matrix in (("diffusion", recipe.diffusion), ("curl", recipe.curl)):
        if isinstance(matrix, MatrixFree):
            _check_product(name, matrix, z, recipe.data)
        elif matrix is not None:
            check_matrix(name, lambda z, m=matrix: matrices.call(m, recipe.data, z), z, size)
    value = jax.eval_shape(recipe.energy, z)
    if getattr(value, "shape", None) != ():
        raise BadInput(f"`hamiltonian` returns {value}; it must return one number")


def _check_product(name: str, matrix: MatrixFree, z: Tree, data: Any) -> None:
    for label, function in ((name, matrix.function), (f"root of {name}", matrix.root)):
        if function is None:
            continue
        found = jax.eval_shape(lambda z, v, f=function: matrices.call(f, data, z, v), z, z)
        if not like(found, z):
            raise BadInput(f"MatrixFree `{label}` returns {found} for a vector like z; it must return a tree like z")


def wrong_curl(q: np.ndarray, tolerance: float, names: list[str]) -> list[str]:
    """Return in what way Q is not skew-symmetric at the given points, or an empty list."""
    bad = np.abs(q + q.swapaxes(1, 2))
    own = np.maximum(np.abs(q), np.abs(q).swapaxes(1, 2)).max(axis=0)  # each pair on its own scale
    excess = bad / np.maximum(own, max(1e-14 * own.max(), np.finfo(float).tiny))
    if excess.max() <= tolerance:
        return []
    n, i, j = np.unravel_index(excess.argmax(), bad.shape)
    return [f"Q is not skew: Q + Q' is {bad[n, i, j]:.3g} at ({names[i]}, {names[j]}), point {n}; take (Q - Q') / 2"]
