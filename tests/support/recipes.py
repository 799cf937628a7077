"""Every flat sampler as a recipe: H, D and Q of sections 3.1 and 3.2 of Ma, Chen & Fox (2015), corrected.

Beside them, the samplers of the paper that are wrong: as drifts, for the checker to reject.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
from jax import Array

from orthodrome.recipe import Recipe

N = 2
"""The number of parameters."""


def potential(x: Array) -> Array:
    """Not Gaussian, not symmetric, correlated."""
    return 0.25 * jnp.sum(x**4) + 0.5 * jnp.sum(x**2) + 0.3 * x[0] * x[1] - 0.5 * x[0]


def logdensity(x: Array) -> Array:
    return -potential(x)


def root(x: Array) -> Array:
    """A diagonal S(x) that depends on all of x."""
    return jnp.stack([1 + 0.5 * jnp.sin(x[0] + 0.5 * x[1]), 1 + 0.3 * x[1] ** 2 + 0.2 * x[0] ** 2])


def eye(x: Array) -> Array:
    return jnp.eye(x.size, dtype=x.dtype)


def blocks(rows: list[list[Array]]) -> Array:
    return jnp.block(rows)


def symplectic(s: Array) -> Array:
    """((0, -S), (S', 0))."""
    return blocks([[jnp.zeros_like(s), -s], [s.T, jnp.zeros_like(s)]])


def lower(c: Array) -> Array:
    """diag(0, C)."""
    return blocks([[jnp.zeros_like(c), jnp.zeros_like(c)], [jnp.zeros_like(c), c]])


def normal_momentum(key: Any, x: Array) -> tuple[Array]:
    return (jnp.zeros_like(x) if key is None else jax.random.normal(key, x.shape, x.dtype),)


# --- H beside U, D and Q; `data` are the settings ---------------------------------------------------------------------


def sgld_diffusion(z: Array, data: dict[str, Array]) -> Array:
    return jnp.diag(data["preconditioner"])


def hmc_energy(z: Any, data: dict[str, Array]) -> Array:
    return 0.5 * jnp.sum(z[1] ** 2 / data["mass"])


def sghmc_diffusion(z: Any, data: dict[str, Array]) -> Array:
    return lower(jnp.diag(data["friction"]))


def sghmc_curl(z: Any, data: dict[str, Array]) -> Array:
    return symplectic(eye(z[0]))


def sgrld_diffusion(z: Array) -> Array:
    return jnp.diag(root(z) ** 2)


def unit_energy(z: Any) -> Array:
    return 0.5 * jnp.sum(z[1] ** 2)


def sgrhmc_diffusion(z: Any) -> Array:
    return lower(jnp.diag(root(z[0]) ** 2))


def sgrhmc_curl(z: Any) -> Array:
    return symplectic(jnp.diag(root(z[0])))


def sgnht_energy(z: Any, data: dict[str, Array]) -> Array:
    """(d / 2) (xi - A)^2: erratum 004-4."""
    d = z[1].size
    return 0.5 * jnp.sum(z[1] ** 2) + 0.5 * data["mass"] * d * (z[2] - data["friction"]) ** 2


def sgnht_printed_energy(z: Any, data: dict[str, Array]) -> Array:
    """(xi - A)^2 / (2 d), as printed."""
    return 0.5 * jnp.sum(z[1] ** 2) + 0.5 / z[1].size * (z[2] - data["friction"]) ** 2


def sgnht_diffusion(z: Any, data: dict[str, Array]) -> Array:
    n = z[0].size
    d = jnp.zeros((2 * n + 1, 2 * n + 1), z[0].dtype)
    return d.at[n : 2 * n, n : 2 * n].set(data["friction"] * eye(z[0]))


def sgnht_curl(z: Any, data: dict[str, Array]) -> Array:
    n, r = z[0].size, z[1] / (data["mass"] * z[1].size)
    q = jnp.zeros((2 * n + 1, 2 * n + 1), r.dtype)
    q = q.at[: 2 * n, : 2 * n].set(symplectic(eye(z[0])))
    return q.at[n : 2 * n, 2 * n].set(r).at[2 * n, n : 2 * n].set(-r)


def many_energy(z: Any, data: dict[str, Array]) -> Array:
    return 0.5 * jnp.sum(z[1] ** 2) + 0.5 * data["mass"] * jnp.sum((z[2] - data["friction"]) ** 2)


def many_diffusion(z: Any, data: dict[str, Array]) -> Array:
    n = z[0].size
    return jnp.zeros((3 * n, 3 * n), z[0].dtype).at[n : 2 * n, n : 2 * n].set(data["friction"] * eye(z[0]))


def many_curl(z: Any, data: dict[str, Array]) -> Array:
    n, r = z[0].size, jnp.diag(z[1]) / data["mass"]
    q = jnp.zeros((3 * n, 3 * n), r.dtype).at[: 2 * n, : 2 * n].set(symplectic(eye(z[0])))
    return q.at[n : 2 * n, 2 * n :].set(r).at[2 * n :, n : 2 * n].set(-r)


def thermostat_start(key: Any, x: Array) -> tuple[Array, Array]:
    return (*normal_momentum(key, x), jnp.ones((), x.dtype))


def thermostats_start(key: Any, x: Array) -> tuple[Array, Array]:
    return (*normal_momentum(key, x), jnp.ones_like(x))


def recipe(name: str, gradient: Any, step_size: float, settings: dict[str, Any] | None = None, **more: Any) -> Recipe:
    """One of the recipes above."""
    h, d, q, auxiliary = {
        "SGLD": (None, sgld_diffusion, None, None),
        "SGHMC": (hmc_energy, sghmc_diffusion, sghmc_curl, normal_momentum),
        "SGRLD": (None, sgrld_diffusion, None, None),
        "SGRHMC": (unit_energy, sgrhmc_diffusion, sgrhmc_curl, normal_momentum),
        "SGNHT": (sgnht_energy, sgnht_diffusion, sgnht_curl, thermostat_start),
        "SGNHT-many": (many_energy, many_diffusion, many_curl, thermostats_start),
    }[name]
    return Recipe(h, d, q, step_size, gradient=gradient, auxiliary=auxiliary, data=settings, **more)


# --- drifts that the paper prints and that are wrong ------------------------------------------------------------------


def slope(x: Array) -> Array:
    return jax.grad(potential)(x)


def divergence(x: Array) -> Array:
    """sum_j d_j S_ij of the diagonal S."""
    return jnp.diag(jax.jacfwd(root)(x))


def joint(z: Any) -> Array:
    return -potential(z[0]) - 0.5 * jnp.sum(z[1] ** 2)


def naive_sghmc(z: Any) -> Any:
    """Eq. (11): the minibatch's noise without friction."""
    return z[1], -slope(z[0])


def naive_sgrhmc(z: Any) -> Any:
    """Eq. (16): no correction."""
    s = root(z[0])
    return s * z[1], -s * slope(z[0]) - s**2 * z[1]


def printed_17(z: Any) -> Any:
    """Eq. (17): two wrong signs."""
    s = root(z[0])
    return s * z[1], -s * slope(z[0]) - divergence(z[0]) + s**2 * z[1]


def corrected_17(z: Any) -> Any:
    """Algorithm 1."""
    s = root(z[0])
    return s * z[1], -s * slope(z[0]) + divergence(z[0]) - s**2 * z[1]


def printed_14(x: Array) -> Array:
    return -(root(x) ** 2) * slope(x) - jnp.diag(jax.jacfwd(lambda y: root(y) ** 2)(x))


def corrected_14(x: Array) -> Array:
    return -(root(x) ** 2) * slope(x) + jnp.diag(jax.jacfwd(lambda y: root(y) ** 2)(x))


def sgnht_drift(z: Any) -> Any:
    """Eq. (15)."""
    return z[1], -slope(z[0]) - z[2] * z[1], jnp.mean(z[1] ** 2) - 1
