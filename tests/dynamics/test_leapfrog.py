"""The geodesic leapfrog leads back on every manifold, and the compiler adds up what it sums."""

from __future__ import annotations

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from orthodrome.core import trees
from orthodrome.dynamics.leapfrog import Point, energy, leapfrog
from orthodrome.gradients.full import FullGradient
from support.quick import quick
from support.registry import TARGETS, Law


def start(law: Law, dtype: str, count: int = 5) -> Any:
    """Exact draws, embedded."""
    draws = jax.tree.map(lambda a: jnp.asarray(a, dtype), law.exact_draws(count, 3))
    return jax.vmap(law.manifold().from_user)(draws)


@pytest.mark.parametrize("name", quick(TARGETS, "ball", "stiefel", "level-torus", "product"))
def test_the_way_back(name: str) -> None:
    """Turn the velocity round after a trajectory: it ends where it began, to rounding; the energy is kept to
    O(h^2).
    """
    with jax.enable_x64(True):
        law = TARGETS[name]
        gradient = FullGradient(law.target())
        x = start(law, "float64", 20)
        ends = jax.jit(partial(there_and_back, gradient, law.step, law.num_steps))(x)
        back, velocity, turned, moved, drift = jax.tree.map(np.asarray, ends)
        fine = np.isfinite(drift)
        assert fine.mean() >= (0.7 if name == "level-torus" else 1.0)
        scale = max(float(np.max(np.abs(leaf))) for leaf in jax.tree.leaves(x))
        close = partial(np.testing.assert_allclose, rtol=0, atol=1e-8 * scale)
        jax.tree.map(lambda a, b: close(a[fine], np.asarray(b)[fine]), back, x)
        jax.tree.map(lambda a, b: np.testing.assert_allclose(a[fine], -b[fine], rtol=0, atol=1e-7), turned, velocity)
        assert np.median(moved[fine]) > 0.1 * law.step


def there_and_back(gradient: Any, h: float, num_steps: int, x: Any) -> Any:
    """Position, first velocity and last, distance travelled and change of energy, chain by chain."""

    def one(chain: jax.Array, x: Any) -> Any:
        v = gradient.manifold.random_velocity(jax.random.fold_in(jax.random.key(2), chain), x)
        estimate, _ = gradient.estimate(None, x, None)
        first = Point(x, v, estimate.logdensity, estimate.gradient)
        steps = jax.tree.map(lambda leaf: jnp.asarray(h, leaf.dtype), x)

        def advance(point: Point, i: jax.Array) -> tuple[Point, Point]:
            turned = point._replace(velocity=trees.negate(point.velocity))
            point = leapfrog(gradient, trees.where(i == num_steps, turned, point), steps)
            return point, point

        home, way = jax.lax.scan(advance, first, jnp.arange(2 * num_steps))
        far = jax.tree.map(lambda leaf: leaf[num_steps - 1], way)
        apart = trees.subtract(far.position, x)
        return home.position, v, home.velocity, jnp.sqrt(trees.dot(apart, apart)), energy(far) - energy(first)

    return jax.vmap(one)(jnp.arange(20), x)


@pytest.mark.parametrize("name", ["simplex", "product"])
def test_the_compiler_adds_up(name: str) -> None:
    """Many log densities at once are those of a few at a time.

    jaxlib 0.10.2 on CPUs gets fused sums over more than 32,768 numbers wrong without a word (jax issue 39103);
    cured by another version, or by XLA_FLAGS=--xla_cpu_experimental_ynn_fusion_type= before the first operation.
    """
    law = TARGETS[name]
    x = start(law, "float32", 40_000)
    density = jax.jit(jax.vmap(law.target().embedded_logdensity))
    few = [density(jax.tree.map(lambda a, i=i: a[i : i + 4000], x)) for i in range(0, 40_000, 4000)]
    np.testing.assert_allclose(density(x), np.concatenate(few), rtol=1e-4, atol=1e-4)
