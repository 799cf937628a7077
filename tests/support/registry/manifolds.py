"""Every manifold of the property tests: name -> (constructor, shape of a parameter in the user's coordinates).

A constructor is called inside the test, so that its arrays have the test's precision.
"""

from __future__ import annotations

from collections.abc import Callable

import jax.numpy as jnp
from jax import Array

from orthodrome.manifolds import (
    Affine,
    Ball,
    Box,
    Euclidean,
    LevelSet,
    LogPositive,
    LogRatioSimplex,
    Manifold,
    Positive,
    ReflectedSimplex,
    Rotation,
    Simplex,
    Sphere,
    Stiefel,
)

TWO_EQUATIONS = ((1.0, 2.0, 0.0, -1.0), (0.0, 1.0, 1.0, 3.0))


def torus(x: Array, radii: tuple[float, float] = (1.0, 0.4)) -> Array:
    """Zero on the torus around the third axis."""
    return (jnp.sqrt(x[0] ** 2 + x[1] ** 2) - radii[0]) ** 2 + x[2] ** 2 - radii[1] ** 2


def tilted_circle(x: Array, height: Array) -> Array:
    """A circle in three dimensions, as two equations: vector values, and data."""
    return jnp.stack([jnp.sum(x * x) - 1, x[0] + x[2] - height])


def orthonormal_pair(x: Array) -> Array:
    """Stiefel(3, 2) as three equations in a matrix."""
    gram = x.T @ x
    return jnp.stack([gram[0, 0] - 1, gram[1, 1] - 1, gram[0, 1]])


MANIFOLDS: dict[str, tuple[Callable[[], Manifold], tuple[int, ...]]] = {
    "euclidean": (Euclidean, (2, 3)),
    "euclidean-scalar": (Euclidean, ()),
    "affine": (lambda: Affine(TWO_EQUATIONS, (1.0, -2.0)), (4,)),
    "affine-copies": (lambda: Affine(((1.0, 1.0), (2.0, 2.0)), (1.0, 2.0)), (2, 3, 2)),
    "positive": (Positive, (4,)),
    "ball": (Ball, (3,)),
    "ball-one": (lambda: Ball(radius=0.5, center=2.0), (1,)),
    "ball-copies": (lambda: Ball(radius=2.0, center=jnp.asarray([1.0, -1.0])), (2, 3, 2)),
    "ball-norm-1": (lambda: Ball(radius=1.5, norm=1.0), (2, 2)),
    "ball-norm-4": (lambda: Ball(norm=4.0), (2,)),
    "box": (lambda: Box(jnp.asarray([0.0, -1.0, 2.0]), jnp.asarray([1.0, 1.0, 5.0])), (2, 3)),
    "box-scalar": (lambda: Box(-1.0, 3.0), ()),
    "sphere": (Sphere, (3,)),
    "sphere-circle": (Sphere, (2,)),
    "sphere-copies": (Sphere, (2, 2, 5)),
    "simplex": (Simplex, (4,)),
    "simplex-two": (Simplex, (3, 2)),
    "reflected-simplex": (ReflectedSimplex, (4,)),
    "reflected-simplex-two": (ReflectedSimplex, (2, 3, 2)),
    "log-ratio": (LogRatioSimplex, (4,)),
    "log-ratio-logs": (lambda: LogRatioSimplex(carry_logs=True), (2, 3, 2)),
    "log-positive": (LogPositive, (3,)),
    "log-positive-logs": (lambda: LogPositive(carry_logs=True), (2, 2)),
    "stiefel": (Stiefel, (5, 2)),
    "stiefel-one-column": (Stiefel, (2, 4, 1)),
    "stiefel-copies": (Stiefel, (2, 2, 4, 3)),
    "stiefel-wide": (Stiefel, (7, 4)),
    "stiefel-square": (Stiefel, (3, 3)),
    "stiefel-two": (Stiefel, (2, 2)),
    "rotation-2": (Rotation, (3, 2, 2)),
    "rotation-3": (Rotation, (3, 3)),
    "rotation-3-copies": (Rotation, (2, 2, 3, 3)),
    "rotation-5": (Rotation, (5, 5)),
    "orthogonal-3": (lambda: Rotation(special=False), (2, 3, 3)),
    "level-torus": (lambda: LevelSet(torus), (2, 3)),
    "level-circle": (lambda: LevelSet(tilted_circle, data=jnp.asarray(0.3)), (3,)),
    "level-frames": (lambda: LevelSet(orthonormal_pair, point_ndim=2), (2, 3, 2)),
}
