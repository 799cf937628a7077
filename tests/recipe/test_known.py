"""`recipe_of`: every sampler that has a recipe is its recipe, also with steps that differ between coordinates; the
geodesic dynamics in coordinates are those of the paper and keep the law."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from orthodrome.checks import check_recipe
from orthodrome.checks.recipe import sde_of
from orthodrome.errors import BadInput, Unsupported
from orthodrome.gradients import FullGradient, NoisyGradient
from orthodrome.linear import Dense
from orthodrome.manifolds import Euclidean, Sphere
from orthodrome.metrics import InverseMetric, PotentialMetric
from orthodrome.recipe import Recipe, recipe_of
from orthodrome.recipe.motion import Motion
from orthodrome.samplers import GSGNHT, SGGMC, SGHMC, SGLD, SGNHT, SGRHMC, SGRLD, GeodesicHMC
from orthodrome.targets import Target
from support import recipes
from support.quick import quick
from support.recipes import N

STEPS = np.array([0.03, 0.012])
UNEVEN = np.array([1.2, 0.8])
MATRIX = np.array([[1.1, 0.4], [0.4, 0.9]])
EXACT = FullGradient(Target(Euclidean(), recipes.logdensity))


def squared_root(x: jax.Array) -> jax.Array:
    return recipes.root(x) ** 2


def full_metric(x: jax.Array) -> Dense:
    return Dense(jnp.diag(squared_root(x)) + 0.2 * jnp.outer(jnp.cos(x), jnp.cos(x)))


SAMPLERS = {
    "SGLD": lambda g: SGLD(g, STEPS, UNEVEN),
    "SGRLD": lambda g: SGRLD(g, InverseMetric(squared_root), 0.02),
    "SGHMC": lambda g: SGHMC(g, STEPS, UNEVEN, 1 / UNEVEN),
    "SGRHMC": lambda g: SGRHMC(g, InverseMetric(squared_root), 0.02),
    "SGNHT": lambda g: SGNHT(g, STEPS, UNEVEN, 0.7),
    "SGNHT, many": lambda g: SGNHT(g, STEPS, UNEVEN, 0.7, per_coordinate=True),
}
KEYS = {"SGRLD": 3, "SGHMC": 3, "SGRHMC": 4}
"""How many keys a sampler splits; the first is the gradient's, the second the noise's."""


@pytest.mark.usefixtures("x64")
@pytest.mark.parametrize("name", quick(SAMPLERS, "SGRLD"))
def test_a_step_is_a_step_of_the_recipe(name: str) -> None:
    """With the same normals, to rounding: H, D, Q and the factors of uneven steps are all in it."""
    sampler = SAMPLERS[name](NoisyGradient(EXACT, jnp.asarray([2.0, 0.5])))
    recipe, key = recipe_of(sampler), jax.random.key(3)
    state = sampler.init(jnp.asarray([0.4, -0.7]), jax.random.key(1))
    new, _ = jax.jit(sampler.step)(jax.random.clone(key), state)
    twin, _ = jax.jit(lambda key, state: moved(recipe, KEYS.get(name, 2), key, state))(key, state)
    for mine, own in zip(recipe.join(twin) if twin.auxiliary else [twin.position], new, strict=False):
        np.testing.assert_allclose(mine, own, rtol=1e-9, atol=1e-12)


def moved(recipe: Recipe, keys: int, key: Any, state: Any) -> Any:
    gradient_key, noise_key, *_ = jax.random.split(key, keys)
    twin = recipe.init(state.position, jax.random.key(1))
    size = sum(leaf.size for leaf in jax.tree.leaves(recipe.join(twin)))
    first = 0 if recipe.auxiliary is None else N
    normal = jax.random.normal(noise_key, (N,), state.position.dtype)
    normals = jnp.zeros((1, size), normal.dtype).at[0, first : first + N].set(normal)
    return recipe.move(twin, Motion(recipe, gradient_key, jax.random.key(0), twin.memory), normals)


RNG = np.random.default_rng(0)
X, R, XI = RNG.normal(size=(20, N)), RNG.normal(size=(20, N)), RNG.normal(size=20) + 1


MATRICES = {
    "SGHMC": (SGHMC(EXACT, STEPS, Dense(MATRIX), UNEVEN), (X, R)),
    "SGRHMC": (SGRHMC(EXACT, InverseMetric(full_metric), 0.02), (X, R)),
    "SGNHT": (SGNHT(EXACT, STEPS, UNEVEN, 0.7), (X, R, XI)),
    "SGRLD, potential": (SGRLD(EXACT, PotentialMetric(), 0.02), X),
}


@pytest.mark.parametrize("name", quick(MATRICES, "SGHMC"))
def test_known_recipes_are_recipes(name: str) -> None:
    """With matrices that are not diagonal, and metrics from the potential."""
    sampler, points = MATRICES[name]
    report = check_recipe(recipe_of(sampler), points)
    assert report.ok, report
    assert report.sde is not None and report.sde.residual < 1e-11


# --- geodesic dynamics in coordinates ---------------------------------------------------------------------------------


def angles(q: jax.Array) -> jax.Array:
    return jnp.stack([jnp.sin(q[0]) * jnp.cos(q[1]), jnp.sin(q[0]) * jnp.sin(q[1]), jnp.cos(q[0])])


def on_sphere(x: jax.Array) -> jax.Array:
    return 2 * x[0] - x[2] + x[0] * x[1]


SPHERE = FullGradient(Target(Sphere(), on_sphere))
Q = np.stack([RNG.uniform(0.5, 2.5, 20), RNG.uniform(0, 6, 20)], axis=1)
C = np.diag([1.5, 0.7, 1.0]) + 0.2


def by_hand(z: Any, friction: Any) -> Any:
    """The drift of Eq. (5), term by term, with -xi p for the friction if there is a thermostat (Eq. 6)."""
    q, p, *rest = z
    jacobian = lambda q: jax.jacfwd(angles)(q)
    metric = lambda q: jacobian(q).T @ jacobian(q)
    inverse = jnp.linalg.inv(metric(q))
    potential = lambda q: -on_sphere(angles(q)) - 0.5 * jnp.log(jnp.linalg.det(metric(q)))  # U = -log pi(q)
    bend = jax.grad(lambda q: 0.5 * p @ jnp.linalg.inv(metric(q)) @ p)(q)
    volume = jax.grad(lambda q: 0.5 * jnp.log(jnp.linalg.det(metric(q))))(q)
    drag = rest[0] * p if rest else jacobian(q).T @ friction @ jacobian(q) @ inverse @ p
    change = inverse @ p, -jax.grad(potential)(q) - volume - drag - bend
    return (*change, p @ inverse @ p / 2 - 1) if rest else change


def in_coordinates(thermostat: bool) -> tuple[Recipe, Any]:
    """The geodesic dynamics on the sphere as a recipe in angles, and points (q, p) or (q, p, xi)."""
    sampler = GSGNHT(SPHERE, 0.1, 1.3) if thermostat else SGGMC(SPHERE, 0.1, Dense(jnp.asarray(C)))
    return recipe_of(sampler, angles), (Q, R, XI) if thermostat else (Q, R)


@pytest.mark.usefixtures("x64")
@pytest.mark.parametrize("thermostat", quick([False, True], True), ids=["Eq. (5)", "Eq. (6)"])
def test_the_drift_of_the_geodesic_dynamics_in_coordinates(thermostat: bool) -> None:
    recipe, points = in_coordinates(thermostat)
    one = jax.tree.map(lambda leaf: jnp.asarray(leaf[0]), points)
    drift, _, _ = sde_of(recipe)
    found, wanted = jax.jit(drift)(one), jax.jit(by_hand)(one, jnp.asarray(C))
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-9), found, wanted)


@pytest.mark.slow
@pytest.mark.parametrize("thermostat", [False, True], ids=["Eq. (5)", "Eq. (6)"])
def test_the_geodesic_dynamics_are_recipes(thermostat: bool) -> None:
    with jax.enable_x64(True):
        recipe, points = in_coordinates(thermostat)
    report = check_recipe(recipe, points)
    assert report.ok, report


def test_momenta_of_a_chart_have_the_covariance_of_the_metric() -> None:
    recipe = recipe_of(SGGMC(SPHERE, 0.1, 1.0), angles)
    q = jnp.asarray([0.6, 1.0])
    assert recipe.auxiliary is not None
    p = jax.vmap(lambda key: recipe.auxiliary(key, q)[0])(jax.random.split(jax.random.key(0), 4_000))  # type: ignore[misc]
    np.testing.assert_allclose(np.cov(p.T), np.diag([1.0, np.sin(0.6) ** 2]), atol=0.08)


def test_what_has_no_recipe_is_refused() -> None:
    with pytest.raises(Unsupported, match="GeodesicHMC has no recipe"):
        recipe_of(GeodesicHMC(EXACT, 0.1, 2))
    with pytest.raises(Unsupported, match="in coordinates, recipe_of"):
        recipe_of(SGGMC(SPHERE, 0.1, 1.0))
    with pytest.raises(BadInput, match=r"step_size is .* one number"):
        recipe_of(SGGMC(SPHERE, STEPS, 1.0), angles)
