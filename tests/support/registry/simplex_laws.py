"""Dirichlet laws on the charts and embeddings of the simplex."""

from __future__ import annotations

from collections.abc import Callable

import jax.numpy as jnp
import numpy as np
from jax import Array

from orthodrome.manifolds import LogRatioSimplex, ReflectedSimplex, Simplex
from support import exact_draws as exact
from support.registry.law import Law

TINY = np.array([1e-3, 2e-3, 4e-3])


def dirichlet(*concentration: float) -> Callable[[Array], Array]:
    return lambda p: jnp.sum((jnp.asarray(concentration, p.dtype) - 1) * jnp.log(p))


def dirichlet_of_logs(logs: Array) -> Array:
    return jnp.sum((jnp.asarray(TINY, logs.dtype) - 1) * logs)


def look_at_logs(logs: Array) -> Array:
    """Weights; and log weights on their own scale 1/a, where exp(a log p) is nearly uniform."""
    return jnp.concatenate([jnp.exp(logs), jnp.exp(jnp.asarray(TINY, logs.dtype) * logs)[:2], logs[:2]])


def draw_dirichlet(*concentration: float) -> Callable[[np.random.Generator, int], np.ndarray]:
    return lambda rng, n: np.exp(exact.log_dirichlet(rng, n, np.array(concentration)))


SIMPLICES: dict[str, Law] = {
    "simplex": Law(
        Simplex, dirichlet(1, 2, 5), draw_dirichlet(1, 2, 5), step=0.15, num_steps=4, walk=0.35, chains=19_000
    ),
    "simplex-poles": Law(
        Simplex, dirichlet(0.3, 1, 5), draw_dirichlet(0.3, 1, 5), step=0.1, num_steps=4, walk=0.35, chains=25_000
    ),
    "reflected-simplex": Law(
        ReflectedSimplex, dirichlet(1, 2, 5), draw_dirichlet(1, 2, 5), step=0.08, num_steps=3, walk=0.25, chains=20_000
    ),
    "log-ratio": Law(
        LogRatioSimplex,
        dirichlet(0.3, 1, 5),
        draw_dirichlet(0.3, 1, 5),
        functionals=lambda p: jnp.concatenate([p, p**2, jnp.log(p)]),
        step=0.7,
        num_steps=4,
        walk=1.5,
        chains=21_000,
    ),
    "log-ratio-tiny": Law(
        lambda: LogRatioSimplex(carry_logs=True),
        dirichlet_of_logs,
        lambda rng, n: exact.log_dirichlet(rng, n, TINY),
        functionals=look_at_logs,
        step=200.0,
        num_steps=5,
        walk=800.0,
        chains=26_400,
    ),
}
