"""Laws on spheres."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import Array

from orthodrome.manifolds import Sphere
from support import exact_draws as exact
from support.registry.law import Law


def vmf(kappa: float) -> Callable[[Array], Array]:
    return lambda p: kappa * p[0]


def look_along_and_across(kappa: float) -> Callable[[Array], Array]:
    """Cosine, its square, one other coordinate, its square, and the squares of half of the others together."""
    return lambda p: jnp.stack([p[0], p[0] ** 2, p[1], p[1] ** 2, jnp.sum(p[1 : 1 + p.size // 2] ** 2)])


def vmf_means(d: int, kappa: float) -> Callable[[], np.ndarray]:
    def means() -> np.ndarray:
        w, weight = exact.von_mises_fisher_cosine(d, kappa)
        along, square = weight @ w, weight @ w**2
        other = (1 - square) / (d - 1)
        return np.array([along, square, 0, other, other * min(d // 2, d - 1)])

    return means


def vmf_law(d: int, kappa: float, **settings: Any) -> Law:
    return Law(
        Sphere,
        vmf(kappa),
        lambda rng, n: exact.von_mises_fisher(rng, n, d, kappa),
        means=vmf_means(d, kappa),
        functionals=look_along_and_across(kappa),
        **settings,
    )


BINGHAM = np.array([0.0, 2.0, 5.0, 9.0])
BVMF = np.array([-20.0, -10.0, 0.0, 10.0, 20.0])


def bingham(p: Array) -> Array:
    return jnp.sum(jnp.asarray(BINGHAM, p.dtype) * p**2)


def bvmf(c: float) -> Callable[[Array], Array]:
    return lambda p: jnp.sum(jnp.asarray(BVMF, p.dtype) * p**2) + c * p[0]


def squares_and_first(p: Array) -> Array:
    return jnp.concatenate([p[:1], p**2])


SPHERES: dict[str, Law] = {
    "vmf-2": vmf_law(2, 1.0, step=0.9, num_steps=2, walk=2.0),
    "vmf-3": vmf_law(3, 5.0, step=0.5, num_steps=2, walk=0.9),
    "vmf-100": vmf_law(100, 50.0, step=0.07, num_steps=3, walk=0.02, chains=11_000),
    "vmf-1000": vmf_law(1000, 700.0, step=0.012, num_steps=4, walk=0.002, chains=7_000),
    "bingham": Law(
        Sphere,
        bingham,
        lambda rng, n: exact.bingham_von_mises_fisher(rng, n, BINGHAM, 0.0),
        functionals=squares_and_first,
        step=0.2,
        num_steps=3,
        walk=0.5,
    ),
    "bvmf-40": Law(
        Sphere,
        bvmf(40.0),
        lambda rng, n: exact.bingham_von_mises_fisher(rng, n, BVMF, 40.0, 0.5),
        functionals=squares_and_first,
        step=0.11,
        num_steps=3,
        walk=0.15,
        chains=25_000,
    ),
    "bvmf-80": Law(
        Sphere,
        bvmf(80.0),
        lambda rng, n: exact.bingham_von_mises_fisher(rng, n, BVMF, 80.0),
        functionals=squares_and_first,
        step=0.11,
        num_steps=8,
        walk=0.15,
        chains=42_000,
    ),
}
