"""Laws on frames, rotations, a level set, and a product of four manifolds."""

from __future__ import annotations

from dataclasses import replace

import jax.numpy as jnp
import numpy as np
from jax import Array

from orthodrome.manifolds import Euclidean, LevelSet, LogRatioSimplex, Positive, Product, Rotation, Sphere, Stiefel
from support import exact_draws as exact
from support.registry.law import Law
from support.registry.manifolds import torus
from support.registry.simplex_laws import dirichlet

FRAME = np.array([[2.0, 0.0], [0.0, 1.0], [0.5, 0.0], [0.0, 0.0]])
TURN = np.array([[1.5, 0.0, 0.3], [0.0, 1.0, 0.0], [0.0, -0.5, 0.5]])


def matrix_vmf(p: Array) -> Array:
    return jnp.sum(jnp.asarray(FRAME, p.dtype) * p)


def rotation_law(p: Array) -> Array:
    return jnp.sum(jnp.asarray(TURN, p.dtype) * p)


def tilted(p: Array) -> Array:
    return 1.5 * p[0]


def look_at_torus(p: Array) -> Array:
    ring = jnp.sqrt(p[0] ** 2 + p[1] ** 2)
    return jnp.stack([p[0], p[0] ** 2, p[1], p[1] ** 2, p[2], p[2] ** 2, ring])


def four_leaves(p: dict[str, Array]) -> Array:
    """direction ~ vMF(3), scale ~ Gamma(3), weights ~ Dirichlet(2, 3, 4), location ~ N(direction, (0.5 + scale)^2)."""
    width = 0.5 + p["scale"]
    location = -0.5 * jnp.sum(((p["location"] - p["direction"]) / width) ** 2) - 3 * jnp.log(width)
    return 3 * p["direction"][0] + 2 * jnp.log(p["scale"]) - p["scale"] + dirichlet(2, 3, 4)(p["weights"]) + location


def draw_four_leaves(rng: np.random.Generator, n: int) -> dict[str, np.ndarray]:
    direction, scale = exact.von_mises_fisher(rng, n, 3, 3.0), rng.gamma(3.0, size=n)
    weights = np.exp(exact.log_dirichlet(rng, n, np.array([2.0, 3.0, 4.0])))
    location = direction + (0.5 + scale)[:, None] * rng.normal(size=(n, 3))
    return {"direction": direction, "scale": scale, "weights": weights, "location": location}


def look_at_leaves(p: dict[str, Array]) -> Array:
    z = (p["location"] - p["direction"]) / (0.5 + p["scale"])
    parts = (p["direction"], p["scale"][None], p["scale"][None] ** 2, p["weights"], z, z**2)
    return jnp.concatenate(parts)


def product() -> Product:
    return Product({"direction": Sphere(), "scale": Positive(), "weights": LogRatioSimplex(), "location": Euclidean()})


FRAMES: dict[str, Law] = {
    "stiefel": Law(
        Stiefel,
        matrix_vmf,
        lambda rng, n: exact.matrix_von_mises_fisher(rng, n, FRAME, lambda r, m: exact.uniform_pairs(r, m, 4)),
        step=0.45,
        num_steps=3,
        walk=0.6,
    ),
    "rotation": Law(
        Rotation,
        rotation_law,
        lambda rng, n: exact.matrix_von_mises_fisher(rng, n, TURN, exact.uniform_rotations),
        step=0.6,
        num_steps=3,
        walk=1.0,
    ),
    "level-torus": Law(
        lambda: LevelSet(torus),
        tilted,
        lambda rng, n: exact.torus(rng, n, 1.5),
        functionals=look_at_torus,
        step=0.2,
        num_steps=4,
        walk=0.35,
        chains=16_000,
    ),
    "product": Law(
        product,
        four_leaves,
        draw_four_leaves,
        functionals=look_at_leaves,
        step=0.4,
        num_steps=6,
        walk=0.35,
        chains=30_000,
    ),
}
FRAMES["square-frames"] = replace(FRAMES["rotation"], manifold=Stiefel)
"""Rotations are the square frames of one orientation, which continuous motion keeps."""
