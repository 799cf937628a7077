"""Long runs in float32: rounding errors must not add up (the promise: 1,000,000 steps).

Off the manifold and off the tangent space by at most 1e-5, speed off by at most 1e-4, at 20 moments of a run at unit
speed. The control applies the textbook formula without corrections; it fails in the short run.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import Array

from orthodrome.manifolds import Manifold, Rotation, Sphere, Stiefel
from support.quick import quick

SPACES = {
    "sphere-1000": (Sphere(), (1000, 1)),
    "stiefel-100-5": (Stiefel(), (100, 5)),
    "rotation-3": (Rotation(), (3, 3)),
}
MOMENTS = 20


class TextbookSphere(Sphere):
    """The great circle as the paper prints it."""

    def geodesic(self, x: Array, v: Array, t: Array) -> tuple[Array, Array]:
        speed = jnp.linalg.norm(v, axis=-1, keepdims=True)
        cos, sin = jnp.cos(speed * t), jnp.sin(speed * t)
        return x * cos + v / speed * sin, v * cos - x * speed * sin


def start(manifold: Manifold, shape: tuple[int, ...]) -> tuple[Array, Array]:
    place, push = jax.random.split(jax.random.key(3))
    x = manifold.random_point(place, jax.ShapeDtypeStruct(shape, "float32"))
    v = manifold.random_velocity(push, x)
    return x, v / jnp.linalg.norm(v)


def worst(manifold: Manifold, shape: tuple[int, ...], step: float, num_steps: int) -> tuple[float, float, float]:
    """The largest distances from the manifold, the tangent space and unit speed, judged in float64."""
    columns = shape[-1] > 1
    pair = start(manifold, shape if columns else shape[:-1])

    def chunk(carry: tuple[Array, Array], _: None) -> tuple[tuple[Array, Array], tuple[Array, Array]]:
        moved = jax.lax.fori_loop(0, num_steps // MOMENTS, lambda i, c: manifold.geodesic(*c, jnp.float32(step)), carry)
        return moved, moved

    xs, vs = (
        np.asarray(a, np.float64) for a in jax.jit(lambda c: jax.lax.scan(chunk, c, None, length=MOMENTS)[1])(pair)
    )
    xs, vs = (a if columns else a[..., None] for a in (xs, vs))
    gram, cross = np.swapaxes(xs, 1, 2) @ xs, np.swapaxes(xs, 1, 2) @ vs
    lean = np.abs(cross + np.swapaxes(cross, 1, 2)).max() / 2
    return np.abs(gram - np.eye(shape[-1])).max(), lean, np.abs(np.linalg.norm(vs, axis=(1, 2)) - 1).max()


def speed_allowed(num_steps: int) -> float:
    """1e-4 in a million steps; the change at the first step is allowed at once."""
    return 2e-6 + 1e-4 * num_steps / 1_000_000


@pytest.mark.parametrize("num_steps", [20_000, pytest.param(1_000_000, marks=pytest.mark.slow)])
@pytest.mark.parametrize("step", quick([0.01, 1.0], 1.0))
@pytest.mark.parametrize("name", SPACES)
def test_rounding_does_not_add_up(name: str, step: float, num_steps: int) -> None:
    off, lean, speed = worst(*SPACES[name], step, num_steps)
    print(f"{name}, step {step}: off {off:.1e}, lean {lean:.1e}, speed {speed:.1e}")
    assert off <= 1e-5
    assert lean <= 1e-5
    assert speed <= speed_allowed(num_steps)


def test_the_textbook_formula_drifts() -> None:
    off, lean, speed = worst(TextbookSphere(), (3, 1), 0.01, 20_000)
    assert off > 1e-5
    assert lean > 1e-5
    assert speed > speed_allowed(20_000)
