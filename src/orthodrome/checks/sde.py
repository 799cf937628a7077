"""Does an SDE keep a distribution? A check of the Fokker-Planck equation, by automatic differentiation.

For dz = f dt + sqrt(2 D) dW the probability current of p is p c with

    c_i = f_i - sum_j d_j D_ij - sum_j D_ij d_j log p,

and p is stationary if and only if its divergence vanishes everywhere (Eq. 4 of Ma, Chen & Fox 2015):

    (1/p) sum_i d_i (p c_i) = sum_i t_i = 0,     t_i = d_i c_i + c_i d_i log p.

The residual is |sum_i t_i| over the sum of the sizes of everything that enters it, so it is free of units: rounding
if the SDE is right, of the order of the mistake if it is wrong; every coordinate and point is judged on its own scale
(`residuals`). The blame is divided by sum over points of (sum_i t_i) t_k, which adds up to the squared residual: the
coordinate with the largest share is named. A rotating (Hamiltonian) drift has large t_i that cancel between
coordinates and gets no blame for them. A mistake that couples coordinates can often be mended in either; the name is a
hint.

A point on a kink, where derivatives exist on one side only, says nothing: it is one whose neighbours on all sides
satisfy the equation, and is left out. A matrix that cannot be D is reported, and if its square root or a multiple of it
would have made the SDE right, the report says so.
"""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from jax.flatten_util import ravel_pytree

from orthodrome.checks.residuals import residuals
from orthodrome.core.coordinates import check_matrix, coordinate_names, like, one_of, shapes_of, stacked
from orthodrome.core.types import Tree
from orthodrome.errors import BadInput
from orthodrome.recipe.diffusion_matrix import wrong_diffusion

TOLERANCE = 1e-6
"""For relative residuals: those of right SDEs are some 1e-13 in float64; a mistake of a millionth of a term is
reported."""
MATRIX_TOLERANCE = 1e-8
"""For symmetry and signs of D, in units in which its diagonal is 1."""
NEIGHBOUR = 1e-4
"""The distance, relative to the point, of the neighbours that tell a kink from a mistake."""


@dataclasses.dataclass(frozen=True)
class SDEReport:
    """The result of `check_sde`.

    ok: whether the residual is below the tolerance at every point and D is symmetric and positive semidefinite
    residual: the largest relative residual
    coordinate: the name of the coordinate that bears most of the blame (None if ok)
    shares: every coordinate's share of the blame
    point, number: the point with the largest residual, and its number
    tolerance: for the residual
    num_points: how many points were judged
    problems: what else is wrong: D not symmetric, D not positive semidefinite
    hint: what seems to have been passed as `diffusion` instead of D
    kinks: the numbers of the points that lie on a kink and were not judged
    """

    ok: bool
    residual: float
    coordinate: str | None
    shares: dict[str, float]
    point: Tree
    number: int
    tolerance: float
    num_points: int
    problems: tuple[str, ...] = ()
    hint: str = ""
    kinks: tuple[int, ...] = ()

    def __str__(self) -> str:
        left_out = f"; {len(self.kinks)} point(s) on a kink were left out: {self.kinks}" if self.kinks else ""
        if self.ok:
            return (
                f"stationary: at {self.num_points} points the Fokker-Planck residual is at most {self.residual:.1e} "
                f"of its terms (tolerance {self.tolerance:.0e}){left_out}"
            )
        found = [self.hint] if self.hint else []
        found += self.problems
        if self.coordinate is not None:
            found.append(
                f"the Fokker-Planck residual is {self.residual:.2g} of its terms (tolerance {self.tolerance:.0e}), "
                f"worst at point {self.number}: {_short(self.point)}; "
                f"the current of {self.coordinate} bears most of the blame"
            )
        return f"NOT stationary: {'; '.join(found)}{left_out}"


def check_sde(
    drift: Callable[[Tree], Tree],
    diffusion: Callable[[Tree], Array] | None,
    logdensity: Callable[[Tree], Array],
    points: Tree,
    *,
    tolerance: float = TOLERANCE,
) -> SDEReport:
    """Test whether dz = drift dt + sqrt(2 diffusion) dW keeps exp(logdensity), at some points in float64.

    drift: z -> f(z), a tree like z
    diffusion: z -> D(z), a matrix over the ravelled z (D itself: not 2 D, nor a root); None: no noise
    logdensity: z -> log p(z) up to a constant
    points: a tree like z with one more leading axis; some 10 to 100 typical points, not only symmetric ones
    tolerance: for the relative residual
    """
    with jax.enable_x64(True):
        rows, first = stacked(points)
        names = coordinate_names(first)
        _check_shapes(drift, diffusion, logdensity, first, len(names))
        look = _looking(drift, diffusion, logdensity, ravel_pytree(first)[1])
        report = _report(look, rows, names, points, tolerance)
        hint = "" if report.ok or diffusion is None else _mistaken(look, rows, names, points, tolerance)
        return dataclasses.replace(report, hint=hint)


READINGS = (lambda d: d, lambda b: b @ b.T / 2, lambda b: b @ b.T, lambda d: d / 2)
"""What the user's matrix is taken for: D itself, or one of the MISTAKES, turned into D."""
MISTAKES = (("B = sqrt(2 D)", "D = B B' / 2"), ("B = sqrt(D)", "D = B B'"), ("2 D", "half of it"))
"""The other readings by name, and how they are turned into D."""
BLOCK = 64
"""The number of points that are evaluated at a time."""


class Inspected(NamedTuple):
    """What is evaluated at each point.

    terms, sizes: t_i and the sizes of what enters it
    coupling: how strongly coordinates are coupled
    diffusion, logdensity: D and log p
    """

    terms: Any
    sizes: Any
    coupling: Any
    diffusion: Any
    logdensity: Any


def _looking(drift: Any, diffusion: Any, logdensity: Any, unravel: Any) -> Any:
    """Return the function (rows, reading) that evaluates everything the check needs at all points.

    It is compiled once: rows come in blocks of one size, and how the matrix is read (READINGS) is a number."""

    @jax.jit
    def block(rows: Array, reading: int) -> Inspected:
        read = lambda z: jax.lax.switch(reading, READINGS, diffusion(z))
        return jax.vmap(lambda z: _terms(drift, diffusion and read, logdensity, unravel, z))(rows)

    def look(rows: Array, reading: int = 0) -> Inspected:
        padded = np.resize(rows, (-(-len(rows) // BLOCK) * BLOCK, rows.shape[1]))
        seen = [jax.tree.map(np.asarray, block(part, reading)) for part in np.split(padded, len(padded) // BLOCK)]
        return jax.tree.map(lambda *parts: np.concatenate(parts)[: len(rows)], *seen)

    return look


def _terms(drift: Any, diffusion: Any, logdensity: Any, unravel: Any, z: Array) -> Inspected:
    f = lambda y: ravel_pytree(drift(unravel(y)))[0]
    height = lambda y: logdensity(unravel(y))
    slope = jax.grad(height)
    reversible = lambda y: _reversible(diffusion, unravel, slope, y)
    d = jnp.zeros((z.size, z.size), z.dtype) if diffusion is None else diffusion(unravel(z))
    parts, coupling = [], jnp.abs(jax.jacfwd(slope)(z)) + jnp.abs(d)
    for current in (f, reversible):
        change = jax.jacfwd(current)(z)
        coupling = coupling + jnp.abs(change)
        parts += [jnp.diag(change), current(z) * slope(z)]
    terms, sizes = parts[0] + parts[1] - parts[2] - parts[3], jnp.sum(jnp.abs(jnp.stack(parts)), axis=0)
    return Inspected(terms, sizes, coupling, d, height(z))


def _reversible(diffusion: Any, unravel: Any, slope: Any, z: Array) -> Array:
    """Return sum_j d_j D_ij + D_ij d_j log p: the drift that by itself would keep p."""
    if diffusion is None:
        return jnp.zeros_like(z)
    d = lambda y: diffusion(unravel(y))
    return jnp.einsum("ijj->i", jax.jacfwd(d)(z)) + d(z) @ slope(z)


def _report(look: Any, rows: Array, names: list[str], points: Tree, tolerance: float, reading: int = 0) -> SDEReport:
    seen = look(rows, reading)
    _check_smooth(seen, points)
    found = residuals(seen.terms, seen.sizes, seen.coupling.max(axis=0) > 0)
    kinks = _kinks(look, reading, rows, found.relative > tolerance, tolerance)
    if len(kinks) == len(rows):
        raise BadInput("every point lies on a kink of the drift, the diffusion or the log density; pass typical points")
    relative = found.relative.copy()
    relative[list(kinks)] = 0
    worst = int(np.argmax(relative))
    wrong = bool(relative[worst] > tolerance)
    problems = tuple(wrong_diffusion(seen.diffusion, MATRIX_TOLERANCE, names))
    return SDEReport(
        ok=not wrong and not problems,
        residual=float(relative[worst]),
        coordinate=names[int(np.argmax(found.shares))] if wrong else None,
        shares=dict(zip(names, map(float, found.shares), strict=True)),
        point=one_of(points, worst),
        number=worst,
        tolerance=tolerance,
        num_points=len(rows) - len(kinks),
        problems=problems,
        kinks=kinks,
    )


def _check_smooth(seen: Inspected, points: Tree) -> None:
    """Raise if at some point the distribution has no density or something has no derivative."""
    where = lambda bad: f"at point {int(np.argmax(bad))}: {_short(one_of(points, int(np.argmax(bad))))}"
    if (bad := ~np.isfinite(seen.logdensity)).any():
        raise BadInput(f"the log density is {seen.logdensity[np.argmax(bad)]} {where(bad)}; pass points of the support")
    if (bad := ~np.isfinite(seen.terms.sum(axis=1) + seen.diffusion.sum(axis=(1, 2)))).any():
        raise BadInput(f"drift, diffusion or log density has a non-finite derivative {where(bad)}; pass other points")


def _kinks(look: Any, reading: int, rows: Array, failed: np.ndarray, tolerance: float) -> tuple[int, ...]:
    """Return the failed points all of whose neighbours (eight random ones, on opposite sides) satisfy the equation."""
    if not failed.any():
        return ()
    numbers, away = np.flatnonzero(failed), np.random.default_rng(0).normal(size=(4, rows.shape[1]))
    steps = NEIGHBOUR * np.concatenate([away, -away])
    near = np.asarray(rows)[numbers][:, None] * (1 + steps) + NEIGHBOUR * steps
    seen = look(near.reshape(-1, rows.shape[1]), reading)
    found = residuals(seen.terms, seen.sizes, seen.coupling.max(axis=0) > 0).relative.reshape(len(numbers), -1)
    return tuple(int(i) for i in numbers[np.all(found <= tolerance, axis=1)])


def _mistaken(look: Any, rows: Array, names: list[str], points: Tree, tolerance: float) -> str:
    """Return what the matrix seems to be, if the SDE is right once it is turned into D."""
    for reading, (name, formula) in enumerate(MISTAKES, start=1):
        with contextlib.suppress(BadInput):
            if _report(look, rows, names, points, tolerance, reading).ok:
                return f"you passed {name} as `diffusion`; it must return D itself: with {formula} the law is kept"
    return ""


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
