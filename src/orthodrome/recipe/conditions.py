"""Is a recipe one? D positive semidefinite, Q skew, Gamma right, and the SDE stationary, at some points.

Gamma by automatic differentiation is compared with central differences of the columns of D + Q: they differ where a
function has a kink, a `stop_gradient` or a wrong derivative of its own.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from jax.flatten_util import ravel_pytree

from orthodrome.errors import BadInput
from orthodrome.manifolds.manifold import Tree
from orthodrome.pytree import replace
from orthodrome.recipe import matrices
from orthodrome.recipe.fokker_planck import SDEReport, check_matrix, check_sde, coordinate_names, like, stacked
from orthodrome.recipe.matrices import MatrixFree
from orthodrome.recipe.motion import Motion
from orthodrome.recipe.recipe import Recipe
from orthodrome.samplers.divergence import ExactDivergence

TOLERANCE = 1e-8
"""Of the size of the matrix, for symmetry and signs; float64 rounding is 1e-16."""
LARGE = 500
"""So many numbers in z are too many to look at the eigenvalues of D at the door."""
DIFFERENCE = 1e-5
"""The step of the central differences, and (since their error is its square) a tolerance for Gamma of 1e-6."""


@dataclasses.dataclass(frozen=True)
class RecipeReport:
    """What `check_recipe` found.

    ok: whether nothing is wrong
    problems: what is wrong, where, and by how much
    smallest_eigenvalue: of D, over all points
    asymmetry: the largest |Q + Q'| or |D - D'|
    gamma_error: of Gamma against central differences, relative
    sde: the Fokker-Planck report (None if D or Q are wrong already)
    """

    ok: bool
    problems: tuple[str, ...]
    smallest_eigenvalue: float
    asymmetry: float
    gamma_error: float
    sde: SDEReport | None

    def __str__(self) -> str:
        if self.ok:
            return (
                f"a recipe: D has eigenvalues of at least {self.smallest_eigenvalue:.2g}, Q is skew to "
                f"{self.asymmetry:.0e}, Gamma agrees with differences to {self.gamma_error:.0e}; {self.sde}"
            )
        return "NOT a recipe: " + "; ".join(self.problems)


def check_recipe(recipe: Recipe, points: Tree, *, tolerance: float = TOLERANCE) -> RecipeReport:
    """Whether D, Q and Gamma of a recipe are what Theorem 1 asks for, at some points z in float64.

    points: a tree like z (the position alone, or (position, momentum, ...)) with one more leading axis
    """
    with jax.enable_x64(True):
        rows, first = stacked(points)
        names = coordinate_names(first)
        check_shapes(recipe, first)
        unravel = ravel_pytree(first)[1]
        look = lambda z: (*both_matrices(recipe, unravel(z)), *_corrections(recipe, unravel, z))
        d, q, gamma, differences = map(np.asarray, jax.jit(jax.vmap(look))(rows))
    size = max(float(np.abs(d).max()), float(np.abs(q).max()), np.finfo(float).tiny)
    problems = [*_wrong_d(d, tolerance * size, names), *_wrong_q(q, tolerance * size, names)]
    sde = None if problems else check_sde(*sde_of(recipe), points)
    error, wrong = _wrong_gamma(gamma, differences, size, names)
    problems += wrong + ([str(sde)] if sde is not None and not sde.ok else [])
    lowest = float(np.linalg.eigvalsh((d + d.swapaxes(1, 2)) / 2).min())
    asymmetry = max(float(np.abs(q + q.swapaxes(1, 2)).max()), float(np.abs(d - d.swapaxes(1, 2)).max()))
    return RecipeReport(not problems, tuple(problems), lowest, asymmetry, error, sde)


def matrix_problems(recipe: Recipe, z: Tree) -> list[str]:
    """What is wrong with D and Q at one z, in the precision of z; nothing is asked of a large z beyond its shapes."""
    check_shapes(recipe, z)
    names = coordinate_names(z)
    if len(names) > LARGE:
        return []
    d, q = (np.asarray(matrix, float)[None] for matrix in both_matrices(recipe, z))
    tolerance = 1e-5 * max(float(np.abs(d).max()), float(np.abs(q).max()))
    found = [*_wrong_d(d, tolerance, names), *_wrong_q(q, tolerance, names)]
    return [text.replace("point 0", "the start") for text in found]


def sde_of(recipe: Recipe) -> tuple[Any, Any, Any]:
    """drift, diffusion and log density as functions of z; U from all of the data."""
    exact = replace(recipe, divergence=ExactDivergence(), gradient=None)

    def logdensity(z: Tree) -> Array:
        if recipe.gradient is None:
            return -exact.energy(z)
        x = z if recipe.auxiliary is None else z[0]
        return recipe.gradient.target.embedded_logdensity(x) - exact.energy(z)

    def drift(z: Tree) -> Tree:
        motion = Motion(exact, None, None, None)  # type: ignore[arg-type]
        flat, unravel = ravel_pytree(z)
        slope = -ravel_pytree(jax.grad(logdensity)(z))[0]
        return unravel(motion.correction(z) - motion.product(z, flat, slope))

    return drift, lambda z: matrices.dense(recipe.diffusion, z, recipe.data), logdensity


def both_matrices(recipe: Recipe, z: Tree) -> tuple[Array, Array]:
    """D and Q at z."""
    d, q = (matrices.dense(matrix, z, recipe.data) for matrix in (recipe.diffusion, recipe.curl))
    return d, q


def check_shapes(recipe: Recipe, z: Tree) -> None:
    """Whether the three functions return what they should; traces them and runs nothing."""
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


def _corrections(recipe: Recipe, unravel: Any, z: Array) -> tuple[Array, Array]:
    """Gamma by automatic differentiation and by central differences."""
    motion = Motion(recipe, None, None, None)  # type: ignore[arg-type]
    apply = lambda y, v: motion.product(unravel(z), y, v)
    steps = DIFFERENCE * jnp.eye(z.size, dtype=z.dtype)
    change = lambda step: (apply(z + step, step) - apply(z - step, step)) / (2 * DIFFERENCE**2)
    return ExactDivergence()(apply, z), jnp.sum(jax.vmap(change)(steps), axis=0)


def _wrong_d(d: np.ndarray, tolerance: float, names: list[str]) -> list[str]:
    problems = []
    if (bad := np.abs(d - d.swapaxes(1, 2))).max() > tolerance:
        n, i, j = np.unravel_index(bad.argmax(), bad.shape)
        problems.append(
            f"D is not symmetric: D and its transpose differ by {bad.max():.2g} at ({names[i]}, {names[j]}), point {n}"
        )
    values, vectors = np.linalg.eigh((d + d.swapaxes(1, 2)) / 2)
    n = int(values[:, 0].argmin())
    if values[n, 0] < -tolerance:
        along = names[int(np.abs(vectors[n, :, 0]).argmax())]
        problems.append(
            f"D is not positive semidefinite: its eigenvalue is {values[n, 0]:.3g} at point {n}, mostly along {along}"
        )
    return problems


def _wrong_q(q: np.ndarray, tolerance: float, names: list[str]) -> list[str]:
    bad = np.abs(q + q.swapaxes(1, 2))
    if bad.max() <= tolerance:
        return []
    n, i, j = np.unravel_index(bad.argmax(), bad.shape)
    return [f"Q is not skew: Q + Q' is {bad.max():.3g} at ({names[i]}, {names[j]}), point {n}; take (Q - Q') / 2"]


def _wrong_gamma(gamma: np.ndarray, differences: np.ndarray, size: float, names: list[str]) -> tuple[float, list[str]]:
    scale = np.maximum(np.abs(gamma), np.abs(differences)) + size
    error = np.abs(gamma - differences) / scale
    if np.isfinite(gamma).all() and error.max() < 1e-6:
        return float(error.max()), []
    n, i = np.unravel_index(np.nan_to_num(error, nan=np.inf).argmax(), error.shape)
    text = (
        f"Gamma of {names[i]} is {gamma[n, i]:.4g} by automatic differentiation but {differences[n, i]:.4g} by "
        f"differences, at point {n}: D or Q has a kink there, or a wrong derivative"
    )
    return float(error[n, i]), [text]
