"""Step sizes are changes of units: per leaf, per element, by a dense or a low-rank map.

The reference is always a change of variables made by hand, with the same keys: x = L y turns a run with the map
L into one with a plain number. Equal to 1e-9 in float64, so any misplaced factor is seen.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from orthodrome.dynamics.leapfrog import Point, leapfrog
from orthodrome.gradients.full import FullGradient
from orthodrome.linear import LinearStep, Stretched, Triangular, maps
from orthodrome.manifolds import Euclidean, Positive, Product, Sphere
from orthodrome.samplers.exact.geodesic_hmc import GeodesicHMC
from orthodrome.samplers.exact.geodesic_nuts import GeodesicNUTS
from orthodrome.samplers.exact.random_walk import RandomWalk
from orthodrome.targets import Target
from support.quick import slow

pytestmark = pytest.mark.usefixtures("x64")
H = 0.3


def bent(p: jax.Array) -> jax.Array:
    """A density without symmetry, so that nothing cancels."""
    return -jnp.sum(jnp.cosh(p - 0.3)) - 0.5 * p[0] ** 2 * p[1] ** 2


def bent_in_units(y: jax.Array, matrix: jax.Array) -> jax.Array:
    return bent(matrix @ y)


def dense() -> LinearStep:
    return LinearStep(jnp.asarray(H), Triangular(jnp.asarray([[1.0, 0.0, 0.0], [0.5, 0.8, 0.0], [-0.3, 0.2, 1.4]])))


def low_rank() -> LinearStep:
    directions = jnp.linalg.qr(jnp.asarray([[1.0, 0.2], [0.3, -1.0], [0.7, 0.4]]))[0]
    return LinearStep(jnp.asarray(H), Stretched(jnp.asarray([0.5, 1.0, 2.0]), directions, jnp.asarray([0.6, 1.7])))


MAPS = {"dense": dense, "low-rank": low_rank, "elements": lambda: H * jnp.asarray([0.5, 1.0, 2.0])}


def matrix_of(step: Any) -> jax.Array:
    """L without its size."""
    return maps.dense(step, jnp.zeros(3)) / H


SAMPLERS = {
    "GeodesicHMC": lambda target, h: GeodesicHMC(FullGradient(target), h, 4),
    "GeodesicNUTS": lambda target, h: GeodesicNUTS(FullGradient(target), h, max_depth=5),
    "RandomWalk": RandomWalk,
}


@pytest.mark.parametrize(
    ("name", "sampler"),
    [("dense", "GeodesicHMC"), ("low-rank", "GeodesicNUTS"), slow("elements", "GeodesicHMC")]
    + [slow("low-rank", sampler) for sampler in ("GeodesicHMC", "RandomWalk")],
)
def test_a_map_is_a_linear_change_of_variables(name: str, sampler: str) -> None:
    step = MAPS[name]()
    matrix = matrix_of(step)
    mapped = SAMPLERS[sampler](Target(Euclidean(), bent), step)
    plain = SAMPLERS[sampler](Target(Euclidean(), bent_in_units, matrix), H)
    y = jnp.asarray([0.2, -0.1, 0.4])
    ends = [walk_along(mapped, matrix @ y), walk_along(plain, y)]
    np.testing.assert_allclose(ends[0], ends[1] @ matrix.T, rtol=1e-9, atol=1e-9)
    assert np.ptp(np.asarray(ends[0]), axis=0).min() > 0.05, "the chain must move"


@jax.jit
def walk_along(sampler: Any, position: jax.Array) -> jax.Array:
    def step(state: Any, t: jax.Array) -> tuple[Any, jax.Array]:
        state, _ = sampler.step(jax.random.fold_in(jax.random.key(3), t), state)
        return state, state.position

    return jax.lax.scan(step, sampler.init(position), jnp.arange(20))[1]


# --- a step per leaf (erratum 002-15) --------------------------------------------------------------------------------


def independent(p: dict[str, Any]) -> jax.Array:
    return 3 * p["unit"][0] - 0.5 * jnp.sum((p["far"][0] / 1000) ** 2) - jnp.sum(p["wall"] ** 2) * 5e5


PARTS = {
    "unit": (Sphere(), lambda p: 3 * p[0], jnp.asarray(0.2)),
    "far": (Euclidean(), lambda p: -0.5 * jnp.sum((p / 1000) ** 2), jnp.asarray(300.0)),
    "wall": (Positive(), lambda p: -jnp.sum(p**2) * 5e5, jnp.asarray(3e-4)),
}


def test_each_leaf_flows_and_is_kicked_with_its_own_step() -> None:
    """Independent factors: the leapfrog of the product is each factor's own."""
    manifold = Product({"unit": Sphere(), "far": [Euclidean()], "wall": Positive()})
    h = {"unit": PARTS["unit"][2], "far": [PARTS["far"][2]], "wall": PARTS["wall"][2]}
    x = {"unit": jnp.asarray([0.6, 0.8, 0.0]), "far": [jnp.asarray([900.0, -300.0])], "wall": jnp.asarray([1e-4, 2e-3])}
    v = manifold.random_velocity(jax.random.key(0), x)
    whole = after_three(Target(manifold, independent), x, v, h)
    for name, (factor, density, step) in PARTS.items():
        leaf = lambda tree, name=name: tree[name][0] if name == "far" else tree[name]
        alone = after_three(Target(factor, density), leaf(x), leaf(v), step)
        np.testing.assert_allclose(leaf(whole.position), alone.position, rtol=1e-12)
        np.testing.assert_allclose(leaf(whole.velocity), alone.velocity, rtol=1e-12)


def after_three(target: Target, x: Any, v: Any, h: Any) -> Point:
    gradient = FullGradient(target)
    estimate, _ = gradient.estimate(None, x, None)
    point = Point(x, v, estimate.logdensity, estimate.gradient)
    for _ in range(3):
        point = leapfrog(gradient, point, h)
    return point


def test_one_leapfrog_of_a_gaussian_leaf_is_the_textbooks() -> None:
    """x' = x + h v - h^2 x / (2 s^2), v' = v - h (x + x') / (2 s^2), whatever the other leaf does."""
    target = Target(Product((Euclidean(), Euclidean())), lambda p: -0.5 * (p[0] ** 2 / 4 + p[1] ** 2 / 9e6))
    x, v, h, s = (1.0, 2000.0), (0.7, -0.4), (0.5, 700.0), (2.0, 3000.0)
    as_arrays = lambda pair: tuple(jnp.asarray(a) for a in pair)
    gradient = FullGradient(target)
    estimate, _ = gradient.estimate(None, as_arrays(x), None)
    point = leapfrog(gradient, Point(as_arrays(x), as_arrays(v), *estimate[:2]), as_arrays(h))
    for i in range(2):
        moved = x[i] + h[i] * v[i] - h[i] ** 2 * x[i] / (2 * s[i] ** 2)
        np.testing.assert_allclose(point.position[i], moved, rtol=1e-13)
        np.testing.assert_allclose(point.velocity[i], v[i] - h[i] * (x[i] + moved) / (2 * s[i] ** 2), rtol=1e-13)
