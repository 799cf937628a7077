"""The flat samplers with stochastic gradients: their laws, their noise, their walls, their doors.

Biases are compared with what the discretised dynamics must have (exact for Gaussians), not with zero: a test that
only asks for "close to the target" could not see a wrong factor of the size of the discretisation. Every position is
many independent copies of a small target, so that one chain gives thousands of draws.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from orthodrome import sample
from orthodrome.checks import check_kernel, simulation_based_calibration
from orthodrome.core.pytree import pytree
from orthodrome.errors import BadInput, Unsupported
from orthodrome.gradients import EmpiricalFisher, Estimate, FullGradient, Minibatch, NoisyGradient
from orthodrome.linear import Dense, LowRank
from orthodrome.manifolds import Euclidean, Positive, Product, Sphere
from orthodrome.metrics import InverseMetric, PotentialMetric, ProbedDivergence
from orthodrome.recipe import Recipe
from orthodrome.samplers import SGFS, SGHMC, SGLD, SGNHT, SGRHMC, SGRLD
from orthodrome.targets import Posterior, Target
from support.discrete_laws import langevin, semi_implicit, thermostat
from support.quick import slow

COPIES = 4_000


def normal(x: jax.Array) -> jax.Array:
    return -0.5 * jnp.sum(x**2)


def gamma_three(x: jax.Array) -> jax.Array:
    return jnp.sum(2 * jnp.log(x) - x)


def identity(x: jax.Array) -> jax.Array:
    return x


def gradient(logdensity: Any = normal, manifold: Any = None, variance: float = 0.0, told: bool = True) -> Any:
    exact = FullGradient(Target(Euclidean() if manifold is None else manifold, logdensity))
    return NoisyGradient(exact, variance, told) if variance else exact


def draws(sampler: Any, start: Any, burn_in: int, num_steps: int, seed: int = 0) -> tuple[Any, Any]:
    """The states after the burn-in, every tenth, and the mean of Info over the same steps."""
    states, info = _run(sampler, jax.random.key(seed), start, burn_in, num_steps)
    return states, jax.tree.map(lambda a: float(np.mean(a)), info)


@partial(jax.jit, static_argnames=("burn_in", "num_steps"))
def _run(sampler: Any, key: Any, start: Any, burn_in: int, num_steps: int) -> Any:
    init_key, step_key = jax.random.split(key)
    step = lambda s, t: sampler.step(jax.random.fold_in(step_key, t), s)

    def ten(state: Any, i: Any) -> tuple[Any, Any]:
        state, info = jax.lax.scan(step, state, 10 * i + jnp.arange(10))
        return state, (state, jax.tree.map(lambda a: jnp.mean(a.astype(jnp.float32)), info))

    kept = jax.lax.scan(ten, sampler.init(start, init_key), jnp.arange((burn_in + num_steps) // 10))[1]
    return jax.tree.map(lambda a: a[burn_in // 10 :], kept)


@jax.jit
def chains(sampler: Any, keys: Any, start: Any) -> Any:
    """Many chains of 240 steps; what they are at after 80, 100, ..., 220."""

    def one(key: Any, x: Any) -> Any:
        init_key, step_key = jax.random.split(key)
        step = lambda s, t: (lambda new: (new, new.position))(sampler.step(jax.random.fold_in(step_key, t), s)[0])
        return jax.lax.scan(step, sampler.init(x, init_key), jnp.arange(240))[1][80::20]

    return jax.vmap(one)(keys, start)


def variance_of(sampler: Any, seed: int = 0) -> tuple[float, float]:
    """E x^2 of a standard normal target from 4,000 copies (standard error about 0.004), and the temperature."""
    states, info = draws(sampler, jax.random.normal(jax.random.key(9), (COPIES,)), 150, 200, seed)
    return float(np.mean(np.square(states.position))), info.temperature


# --- what the registry does not set, on a Gaussian -------------------------------------------------------------------

H = 0.2
TWO = np.array([[1.0, 0.6], [0.6, 1.0]])


CASES = {
    "SGLD, preconditioner": (lambda g: SGLD(g, H / 2, 2.0), langevin(H)),
    "SGHMC, mass": (lambda g: SGHMC(g, 2 * H, 3.0, 4.0), semi_implicit(H, 1.5)[0]),
}


@pytest.mark.parametrize("name", CASES)
def test_variance_and_temperature_with_noise_that_is_told(name: str) -> None:
    """E x^2 is that of exact gradients, with V = 2 taken out, to 0.02 (5 standard errors); temperature near 1."""
    make, expected = CASES[name]
    found, temperature = variance_of(make(gradient(variance=2.0)))
    assert found == pytest.approx(expected, abs=0.02)
    assert 0.9 < temperature < 1.3


def test_noise_that_is_not_told_heats() -> None:
    """The control of the test above; the thermostat finds it by itself."""
    silent = gradient(variance=2.0, told=False)
    assert variance_of(SGHMC(silent, H, 1.5))[0] > semi_implicit(H, 1.5)[0] + 0.1
    found, _ = variance_of(SGNHT(silent, H / 4, 1.5))
    assert found == pytest.approx(thermostat(H / 4, 1.5, 2.0), abs=0.02)


def test_too_much_noise_is_clipped_and_said() -> None:
    assert draws(SGLD(gradient(variance=20.0), H), jnp.ones(10), 10, 100)[1].clipped == 1
    assert draws(SGHMC(gradient(variance=2.0), H, 1.5), jnp.ones(10), 10, 100)[1].clipped == 0


@pytest.mark.slow
def test_matrices_of_every_kind() -> None:
    """Preconditioner, friction, mass and V as matrices, on a correlated normal: the covariance to 0.1."""
    precision = np.linalg.inv(TWO)
    target = FullGradient(Target(Euclidean(), correlated))
    noise = Dense(jnp.asarray([[2.0, 0.5], [0.5, 1.0]]))
    noisy = CorrelatedNoise(target, noise)
    start = jnp.zeros((600, 2))
    for sampler, expected in (
        (SGLD(noisy, 0.1, Dense(jnp.asarray(TWO, jnp.float32))), 1 / (1 - 0.05) * TWO),
        (
            SGHMC(
                noisy,
                0.1,
                Dense(jnp.asarray([[2.0, 0.4], [0.4, 1.5]])),
                Dense(jnp.asarray(precision, jnp.float32)),
            ),
            TWO,
        ),
        (SGLD(noisy, 0.1, low_rank(TWO)), 1 / (1 - 0.05) * TWO),
        (SGHMC(target, 0.1, low_rank(np.array([[2.0, 0.4], [0.4, 1.5]])), low_rank(precision)), TWO),
    ):
        many = chains(sampler, jax.random.split(jax.random.key(1), len(start)), start)
        found = np.cov(np.asarray(many).reshape(-1, 2).T)
        np.testing.assert_allclose(found, expected, atol=0.1)


def low_rank(matrix: np.ndarray) -> LowRank:
    """The same matrix as a diagonal with one direction of its own, which any 2 x 2 covariance is."""
    a, b, c = matrix[0, 0], matrix[0, 1], matrix[1, 1]
    first = np.sqrt(a / 2)
    factor = np.array([[first], [b / first]])
    return LowRank(jnp.asarray(factor, jnp.float32), jnp.asarray([a / 2, c - (b / first) ** 2], jnp.float32))


def correlated(x: jax.Array) -> jax.Array:
    return -0.5 * x @ jnp.asarray(np.linalg.inv(TWO), x.dtype) @ x


class CorrelatedNoise(NoisyGradient):
    """N(0, V) with a matrix V, told."""

    def estimate(self, key: Any, x: Any, memory: Any) -> Any:
        estimate, memory = self.gradient.estimate(None, x, memory)
        error = jnp.linalg.cholesky(self.variance.matrix) @ jax.random.normal(key, x.shape, x.dtype)
        return estimate._replace(gradient=estimate.gradient + error, noise=self.variance), memory


jax.tree_util.register_dataclass(CorrelatedNoise, ["gradient", "variance"], ["told"])


# --- thermostats ------------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("mass", [4.0])
def test_the_thermostat_has_variance_one_over_mass_and_dimension(mass: float) -> None:
    """Check 4 of the errata: Var xi = 1 / (mass d) at d = 10 and r.r/d = 1. One chain each of 400; to 10 %."""
    sampler = SGNHT(gradient(), 0.05, 1.0, mass)
    keys = jax.random.split(jax.random.key(0), 400)
    one = lambda key: thermostat_chain(sampler, key)
    xi, temperature = jax.jit(jax.vmap(one))(keys)
    assert np.var(xi) == pytest.approx(1 / (10 * mass), rel=0.1)
    assert np.mean(temperature) == pytest.approx(1, abs=0.05)


def thermostat_chain(sampler: Any, key: Any) -> Any:
    init_key, start_key, step_key = jax.random.split(key, 3)
    step = lambda s, t: (lambda new, info: (new, (new.thermostat, info.temperature)))(
        *sampler.step(jax.random.fold_in(step_key, t), s)
    )
    first = sampler.init(jax.random.normal(start_key, (10,)), init_key)
    xi, temperature = jax.lax.scan(step, first, jnp.arange(1500))[1]
    return xi[300::60], temperature[300:]


@pytest.mark.slow
def test_a_thermostat_for_each_coordinate_finds_each_noise() -> None:
    """V = 0 and 16, not told: one thermostat per coordinate gives both variances; a single one cannot."""
    start = jnp.zeros(COPIES)
    noisy = NoisyGradient(gradient(), jnp.where(jnp.arange(COPIES) % 2 == 0, 1e-6, 16.0), told=False)
    found = {}
    for many in (True, False):
        states, _ = draws(SGNHT(noisy, 0.05, 1.0, per_coordinate=many), start, 2000 if many else 400, 400)
        squares = np.mean(np.square(states.position), axis=0)
        found[many] = squares[::2].mean(), squares[1::2].mean()
    assert found[True] == (pytest.approx(1, abs=0.06), pytest.approx(1, abs=0.06))
    assert found[False][1] - found[False][0] > 0.1


# --- metrics and walls ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "steps"), [("SGRLD", 200), ("SGRHMC", 400)])
def test_the_mean_of_a_gamma_law(name: str, steps: int) -> None:
    """Check 3 of the errata: with D = x the mean of Gamma(3) is 3 to 0.08; the sign of Eq. (14) gives 1."""
    metric = InverseMetric(identity, None, ProbedDivergence())
    g = gradient(gamma_three, Positive())
    sampler = SGRLD(g, metric, 0.02) if name == "SGRLD" else SGRHMC(g, metric, 0.02)
    start = np.random.default_rng(0).gamma(3.0, size=COPIES)  # momentum takes long to find the tail by itself
    states, _ = draws(sampler, jnp.asarray(start, jnp.float32), steps, steps)
    x = np.asarray(states.position)
    assert x.min() >= 0
    assert x.mean() == pytest.approx(3, abs=0.08)
    assert x.var() == pytest.approx(3, abs=0.3)


def test_the_printed_sign_gives_another_mean() -> None:
    """Negative control: minus Gamma is the drift a - 2 - x."""

    class Printed(InverseMetric):
        def inverse_divergence(self, key: Any, x: Any, estimate: Any = None) -> Any:
            return -jnp.ones_like(x)

    jax.tree_util.register_dataclass(Printed, ["data", "divergence"], ["function"])
    states, _ = draws(
        SGRLD(gradient(gamma_three, Positive()), Printed(identity), 0.02), jnp.full(COPIES, 3.0), 400, 100
    )
    assert np.mean(states.position) < 1.3


@pytest.mark.parametrize("make", [slow(lambda g: SGLD(g, 0.02)), lambda g: SGHMC(g, 0.1)])
def test_walls_by_reflection(make: Any) -> None:
    """A half normal, whose density is largest at the wall: E x and E x^2 to 0.03."""
    states, _ = draws(make(gradient(normal, Positive())), jnp.ones(COPIES), 400, 200)
    x = np.asarray(states.position)
    assert x.min() >= 0
    assert x.mean() == pytest.approx(np.sqrt(2 / np.pi), abs=0.03)
    assert np.mean(x**2) == pytest.approx(1, abs=0.05)


def rows(x: jax.Array, row: jax.Array) -> jax.Array:
    return -0.5 * (row - x[0]) ** 2


def no_prior(x: jax.Array) -> jax.Array:
    return -0.5 * jnp.sum(x**2) * 1e-6


@pytest.mark.slow
def test_the_bias_of_a_metric_from_the_minibatch() -> None:
    """F.1: U~ of the batch in the metric. With little noise E x^2 is that of the exact U; with much there is a bias."""
    found = {}
    for spread in (0.02, 2.0):
        sampler = SGRHMC(BatchPotential(spread), PotentialMetric(1.5, 4.0), 0.05)
        found[spread] = np.mean(
            np.square(
                chains(
                    sampler, jax.random.split(jax.random.key(0), 3000), jax.random.normal(jax.random.key(1), (3000, 1))
                )
            )
        )
    assert found[0.02] == pytest.approx(1, abs=0.08)
    assert abs(found[2.0] - found[0.02]) > 0.05


@pytree
class BatchPotential:
    """U and gradient of a standard normal that share one error e ~ N(0, spread^2): U~ = U - e x."""

    spread: Any
    manifold: Any = Euclidean()
    target: Any = None

    def init(self, x: Any) -> None:
        return None

    def estimate(self, key: Any, x: Any, memory: None) -> Any:
        error = self.spread * jax.random.normal(key, (), x.dtype)
        return Estimate(-0.5 * jnp.sum(x**2) + error * x[0], -x + error, jnp.asarray(self.spread, x.dtype) ** 2), None


# --- Fisher scoring ---------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_fisher_scoring_is_exact_for_a_normal_posterior_at_any_step() -> None:
    """1,000 data, batches of 20; E and Var of the posterior of the mean at two large steps."""
    data = jnp.asarray(np.random.default_rng(0).normal(0.5, 1.0, 1000), jnp.float32)
    batch = Minibatch(Posterior(Euclidean(), no_prior, rows, data), 20, noise=EmpiricalFisher(decay=0.999))
    exact = float(data.mean()) + jax.random.normal(jax.random.key(1), (1500, 1)) / 1000**0.5
    for step_size in (4.0, 40.0):
        sampler = SGFS(batch, step_size)
        x = chains(sampler, jax.random.split(jax.random.key(0), 1500), exact)
        assert np.mean(x) == pytest.approx(float(data.mean()), abs=0.003)
        assert 1000 * np.var(x) == pytest.approx(1, abs=0.12)
    with pytest.raises(BadInput, match="EmpiricalFisher"):
        SGFS(gradient(), 0.1).step(jax.random.key(0), SGFS(gradient(), 0.1).init(jnp.ones(1)))


@pytest.mark.slow
def test_fisher_scoring_with_a_matrix() -> None:
    """A full V and I in two dimensions, given: the covariance is I^-1 at a large step."""
    information = np.array([[3.0, 1.0], [1.0, 2.0]], np.float32)
    v = Dense(jnp.asarray([[2.0, 0.5], [0.5, 1.0]]))
    target = FullGradient(Target(Euclidean(), lambda x: -0.5 * x @ jnp.asarray(information, x.dtype) @ x))
    sampler = SGFS(CorrelatedNoise(target, v), 4.0, information=Dense(jnp.asarray(information)))
    x = chains(sampler, jax.random.split(jax.random.key(0), 3000), jnp.zeros((3000, 2)))
    np.testing.assert_allclose(np.cov(np.asarray(x).reshape(-1, 2).T), np.linalg.inv(information), atol=0.03)


# --- checks as public functions ---------------------------------------------------------------------------------------


def test_check_kernel_accepts_and_rejects() -> None:
    exact = jax.random.normal(jax.random.key(5), (20_000, 1))
    good = check_kernel(SGHMC(gradient(), 0.02, 1.0), exact, num_steps=20)
    assert good.ok and good.smallest_bias.max() < 0.05 and "keeps the law" in str(good)
    bad = check_kernel(SGLD(gradient(), 0.3), exact, num_steps=20)
    assert not bad.ok and "NOT" in str(bad) and bad.worst == 1
    assert bad.bias[1] == pytest.approx(0.3 / 1.7 / np.sqrt(2), abs=0.04)
    with pytest.raises(BadInput, match="at least 100"):
        check_kernel(SGLD(gradient(), 0.3), exact[:5])


def draw_prior(key: Any) -> Any:
    return jax.random.normal(key, (1,))


def draw_data(key: Any, x: Any) -> Any:
    return x + jax.random.normal(key, (1,))


def posterior(x: Any, data: Any) -> Any:
    return -0.5 * jnp.sum(x**2) - 0.5 * jnp.sum((data - x) ** 2)


@pytest.mark.slow
@pytest.mark.parametrize("told", [True, False])
def test_calibration_accepts_and_rejects(told: bool) -> None:
    """A right sampler is calibrated; one that is too hot by 1.5 in the variance is not."""

    def make_sampler(data: Any) -> Any:
        exact = FullGradient(Target(Euclidean(), posterior, data))
        return SGHMC(NoisyGradient(exact, 20.0, told), 0.1, 2.0)

    report = simulation_based_calibration(
        draw_prior, draw_data, make_sampler, thin=25, num_draws=31, num_simulations=1600
    )
    assert report.ok == told, report
    assert list(report.p_values) == ["z[0]"] and report.counts.sum() == 1600


# --- doors ------------------------------------------------------------------------------------------------------------


def refused(sampler: Any, start: Any) -> str:
    with pytest.raises((BadInput, Unsupported)) as caught:
        sample(sampler, start, seed=0, num_chains=1, num_warmup=0, num_draws=1, progress=False)
    return str(caught.value)


def test_doors() -> None:
    assert "SGGMC or GSGNHT" in refused(SGLD(gradient(normal, Sphere()), 0.1), jnp.array([1.0, 0.0]))
    mixed = Product({"a": Euclidean(), "b": Sphere()})
    tree = {"a": jnp.zeros(1), "b": jnp.array([1.0, 0.0])}
    assert "Sphere is not flat" in refused(SGHMC(gradient(lambda p: -jnp.sum(p["a"] ** 2), mixed), 0.1), tree)
    assert "num_warmup is 0" in refused(SGLD(gradient()), jnp.ones(1))
    assert "must be above 0" in refused(SGHMC(gradient(), 0.1, -1.0), jnp.ones(1))
    matrix = Dense(jnp.eye(2))
    assert "one step per leaf" in refused(SGLD(gradient(), jnp.asarray([0.1, 0.2]), matrix), jnp.ones(2))
    assert "walls reflect one at a time" in refused(SGLD(gradient(normal, Positive()), 0.1, matrix), jnp.ones(2))
    lopsided = Recipe(lambda z: jnp.sum(z**2), lambda z: jnp.eye(2), lambda z: jnp.ones((2, 2)), 0.1)
    assert "a recipe does not tune itself" in refused(Recipe(lambda z: jnp.sum(z**2), None, None), jnp.ones(2))
    assert "Q is not skew: Q + Q' is 2 at (z[0], z[0]), the start" in refused(lopsided, jnp.ones(2))
    negative = Recipe(lambda z: jnp.sum(z**2), lambda z: jnp.diag(jnp.array([1.0, -0.5])), None, 0.1)
    assert "eigenvalue is -0.5 at the start, mostly along z[1]" in refused(negative, jnp.ones(2))
    wrong = Recipe(lambda z: jnp.sum(z**2), lambda z: jnp.eye(3), None, 0.1)
    assert "z has 2 numbers" in refused(wrong, jnp.ones(2))


def test_the_temperature_that_sghmc_expects_is_the_one_it_has() -> None:
    """A flat target, h C / M = 0.3: 1 / (1 - 0.15), to 0.01."""
    sampler = SGHMC(gradient(lambda x: -1e-6 * jnp.sum(x**2)), 0.2, 3.0, 2.0)
    _, info = draws(sampler, jnp.zeros(COPIES), 100, 400)
    assert sampler.expected_temperature(jnp.zeros(COPIES)) == pytest.approx(1 / (1 - 0.15), rel=1e-5)
    assert info.temperature == pytest.approx(1 / (1 - 0.15), abs=0.01)
