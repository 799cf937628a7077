"""Uniform distributions on spheres, frames, rotations, the simplex and the ball, normalised by their volumes.

The surface measure of the frames is that of the embedding in the n x p matrices: 2^(p(p-1)/4) times the product of
the areas of the spheres that the columns run over one after the other. The power of 2 is there because a rotation of
two columns into one another moves both, so it is longer by a factor sqrt(2).
"""

from __future__ import annotations

import math
from typing import Any

import jax
import jax.numpy as jnp
from jax import Array

from orthodrome import random, special
from orthodrome.core.pytree import pytree, static
from orthodrome.densities.density import Density
from orthodrome.densities.dirichlet import Dirichlet


def _constant(value: Any, x: Array, point_ndim: int) -> Array:
    return jnp.full(x.shape[: x.ndim - point_ndim], value, x.dtype)


@pytree
class UniformSphere(Density):
    """The uniform distribution of unit vectors in R^dimension; density with respect to the surface measure.

    dimension: of the space around the sphere
    dtype: of the draws
    """

    dimension: int = static()
    dtype: Any = static(default=float)

    def logdensity(self, x: Array) -> Array:
        return _constant(-special.log_sphere_area(self.dimension, x.dtype), x, 1)

    def sample(self, key: Array, shape: tuple[int, ...] = ()) -> Array:
        z = jax.random.normal(key, (*shape, self.dimension), self.dtype)
        return z / jnp.sqrt(jnp.sum(z**2, axis=-1, keepdims=True))


@pytree
class UniformStiefel(Density):
    """The uniform (Haar) distribution of n x p matrices with orthonormal columns.

    Density with respect to the surface measure.

    n, p: the numbers of rows and of columns
    dtype: of the draws
    """

    n: int = static()
    p: int = static()
    dtype: Any = static(default=float)

    def logdensity(self, x: Array) -> Array:
        areas = [special.log_sphere_area(k, x.dtype) for k in range(self.n - self.p + 1, self.n + 1)]
        return _constant(-sum(areas) - self.p * (self.p - 1) / 4 * math.log(2), x, 2)

    def sample(self, key: Array, shape: tuple[int, ...] = ()) -> Array:
        return random.frame(key, (*shape, self.n, self.p), self.dtype)


@pytree
class UniformRotation(Density):
    """The uniform (Haar) distribution of n x n rotations (determinant 1); density with respect to the surface measure.

    n: the number of rows and columns
    dtype: of the draws
    """

    n: int = static()
    dtype: Any = static(default=float)

    def logdensity(self, x: Array) -> Array:
        return UniformStiefel(self.n, self.n).logdensity(x) + math.log(2)

    def sample(self, key: Array, shape: tuple[int, ...] = ()) -> Array:
        q = random.frame(key, (*shape, self.n, self.n), self.dtype)
        return q.at[..., 0].multiply(random.orientation(q)[..., None])


@pytree
class UniformSimplex(Density):
    """The uniform distribution of probability vectors.

    Density with respect to Lebesgue measure in all coordinates but one.

    dimension: the number of weights
    dtype: of the draws
    """

    dimension: int = static()
    dtype: Any = static(default=float)

    def logdensity(self, p: Array) -> Array:
        return _constant(math.lgamma(self.dimension), p, 1)

    def sample(self, key: Array, shape: tuple[int, ...] = ()) -> Array:
        return Dirichlet(jnp.ones((self.dimension,), self.dtype)).sample(key, shape)


@pytree
class UniformBall(Density):
    """The uniform distribution in a ball about the origin; density with respect to Lebesgue measure, -inf outside.

    dimension: of the space
    radius: of the ball
    dtype: of the draws
    """

    dimension: int = static()
    radius: Any = 1.0
    dtype: Any = static(default=float)

    def logdensity(self, x: Array) -> Array:
        log_volume = special.log_sphere_area(self.dimension, x.dtype) - math.log(self.dimension)
        radius = jnp.asarray(self.radius, x.dtype)
        inside = jnp.sum(x**2, axis=-1) <= radius**2
        return jnp.where(inside, -log_volume - self.dimension * jnp.log(radius), -jnp.inf)

    def sample(self, key: Array, shape: tuple[int, ...] = ()) -> Array:
        direction, length = jax.random.split(key)
        u = random.positive_uniform(length, (*shape, 1), self.dtype)
        radius = jnp.asarray(self.radius, self.dtype)
        return UniformSphere(self.dimension, self.dtype).sample(direction, shape) * radius * u ** (1 / self.dimension)
