"""Does an SDE keep a law? The Fokker-Planck equation, by automatic differentiation.

For dz = f dt + sqrt(2 D) dW the probability current of p is p c with

    c_i = f_i - sum_j d_j D_ij - sum_j D_ij d_j log p,

and p is stationary if and only if its divergence vanishes everywhere (Eq. 4 of Ma, Chen & Fox 2015):

    (1/p) sum_i d_i (p c_i) = sum_i t_i = 0,     t_i = d_i c_i + c_i d_i log p.

The residual is |sum_i t_i| over the sum of the sizes of everything that enters it, so it is free of units: rounding
if the SDE is right, of the order of the mistake if it is wrong. The blame is shared out by sum over points of (sum_i
t_i) t_k, which adds up to the squared residual: the coordinate with the largest share is named. A drift that turns
(Hamiltonian) has large t_i that cancel between coordinates and gets no blame for them. A mistake that couples
coordinates can often be mended in either; the name is a hint.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from jax.flatten_util import ravel_pytree

from orthodrome.core.coordinates import check_matrix, coordinate_names, like, one_of, shapes_of, stacked
from orthodrome.core.types import Tree
from orthodrome.errors import BadInput

TOLERANCE = 1e-6
"""Residuals of right SDEs are some 1e-13 in float64; a mistake of a millionth of a term is reported."""


@dataclasses.dataclass(frozen=True)
class SDEReport:
    """What `check_sde` found.

    ok: whether the residual is below the tolerance at every point
    residual: the largest relative residual
    coordinate: the name of the coordinate that bears most of the blame (None if ok)
    shares: every coordinate's share of the blame
    point: the point with the largest residual, and its number
    """

    ok: bool
    residual: float
    coordinate: str | None
    shares: dict[str, float]
    point: Tree
    number: int
    tolerance: float
    num_points: int

    def __str__(self) -> str:
        if self.ok:
            return (
                f"stationary: at {self.num_points} points the Fokker-Planck residual is at most {self.residual:.1e} "
                f"of its terms (tolerance {self.tolerance:.0e})"
            )
        return (
            f"NOT stationary: the Fokker-Planck residual is {self.residual:.2g} of its terms (tolerance "
            f"{self.tolerance:.0e}), worst at point {self.number}: {_short(self.point)}; "
            f"the current of {self.coordinate} bears most of the blame"
        )


def check_sde(
    drift: Callable[[Tree], Tree],
    diffusion: Callable[[Tree], Array] | None,
    logdensity: Callable[[Tree], Array],
    points: Tree,
    *,
    tolerance: float = TOLERANCE,
) -> SDEReport:
    """Whether dz = drift dt + sqrt(2 diffusion) dW keeps exp(logdensity), tested at some points in float64.

    drift: z -> f(z), a tree like z
    diffusion: z -> D(z), a matrix over the ravelled z (D itself: not 2 D, nor a root); None: no noise
    logdensity: z -> log p(z) up to a constant
    points: a tree like z with one more leading axis; some 10 to 100 typical points, not only symmetric ones
    """
    with jax.enable_x64(True):
        rows, first = stacked(points)
        names = coordinate_names(first)
        _check_shapes(drift, diffusion, logdensity, first, len(names))
        unravel = ravel_pytree(first)[1]
        terms, sizes = jax.jit(jax.vmap(lambda z: _terms(drift, diffusion, logdensity, unravel, z)))(rows)
        return _report(np.asarray(terms), np.asarray(sizes), names, points, tolerance)


def _terms(drift: Any, diffusion: Any, logdensity: Any, unravel: Any, z: Array) -> tuple[Array, Array]:
    """t_i and the size of what enters it."""
    f = lambda y: ravel_pytree(drift(unravel(y)))[0]
    slope = jax.grad(lambda y: logdensity(unravel(y)))
    reversible = lambda y: _reversible(diffusion, unravel, slope, y)
    parts = []
    for current in (f, reversible):
        parts += [jnp.diag(jax.jacfwd(current)(z)), current(z) * slope(z)]
    return parts[0] + parts[1] - parts[2] - parts[3], jnp.sum(jnp.abs(jnp.stack(parts)), axis=0)


def _reversible(diffusion: Any, unravel: Any, slope: Any, z: Array) -> Array:
    """sum_j d_j D_ij + D_ij d_j log p: the drift that alone would keep p."""
    if diffusion is None:
        return jnp.zeros_like(z)
    d = lambda y: diffusion(unravel(y))
    return jnp.einsum("ijj->i", jax.jacfwd(d)(z)) + d(z) @ slope(z)


def _report(terms: np.ndarray, sizes: np.ndarray, names: list[str], points: Tree, tolerance: float) -> SDEReport:
    total, size = terms.sum(axis=1), sizes.sum(axis=1)
    if not np.all(np.isfinite(total)):
        number = int(np.argmax(~np.isfinite(total)))
        raise BadInput(
            f"the drift, diffusion or log density is not smooth at point {number}: {_short(one_of(points, number))}"
        )
    # a point where every term is tiny (a mode of H at rest) must not turn rounding into a residual
    relative = np.abs(total) / np.maximum(size, 1e-6 * max(float(size.max()), np.finfo(float).tiny))
    worst = int(np.argmax(relative))
    blame = (total[:, None] * terms).sum(axis=0)
    shares = blame / max(float((total**2).sum()), np.finfo(float).tiny)
    ok = bool(relative[worst] <= tolerance)
    return SDEReport(
        ok=ok,
        residual=float(relative[worst]),
        coordinate=None if ok else names[int(np.argmax(shares))],
        shares=dict(zip(names, map(float, shares), strict=True)),
        point=one_of(points, worst),
        number=worst,
        tolerance=tolerance,
        num_points=len(total),
    )


def _check_shapes(drift: Any, diffusion: Any, logdensity: Any, z: Tree, size: int) -> None:
    found = jax.eval_shape(drift, z)
    if not like(found, z):
        raise BadInput(
            f"`drift` returns {shapes_of(found)}, but a point is {shapes_of(z)}; it must return a tree like z"
        )
    check_matrix("diffusion", diffusion, z, size)
    value = jax.eval_shape(logdensity, z)
    if getattr(value, "shape", None) != ():
        raise BadInput(f"`logdensity` returns {shapes_of(value)}; it must return one number")


def _short(point: Tree) -> str:
    return str(jax.tree.map(lambda leaf: np.round(np.asarray(leaf, float), 4).tolist(), point))
