"""One thermostat per coordinate: the recipe in coordinates, the law on a sphere, and noise that differs between
coordinates."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from orthodrome.checks import check_recipe
from orthodrome.gradients import FullGradient, NoisyGradient
from orthodrome.manifolds import Euclidean, Sphere
from orthodrome.recipe import recipe_of
from orthodrome.samplers import GSGNHT
from orthodrome.targets import Target
from support.quick import long_run

KAPPA, FRICTION, COUNT = 3.0, 1.5, 4_000


def fisher(x: jax.Array) -> jax.Array:
    return KAPPA * x[0]


def angles(q: jax.Array) -> jax.Array:
    return jnp.stack([jnp.sin(q[0]) * jnp.cos(q[1]), jnp.sin(q[0]) * jnp.sin(q[1]), jnp.cos(q[0])])


ON_SPHERE = GSGNHT(FullGradient(Target(Sphere(), fisher)), 0.15, FRICTION, thermostat_mass=2.0, per_coordinate=True)


@pytest.mark.slow
def test_the_dynamics_is_a_recipe() -> None:
    rng = np.random.default_rng(0)
    q = np.stack([rng.uniform(0.5, 2.5, 12), rng.uniform(0, 6, 12)], axis=1)
    points = q, rng.normal(size=(12, 2)), FRICTION + rng.normal(size=(12, 3))
    report = check_recipe(recipe_of(ON_SPHERE, angles), points)
    assert report.ok, report


@long_run
def end(sampler: Any, starts: Any, count: Any) -> Any:
    """Every chain's state after some steps."""

    def chain(i: Any, x: Any) -> Any:
        first, rest = jax.random.split(jax.random.fold_in(jax.random.key(0), i))
        move = lambda t, state: sampler.step(jax.random.fold_in(rest, t), state)[0]
        return jax.lax.fori_loop(0, count, move, sampler.init(x, first))

    return jax.vmap(chain)(jnp.arange(len(starts)), starts)


def test_a_sphere_with_a_thermostat_per_coordinate() -> None:
    """E x_0 = coth(kappa) - 1 / kappa, E v.v = 2, and each xi_i is N(C, 1 / mass); within 5 errors of 4,000 chains."""
    start = jnp.tile(jnp.asarray([1.0, 0.0, 0.0]), (COUNT, 1))
    found = end(ON_SPHERE, start, 400)
    assert abs(np.mean(found.position[:, 0]) - (1 / np.tanh(KAPPA) - 1 / KAPPA)) < 5 * 0.3 / np.sqrt(COUNT)
    assert np.mean(np.sum(found.velocity**2, axis=1)) == pytest.approx(2, abs=5 * 2 / np.sqrt(COUNT) + 0.01)
    np.testing.assert_allclose(found.thermostat.mean(axis=0), FRICTION, atol=5 * np.sqrt(0.5 / COUNT) + 0.01)
    np.testing.assert_allclose(found.thermostat.var(axis=0), 0.5, atol=0.08)
    np.testing.assert_allclose(np.sum(found.position * found.velocity, axis=1), 0, atol=1e-4)


@pytest.mark.parametrize("each", [True, False])
def test_noise_that_differs_between_coordinates(each: bool) -> None:
    """With V = (20, 0), not told, thermostats of their own settle at C + h V / 2 and keep both variances at 1; one
    thermostat for both leaves the first too hot."""
    law = FullGradient(Target(Euclidean(), lambda x: -0.5 * jnp.sum(x**2)))
    noisy = NoisyGradient(law, jnp.asarray([20.0, 0.0]), told=False)
    sampler = GSGNHT(noisy, 0.1, FRICTION, thermostat_mass=4.0, per_coordinate=each)
    found = end(sampler, jax.random.normal(jax.random.key(3), (COUNT, 2)), 300)
    first, second = found.position.var(axis=0)
    if each:
        np.testing.assert_allclose(found.thermostat.mean(axis=0), [FRICTION + 1, FRICTION], atol=0.06)
        np.testing.assert_allclose([first, second], 1, atol=0.12)
    else:
        assert first > 1.12 and second < 0.95
