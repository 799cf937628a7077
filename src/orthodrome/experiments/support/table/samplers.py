"""The samplers of Table 1 of Liu, Zhu & Song (2016), each on the space it is made for, and a small model for them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import Array

from orthodrome.dynamics.generalised_leapfrog import System
from orthodrome.manifolds import Euclidean, LevelSet, Manifold, Sphere
from orthodrome.metrics import InverseMetric, LocalMetric
from orthodrome.samplers import (
    GSGNHT,
    SGGMC,
    SGHMC,
    SGLD,
    SGNHT,
    SGRHMC,
    SGRLD,
    GeodesicHMC,
    RiemannianHMC,
    RiemannianLangevin,
)
from orthodrome.targets import Posterior


def logprior(x: Array) -> Array:
    """Return the log prior, which is constant."""
    return -0.5 * jnp.sum(x**2)


def loglikelihood(x: Array, row: Array) -> Array:
    """Return the log likelihood: Gaussian, or von Mises-Fisher where x is a unit vector."""
    return jnp.sum(x * row)


def circle_equation(x: Array) -> Array:
    """Return a number that is zero on the unit circle."""
    return jnp.sum(x**2) - 1


def posterior(manifold: Manifold) -> Posterior:
    """Return a posterior of eight rows on a space of two coordinates."""
    return Posterior(manifold, logprior, loglikelihood, jnp.asarray(np.eye(2)[[0, 1] * 4], jnp.float32))


def bent(x: Array) -> Array:
    """Return the metric G = 1 + x^2, element by element."""
    return 1 + x**2


def unbent(x: Array) -> Array:
    """Return the inverse metric G^-1."""
    return 1 / (1 + x**2)


SAMPLERS: dict[str, tuple[Callable[[Any], Any], Manifold]] = {
    "GMC": (lambda g: GeodesicHMC(g, 0.1, 2), Sphere()),
    "RMLD": (lambda g: RiemannianLangevin(g, LocalMetric(bent), 0.1, adjusted=False), Euclidean()),
    "RMHMC": (lambda g: RiemannianHMC(g, LocalMetric(bent), 0.1), Euclidean()),
    "CHMC": (lambda g: GeodesicHMC(g, 0.1, 2), LevelSet(circle_equation)),
    "SGLD": (lambda g: SGLD(g, 0.1), Euclidean()),
    "SGHMC": (lambda g: SGHMC(g, 0.1), Euclidean()),
    "SGNHT": (lambda g: SGNHT(g, 0.1), Euclidean()),
    "SGRLD": (lambda g: SGRLD(g, InverseMetric(unbent), 0.1), Euclidean()),
    "SGRHMC": (lambda g: SGRHMC(g, InverseMetric(unbent), 0.1), Euclidean()),
    "SGGMC": (lambda g: SGGMC(g, 0.1, 1.0), Sphere()),
    "gSGNHT": (lambda g: GSGNHT(g, 0.1, 1.0), Sphere()),
}


def system(sampler: RiemannianHMC) -> System:
    """Return the dynamics of RMHMC."""
    return System(sampler.gradient, sampler.metric, jnp.asarray(1e-6), lambda x: x, sampler.max_iterations)


def point(manifold: Manifold) -> Array:
    """Return a point of a space."""
    return jnp.asarray([0.6, 0.8])
