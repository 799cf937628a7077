"""A law on the sphere, exp(KAPPA x_0), and its geodesic leapfrogs by the textbook formulas."""

from __future__ import annotations

import jax
import numpy as np

KAPPA = 2.0


def tilted_sphere(p: jax.Array) -> jax.Array:
    return KAPPA * p[0]


def plain_orbit(x: np.ndarray, v: np.ndarray, h: float, count: int) -> tuple[np.ndarray, np.ndarray]:
    """The states after 1, 2, ..., `count` geodesic leapfrogs from many starts (n, 3), by (start, step, coordinate)."""
    force = lambda x: KAPPA * (np.eye(3)[0] - x * x[:, :1])
    xs, vs = [], []
    for _ in range(count):
        v = v + h / 2 * force(x)
        speed = np.linalg.norm(v, axis=1, keepdims=True)
        cos, sin = np.cos(speed * h), np.sin(speed * h)
        x, v = x * cos + v / speed * sin, v * cos - x * speed * sin
        v = v + h / 2 * force(x)
        xs.append(x)
        vs.append(v)
    return np.stack(xs, axis=1), np.stack(vs, axis=1)


def plain_energy(x: np.ndarray, v: np.ndarray) -> np.ndarray:
    return np.sum(v**2, axis=-1) / 2 - KAPPA * x[..., 0]
