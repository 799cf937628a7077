"""The simplex mapped onto the sphere by x = sqrt(p) (Byrne & Girolami, example 2.4 with erratum 002-2, section 5.3).

    p_i = x_i^2,     dp_1 ... dp_{d-1} = 2^{d-1} |x_1 ... x_d| dS(x)   in each of the 2^d orthants.

All orthants are equivalent, so a trajectory may cross a wall into the next one: the mass is divided among the 2^d
orthants, which leaves

    log_measure(x) = sum_i log|x_i| - log 2.

A Dirichlet density with a concentration below 1/2 has poles on the sphere at x_i = 0: there use `LogRatioSimplex`.
"""

from __future__ import annotations

import math
from typing import Any

import jax.numpy as jnp
from jax import Array

from orthodrome.core.pytree import pytree
from orthodrome.manifolds.on_sphere import SPHERE, OnSphere
from orthodrome.manifolds.weights import Weights


@pytree
class Simplex(Weights, OnSphere):
    """Probability vectors p >= 0 along the last axis; densities with respect to dp_1 ... dp_{d-1}."""

    def random_point(self, key: Array, like: Any) -> Array:
        return SPHERE.random_point(key, like)

    def to_user(self, x: Array) -> Array:
        return x * x

    def from_user(self, p: Array) -> Array:
        return jnp.sqrt(p)

    def walls(self, x: Array) -> Array:
        return jnp.abs(x)

    def log_measure(self, x: Array) -> Array:
        copies = x.size // x.shape[-1]
        return jnp.sum(jnp.log(jnp.abs(x))) - copies * math.log(2)

    def log_volume_of_point(self, shape: tuple[int, ...]) -> float:
        return SPHERE.log_volume_of_point(shape)

    def least_concentration(self, adjusted: bool) -> float:
        return 0.5 if adjusted else 1.0
