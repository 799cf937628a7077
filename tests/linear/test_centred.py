"""Units per element where the elements sum to zero: the algebra of P S P, and dynamics in such units, which stay in the
law of a Dirichlet from exact draws."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.special import digamma, polygamma

from orthodrome import Dirichlet, FullGradient, GeodesicHMC, GeodesicNUTS, LogRatioSimplex, Sphere, Target, sample
from orthodrome.dynamics.leapfrog import Point, energy, leapfrog
from orthodrome.errors import BadInput
from orthodrome.linear import CentredScales, LinearStep
from orthodrome.linear.centred import uncentred
from orthodrome.linear.linear_step import LinearStep as Step
from orthodrome.tuning import Adapted

CONCENTRATION = np.array([0.3, 1.0, 3.0, 10.0], np.float32)
CHAINS = 4000


def logdensity(p: Any) -> Any:
    return (CONCENTRATION - 1) @ jnp.log(p)


TARGET = Target(LogRatioSimplex(), logdensity)


def test_the_map_is_symmetric_keeps_the_plane_and_is_inverted_there() -> None:
    rows = np.random.default_rng(0)
    units = CentredScales(jnp.asarray(rows.uniform(0.1, 5, (2, 4)), jnp.float32))
    v, w = (jnp.asarray(rows.normal(size=(2, 4)), jnp.float32) for _ in range(2))
    v = v - v.mean(axis=-1, keepdims=True)
    image = units.apply(v)
    np.testing.assert_allclose(image.sum(axis=-1), 0, atol=1e-5)
    np.testing.assert_allclose(units.solve(image), v, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(jnp.sum(w * units.apply(v)), jnp.sum(units.transposed(w) * v), rtol=1e-4)
    np.testing.assert_allclose(units.dense() @ v.ravel(), image.ravel(), rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(units.scaled(2.0).apply(v), 2 * image, rtol=1e-5)
    assert units.misfit(8) is None and "8 numbers, not 7" in str(units.misfit(7))


class Uncentred(CentredScales):
    """The negative control: units that push the velocity out of the plane."""

    def transposed(self, v: jax.Array) -> jax.Array:
        return self.scale * v


jax.tree_util.register_pytree_node(Uncentred, lambda u: ((u.scale,), None), lambda _, parts: Uncentred(*parts))


def largest_z(sampler: Any) -> float:
    """Return the largest error of the mean log weights after 10 transitions from exact draws, in standard errors."""
    keys = jax.random.split(jax.random.key(1), CHAINS)
    start = LogRatioSimplex().from_user(Dirichlet(jnp.asarray(CONCENTRATION)).sample(jax.random.key(2), (CHAINS,)))

    def run(key: jax.Array, x: jax.Array) -> jax.Array:
        move = lambda s, t: (sampler.step(jax.random.fold_in(key, t), s)[0], None)
        state, _ = jax.lax.scan(move, sampler.init(x), jnp.arange(10))
        return jax.nn.log_softmax(state.position)

    logs = np.asarray(jax.jit(jax.vmap(run))(keys, start), np.float64)
    total = CONCENTRATION.sum()
    exact = digamma(CONCENTRATION) - digamma(total)
    error = np.sqrt((polygamma(1, CONCENTRATION) - polygamma(1, total)) / CHAINS)
    return float(np.max(np.abs(logs.mean(axis=0) - exact) / error))


@pytest.mark.parametrize(
    "kind",
    [
        pytest.param(lambda h: GeodesicHMC(TARGET, h, 4), id="HMC"),
        pytest.param(lambda h: GeodesicNUTS(TARGET, h), id="NUTS", marks=pytest.mark.slow),
    ],
)
def test_dynamics_in_such_units_stay_in_the_law(kind: Any) -> None:
    """4,000 draws: 4.4 standard errors are 7 % of a standard deviation."""
    scale = jnp.asarray(CONCENTRATION**-0.5)
    assert largest_z(kind(LinearStep(jnp.float32(0.5), CentredScales(scale)))) < 4.4


def energy_error(units: CentredScales) -> float:
    """Return by how much H changes over the time 1 in 100 steps from a point of the plane."""
    gradient, h = FullGradient(TARGET), LinearStep(jnp.float32(0.01), units)
    x, v = (LogRatioSimplex().retract(jnp.array(row)) for row in ([1.0, -2.0, 0.5, 0.0], [1.0, 0.3, -1.0, 0.2]))
    estimate, _ = gradient.estimate(None, x, None)
    start = Point(x, v, estimate.logdensity, estimate.gradient)
    end = jax.jit(lambda p: jax.lax.fori_loop(0, 100, lambda _, q: leapfrog(gradient, q, h), p))(start)
    return float(jnp.abs(energy(end) - energy(start)))


def test_energy_is_kept_and_units_that_leave_the_plane_are_found_out() -> None:
    """The Metropolis test makes any such units exact; those whose kicks leave the plane lose energy at every step."""
    scale = jnp.asarray(CONCENTRATION**-0.5)
    assert energy_error(CentredScales(scale)) < 1e-3 < 1e-2 < energy_error(Uncentred(scale))


def test_warm_up_learns_the_scales_of_the_elements() -> None:
    adapted = Adapted(GeodesicHMC(TARGET, None, 4), 400, pool=("chains",))
    keys = jax.random.split(jax.random.key(3), 400)

    def learnt(key: jax.Array) -> Any:
        state = adapted.init(LogRatioSimplex().from_user(jnp.full(4, 0.25)))
        return jax.lax.scan(
            lambda s, k: (adapted.step(jax.random.fold_in(key, k), s)[0], None), state, jnp.arange(400)
        )[0]

    state = jax.jit(jax.vmap(learnt, axis_name="chains"))(keys[:4])
    step = adapted.freeze(jax.tree.map(np.asarray, state)).step_size
    assert isinstance(step, Step) and isinstance(step.units, CentredScales)
    ratios = np.asarray(step.units.scale) / np.asarray(step.units.scale)[3]
    assert 3 < ratios[0] < 12 and np.all(np.diff(ratios) < 0)  # (trigamma(a) / a)^(1/4): 7.9 for 0.3 and 10


def test_variances_of_independent_elements_are_told_from_those_of_centred_ones() -> None:
    spread = np.array([12.0, 2.0, 0.5, 0.1], np.float32)
    centring = np.eye(4) - 0.25
    seen = np.diag(centring @ np.diag(spread) @ centring)
    np.testing.assert_allclose(uncentred(jnp.asarray(seen, jnp.float32))[:3], spread[:3], rtol=1e-4)
    assert 0.05 < uncentred(jnp.asarray(seen, jnp.float32))[3] < 0.2  # at least a tenth of what is seen


def test_the_door_takes_them_on_the_plane_and_nowhere_else() -> None:
    step = LinearStep(jnp.float32(0.3), CentredScales(jnp.ones(4, jnp.float32)))
    start = np.full(4, 0.25, np.float32)
    tree = sample(GeodesicHMC(TARGET, step, 3), start, seed=0, num_warmup=0, num_draws=5, progress=False)
    np.testing.assert_allclose(tree["posterior"]["x"].sum(axis=-1), 1, rtol=1e-5)
    sphere = GeodesicHMC(Target(Sphere(), lambda x: x[0]), step, 3)
    with pytest.raises(BadInput, match="Sphere, which is curved"):
        sample(sphere, np.eye(4, dtype=np.float32)[0], seed=0, num_warmup=0, num_draws=1, progress=False)
