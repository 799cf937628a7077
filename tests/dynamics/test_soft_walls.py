"""Soft walls: the integrator feels a tamed force beside a wall, and nothing else changes.

That the samplers stay exact is `test_stay_in_truth` on every space with walls; here are the force itself, the two
properties that exactness rests on, and what it is good for, with the hard wall as the control.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from orthodrome.core.pytree import pytree
from orthodrome.dynamics.leapfrog import Point, leapfrog
from orthodrome.dynamics.soft_walls import raised, softened
from orthodrome.gradients.full import FullGradient
from orthodrome.manifolds import Ball, Box, Manifold, Positive, Product, ReflectedSimplex, Simplex, Sphere
from orthodrome.samplers.exact.geodesic_hmc import GeodesicHMC
from orthodrome.targets import Target


@pytree
class HardPositive(Positive):
    """The control."""

    def walls(self, x: jax.Array) -> None:
        return None


@pytree
class HardSimplex(Simplex):
    """The control."""

    def walls(self, x: jax.Array) -> None:
        return None


def gamma(p: jax.Array) -> jax.Array:
    return jnp.sum(jnp.log(p) - p)


def test_it_is_the_force_of_the_softened_potential() -> None:
    x, h, power = jnp.array([1e-3, 0.02, 0.7]), jnp.asarray(0.1), 1.7
    soft = jax.grad(lambda w: power / 2 * jnp.sum(jnp.log(w**2 + h**2)))(x)
    np.testing.assert_allclose(softened(Positive(), x, power / x, h), soft, rtol=1e-5)


def test_the_softened_potential_is_the_true_one_and_what_it_is_raised_by() -> None:
    x, h, power = jnp.array([1e-3, 0.02, 0.7]), jnp.asarray(0.1), 1.7
    soft = power / 2 * np.sum(np.log(np.asarray(x) ** 2 + 0.01))
    found = power * jnp.sum(jnp.log(x)) + raised(Positive(), x, power / x, h)
    np.testing.assert_allclose(found, soft, rtol=1e-5)
    on_a_sphere = Product({"sphere": Sphere(), "weights": Positive()})
    both = {"sphere": jnp.array([0.0, 1.0]), "weights": x}
    gradient = {"sphere": jnp.array([3.0, 4.0]), "weights": power / x}
    each = raised(on_a_sphere, both, gradient, {"sphere": jnp.asarray(2.0), "weights": -h})
    np.testing.assert_allclose(each, raised(Positive(), x, power / x, h), rtol=1e-6)


def test_only_elements_that_meet_a_wall_are_changed() -> None:
    manifold = Product({"ball": Ball(), "box": Box(), "sphere": Sphere(), "weights": Simplex()})
    user = {"ball": jnp.zeros(2), "box": jnp.ones(2) / 2, "sphere": jnp.array([1.0, 0.0]), "weights": jnp.ones(2) / 2}
    x = manifold.from_user(user)
    force = jax.tree.map(jnp.ones_like, x)
    found = softened(manifold, x, force, jax.tree.map(lambda _: jnp.asarray(1.0), x))
    near = 1 / (1 + 1 / x["weights"] ** 2)
    expected = {"ball": [1, 1, 0.5], "box": [[1, 0.5], [1, 0.5]], "sphere": [1, 1], "weights": near}
    for name, value in expected.items():
        np.testing.assert_allclose(found[name], value, rtol=1e-6, err_msg=name)


@pytest.mark.usefixtures("x64")
def test_a_step_beside_a_wall_keeps_volume_and_can_be_taken_back() -> None:
    gradient = FullGradient(Target(Positive(), gamma))
    h = jnp.asarray(0.3)

    def step(z: jax.Array) -> jax.Array:
        estimate, _ = gradient.estimate(None, z[:2], None)
        point = leapfrog(gradient, Point(z[:2], z[2:], estimate.logdensity, estimate.gradient), h)
        return jnp.concatenate([point.position, point.velocity])

    z = jnp.array([0.05, 0.4, -1.0, 0.3])  # the first element crosses
    back = jnp.array([1.0, 1.0, -1.0, -1.0])
    assert abs(abs(np.linalg.det(jax.jacobian(step)(z))) - 1) < 1e-12
    np.testing.assert_allclose(back * step(back * step(z)), z, rtol=1e-12)


@pytest.mark.parametrize(
    ("soft", "hard", "logdensity", "start", "size"),
    [
        (Positive(), HardPositive(), gamma, np.ones(8), 0.5),
        (Simplex(), HardSimplex(), lambda p: jnp.zeros(()), np.full(8, 1 / 8), 0.15),
    ],
    ids=["positive", "simplex"],
)
def test_trajectories_no_longer_leave_the_dynamics(soft: Manifold, hard: Manifold, logdensity, start, size) -> None:
    """Gamma(2), and the uniform law on the simplex: a wall of the density, and one of the measure alone."""

    @jax.jit
    def run(manifold: Manifold) -> tuple[jax.Array, jax.Array]:
        sampler = GeodesicHMC(FullGradient(Target(manifold, logdensity)), step_size=size, num_steps=8)

        def one(key: jax.Array) -> tuple[jax.Array, jax.Array]:
            state = sampler.init(manifold.from_user(jnp.asarray(start, jnp.float32)))
            step = lambda s, t: sampler.step(jax.random.fold_in(key, t), s)
            _, info = jax.lax.scan(step, state, jnp.arange(300))
            return info.diverging.mean(), info.acceptance_rate.mean()

        return jax.tree.map(jnp.mean, jax.vmap(one)(jax.random.split(jax.random.key(0), 50)))

    (soft_rate, soft_accepted), (hard_rate, hard_accepted) = run(soft), run(hard)
    assert float(hard_rate) > 0.002, "the control is to be thrown out now and then"
    assert float(soft_rate) == 0.0
    assert float(soft_accepted) > float(hard_accepted)


def test_a_reflected_simplex_has_walls_too() -> None:
    assert ReflectedSimplex().walls(jnp.ones(3) / 3) is not None
