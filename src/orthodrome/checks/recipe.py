"""Check of a recipe: D positive semidefinite, Q skew-symmetric, Gamma right, and the SDE stationary, at some points.

Gamma by automatic differentiation is compared with central differences of the columns of D + Q: they differ where a
function has a kink, a `stop_gradient` or a wrong derivative of its own.
"""

from __future__ import annotations

import dataclasses
from typing import Any, cast

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from jax.flatten_util import ravel_pytree

import orthodrome.recipe.matrices as matrices
from orthodrome.checks.sde import SDEReport, check_sde
from orthodrome.core.coordinates import coordinate_names, stacked
from orthodrome.core.pytree import replace
from orthodrome.core.types import Tree
from orthodrome.metrics.divergence import ExactDivergence
from orthodrome.recipe.inspection import both_matrices, check_shapes, wrong_curl, wrong_diffusion
from orthodrome.recipe.motion import Motion
from orthodrome.recipe.recipe import Recipe
from orthodrome.targets import EmbeddedLaw

TOLERANCE = 1e-8
"""For symmetry and signs, relative to each pair of coordinates; float64 rounding is 1e-16."""
DIFFERENCE = 1e-5
"""The step of the central differences; their error is its square, so Gamma is compared with a tolerance of 1e-6."""


@dataclasses.dataclass(frozen=True)
class RecipeReport:
    """The result of `check_recipe`.

    ok: whether nothing is wrong
    problems: what is wrong, where, and by how much
    smallest_eigenvalue: of D, over all points
    asymmetry: the largest |Q + Q'| or |D - D'|
    gamma_error: the relative error of Gamma against central differences
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
    """Test whether D, Q and Gamma of a recipe satisfy Theorem 1, at some points z in float64.

    recipe: the recipe whose D, Q and H are evaluated
    points: a tree like z (the position alone, or (position, momentum, ...)) with one more leading axis
    tolerance: for symmetry and signs, relative to each pair of coordinates
    """
    with jax.enable_x64(True):
        rows, first = stacked(points)
        names = coordinate_names(first)
        check_shapes(recipe, first)
        unravel = ravel_pytree(first)[1]
        look = lambda z: (*both_matrices(recipe, unravel(z)), *_corrections(recipe, unravel, z))
        d, q, gamma, differences = map(np.asarray, jax.jit(jax.vmap(look))(rows))
    problems = [*wrong_diffusion(d, tolerance, names), *wrong_curl(q, tolerance, names)]
    size = np.maximum((np.abs(d) + np.abs(q)).max(axis=(0, 2)), np.finfo(float).tiny)  # of each coordinate's row
    sde = None if problems else check_sde(*sde_of(recipe), points)
    error, wrong = _wrong_gamma(gamma, differences, size, names)
    problems += wrong + ([str(sde)] if sde is not None and not sde.ok else [])
    lowest = float(np.linalg.eigvalsh((d + d.swapaxes(1, 2)) / 2).min())
    asymmetry = max(float(np.abs(q + q.swapaxes(1, 2)).max()), float(np.abs(d - d.swapaxes(1, 2)).max()))
    return RecipeReport(not problems, tuple(problems), lowest, asymmetry, error, sde)


def sde_of(recipe: Recipe) -> tuple[Any, Any, Any]:
    """Return drift, diffusion and log density as functions of z, with U from all of the data."""
    exact = replace(recipe, divergence=ExactDivergence(), gradient=None)

    def logdensity(z: Tree) -> Array:
        if recipe.gradient is None:
            return -exact.energy(z)
        x = z if recipe.auxiliary is None else z[0]
        return cast(EmbeddedLaw, recipe.gradient.target).embedded_logdensity(x) - exact.energy(z)

    def drift(z: Tree) -> Tree:
        motion = Motion(exact, None, None, None)  # type: ignore[arg-type]
        flat, unravel = ravel_pytree(z)
        slope = -ravel_pytree(jax.grad(logdensity)(z))[0]
        return unravel(motion.correction(z) - motion.product(z, flat, slope))

    return drift, lambda z: matrices.dense(recipe.diffusion, z, recipe.data), logdensity


def _corrections(recipe: Recipe, unravel: Any, z: Array) -> tuple[Array, Array]:
    """Return Gamma by automatic differentiation and by central differences."""
    motion = Motion(recipe, None, None, None)  # type: ignore[arg-type]
    apply = lambda y, v: motion.product(unravel(z), y, v)
    steps = DIFFERENCE * jnp.eye(z.size, dtype=z.dtype)
    change = lambda step: (apply(z + step, step) - apply(z - step, step)) / (2 * DIFFERENCE**2)
    return ExactDivergence()(apply, z), jnp.sum(jax.vmap(change)(steps), axis=0)


def _wrong_gamma(
    gamma: np.ndarray, differences: np.ndarray, size: np.ndarray, names: list[str]
) -> tuple[float, list[str]]:
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
