"""The six laws of the comparison, each with its exact moments.

A law's `logdensity` takes one point, a NumPy or a JAX array, and leaves out constants; densities on curved spaces are
with respect to the surface measure, the Dirichlet's with respect to Lebesgue measure in all coordinates but one.
`gradient` is for the peers that are written in NumPy. `num_draws` is per chain, for methods whose loop is compiled:
about a second of sampling.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

EXACT_DRAWS, BATCHES = 400_000, 8


@dataclass(frozen=True, eq=False)
class Law:
    """What to draw from: space is "sphere", "frame" or "simplex"."""

    name: str
    space: str
    shape: tuple[int, ...]
    logdensity: Callable[[Any], Any]
    gradient: Callable[[np.ndarray], np.ndarray]
    parameters: tuple[np.ndarray, ...]
    num_draws: int


def von_mises_fisher(d: int, kappa: float, num_draws: int) -> Law:
    """exp(c'x), the mean along the diagonal so that no coordinate is special."""
    c = np.full(d, kappa / np.sqrt(d))
    return Law(f"vMF d={d}", "sphere", (d,), lambda x: x @ c, lambda x: c, (c,), num_draws)


def bingham(name: str, a: np.ndarray, c: np.ndarray, num_draws: int) -> Law:
    """exp(sum a_i x_i^2 + c'x)."""
    return Law(name, "sphere", a.shape, lambda x: x**2 @ a + x @ c, lambda x: 2 * a * x + c, (a, c), num_draws)


def matrix_von_mises_fisher(n: int, strengths: tuple[float, ...], num_draws: int) -> Law:
    """exp(tr F'X) with the given singular values."""
    f = np.eye(n, len(strengths)) * np.array(strengths)
    name = f"matrix vMF Stiefel({n},{len(strengths)})"
    return Law(name, "frame", f.shape, lambda x: (f * x).sum(), lambda x: f, (f,), num_draws)


def dirichlet(a: np.ndarray, num_draws: int) -> Law:
    """Concentrations below 1/2 are poles of the square-root map."""
    import jax.numpy as jnp

    return Law(
        f"Dirichlet d={a.size}",
        "simplex",
        a.shape,
        lambda p: (a - 1) @ jnp.log(p),
        lambda p: (a - 1) / p,
        (a,),
        num_draws,
    )


def all_laws() -> list[Law]:
    """In the order of the table."""
    first_of_five = np.eye(5)[0]
    return [
        von_mises_fisher(3, 10.0, 20_000),
        von_mises_fisher(100, 50.0, 5_000),
        bingham("BVMF d=5", np.array([-20.0, -10.0, 0.0, 10.0, 20.0]), 80 * first_of_five, 10_000),
        bingham("Bingham d=10", np.linspace(-10.0, 10.0, 10), np.zeros(10), 10_000),
        dirichlet(np.geomspace(0.3, 10.0, 10), 10_000),
        matrix_von_mises_fisher(20, (30.0, 20.0, 10.0), 3_000),
    ]


def functionals(x: np.ndarray) -> np.ndarray:
    """x and x^2, all coordinates, along the last axis; the leading axes are (chain, draw)."""
    flat = np.asarray(x, np.float64).reshape(*x.shape[:2], -1)
    return np.concatenate([flat, flat**2], axis=-1)


def exact_moments(law: Law) -> tuple[np.ndarray, np.ndarray]:
    """The means of the functionals and their standard errors: 0 in closed form, else from exact draws in float64."""
    batches = [functionals(exact_draws(law, seed, EXACT_DRAWS // BATCHES)[None])[0] for seed in range(BATCHES)]
    mean = np.mean([batch.mean(axis=0) for batch in batches], axis=0)
    error = np.sqrt(np.mean([batch.var(axis=0) for batch in batches], axis=0) / EXACT_DRAWS)
    if law.space != "simplex":
        return mean, error
    a, total = law.parameters[0], law.parameters[0].sum()
    exact = np.concatenate([a / total, a * (a + 1) / (total * (total + 1))])
    assert np.all(np.abs(exact - mean) < 6 * error), "the exact draws and the closed form disagree"
    return exact, np.zeros_like(exact)


def exact_draws(law: Law, seed: int, count: int) -> np.ndarray:
    """Independent, in float64."""
    import jax

    with jax.enable_x64(True):
        return np.asarray(exact_density(law).sample(jax.random.key(seed), (count,)))


def exact_density(law: Law) -> Any:
    """The law as one of the package's densities, which the tests check against quadrature and other generators."""
    import jax.numpy as jnp

    import orthodrome as od

    first, *rest = (jnp.asarray(p) for p in law.parameters)
    if law.space == "simplex":
        return od.Dirichlet(first)
    if law.space == "frame":
        return od.MatrixVonMisesFisher(first)
    if rest:
        return od.densities.BinghamVonMisesFisher(jnp.diag(first), rest[0])
    kappa = jnp.sqrt(jnp.sum(first**2))
    return od.VonMisesFisher(first / kappa, kappa)
