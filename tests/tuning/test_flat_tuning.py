"""Flat samplers that tune themselves: on Gaussians of very different scales they have the law that their scheme has at
the step that they chose, that step is neither timid nor rash, and the temperature is the scheme's own.

256 chains of 400 steps: the variance is known to about 1 % (2 % for the slow ones), so a wrong unit or share is seen.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from orthodrome import sample
from orthodrome.errors import OrthodromeWarning
from orthodrome.gradients import EmpiricalFisher, FullGradient, Minibatch, NoisyGradient, NoNoise
from orthodrome.linear import Dense
from orthodrome.manifolds import Euclidean
from orthodrome.metrics import InverseMetric, ProbedDivergence
from orthodrome.samplers import SGFS, SGHMC, SGLD, SGNHT, SGRHMC, SGRLD
from orthodrome.samplers.learnt import EULER, FIRST
from orthodrome.targets import Posterior, Target
from orthodrome.tuning import StochasticAdapted, needs_tuning
from support.discrete_laws import semi_implicit, thermostat

SD = np.array([0.02, 1.0, 30.0], np.float32)
ROUND = np.array([0.8, 1.0, 1.25], np.float32)
V = 4.0
"""The noise of the gradient's elements is V / sd^2: in units of the law it is V."""
WARMUP, DRAWS, CHAINS = 400, 400, 256


def gaussian(x: Any, sd: Any) -> Any:
    return -0.5 * jnp.sum((x / sd) ** 2)


def gradient(sd: Any = SD, told: bool = True, noise: float = V) -> Any:
    exact = FullGradient(Target(Euclidean(), gaussian, jnp.asarray(sd)))
    return NoisyGradient(exact, jnp.asarray(noise / sd**2), told)


def squares(x: Any, sd: Any) -> Any:
    return sd**2


def metric(sd: Any) -> InverseMetric:
    return InverseMetric(squares, jnp.asarray(sd), ProbedDivergence())


class Run(NamedTuple):
    """The tuned sampler, E (x / sd)^2 of every element, and the mean temperature."""

    sampler: Any
    variance: np.ndarray
    temperature: float


def run(sampler: Any, sd: Any) -> Run:
    """Warm-up three standard deviations away from the mode, then draws."""
    adapted = StochasticAdapted(sampler, WARMUP)
    keys = jax.random.split(jax.random.key(0), CHAINS)
    state = warm_up(adapted, keys, 3 * jnp.asarray(sd))
    tuned = adapted.freeze(state)
    x, temperature = draw(tuned, keys, state.inner)
    return Run(tuned, np.mean((np.asarray(x, float) / sd) ** 2, (0, 1)), float(np.mean(temperature)))


@jax.jit
def warm_up(adapted: Any, keys: Any, start: Any) -> Any:
    def one(key: Any) -> Any:
        step = lambda s, t: (adapted.step(jax.random.fold_in(key, t), s)[0], None)
        return jax.lax.scan(step, adapted.init(start, jax.random.fold_in(key, 9999)), jnp.arange(WARMUP))[0]

    return jax.vmap(one, axis_name="chains")(keys)


@jax.jit
def draw(sampler: Any, keys: Any, states: Any) -> Any:
    def one(key: Any, state: Any) -> Any:
        def step(state: Any, t: Any) -> Any:
            state, info = sampler.step(jax.random.fold_in(key, WARMUP + t), state)
            return state, (state.position, info.temperature)

        return jax.lax.scan(step, state, jnp.arange(DRAWS))[1]

    return jax.vmap(one)(keys, states)


def units(tree: Any, sd: Any, power: int = 1) -> np.ndarray:
    """A tree of steps in units of the law."""
    return np.broadcast_to(np.asarray(tree, float), sd.shape) / sd**power


def of_sgld(s: Any) -> tuple[np.ndarray, np.ndarray]:
    h = units(s.step_size, SD, 2)
    return h, 1 / (1 - h / 2)


def of_sghmc(s: Any) -> tuple[np.ndarray, np.ndarray]:
    h, c = units(s.step_size, SD), units(s.friction, SD, -1)
    return h, np.array([semi_implicit(a, b)[0] for a, b in zip(h, c, strict=True)])


def of_sgnht(s: Any) -> tuple[np.ndarray, np.ndarray]:
    h, c = units(s.step_size, SD), units(s.friction, SD, -1)
    return h, np.array([thermostat(a, b, V) for a, b in zip(h, c, strict=True)])


def of_sgrld(s: Any) -> tuple[np.ndarray, np.ndarray]:
    h = np.full(3, float(s.step_size))
    return h, 1 / (1 - h / 2)


def of_sgrhmc(s: Any) -> tuple[np.ndarray, np.ndarray]:
    """The friction is the metric's: sd^2."""
    h = float(s.step_size)
    return np.full(3, h * float(np.max(ROUND**2))), np.array([semi_implicit(h, float(c))[0] for c in ROUND**2])


def of_sgfs(s: Any) -> tuple[np.ndarray, np.ndarray]:
    """P I = 2 h / (h + 4) (1 + V)^-1; exact at any step."""
    h = float(s.step_size)
    return np.full(3, 2 * h / (h + 4) / (1 + V)), np.ones(3)


CASES: dict[str, tuple[Callable[[], Any], np.ndarray, Callable[[Any], tuple[np.ndarray, np.ndarray]]]] = {
    "SGLD": (lambda: SGLD(gradient()), SD, of_sgld),
    "SGFS": (lambda: SGFS(gradient(), information=jnp.asarray(SD**-2.0)), SD, of_sgfs),
    "SGHMC": (lambda: SGHMC(gradient()), SD, of_sghmc),
    "SGNHT": (lambda: SGNHT(gradient(told=False)), SD, of_sgnht),
    "SGRLD": (lambda: SGRLD(gradient(), metric(SD)), SD, of_sgrld),
    "SGRHMC": (lambda: SGRHMC(gradient(ROUND), metric(ROUND)), ROUND, of_sgrhmc),
}


FAST = ("SGLD",)


@pytest.mark.parametrize("name", [pytest.param(n, marks=[] if n in FAST else [pytest.mark.slow]) for n in CASES])
def test_a_learnt_step_is_neither_timid_nor_rash(name: str) -> None:
    """The step in units of the law is `FIRST` or `EULER` (SGFS: most of what its noise leaves) to 30 %, over three
    decades; variances are the scheme's own to 6 %, and so is the temperature."""
    make, sd, expected = CASES[name]
    found = run(make(), sd)
    step, variance = expected(found.sampler)
    wanted = {"SGFS": 0.29, "SGLD": FIRST, "SGRLD": FIRST}.get(name, EULER)
    np.testing.assert_allclose(step, wanted, rtol=0.3)
    np.testing.assert_allclose(found.variance, variance, rtol=0.06)
    own = found.sampler.expected_temperature(jnp.zeros(3))
    assert found.temperature / own == pytest.approx(1, abs=0.08 if name == "SGRHMC" else 0.06)
    assert not needs_tuning(found.sampler) and needs_tuning(make())


@pytest.mark.slow
def test_noise_that_nobody_takes_out_shortens_the_step() -> None:
    """An untold V = 40 may heat by 3 % only: h V / 2 = 0.03. A sampler that believes to bear it would be at 0.5."""
    found = run(SGLD(gradient(told=False, noise=40.0)), SD)
    np.testing.assert_allclose(units(found.sampler.step_size, SD, 2), 0.0015, rtol=0.3)
    assert found.temperature == pytest.approx(1.03, abs=0.02)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["array", "matrix"])
def test_a_metric_that_is_set_needs_one_step(kind: str) -> None:
    """D, or M with a learnt friction, as a diagonal and as a matrix: the step is that of the round law."""
    form = (lambda a: Dense(jnp.diag(a))) if kind == "matrix" else (lambda a: a)
    for sampler in (
        SGLD(gradient(), preconditioner=form(jnp.asarray(SD**2))),
        SGHMC(gradient(), mass=form(jnp.asarray(SD**-2.0))),
    ):
        found = run(sampler, SD)
        assert float(found.sampler.step_size) == pytest.approx(0.1, rel=0.1)
        np.testing.assert_allclose(found.variance, 1, atol=0.1)


def logprior(w: Any) -> Any:
    return -0.5 * jnp.sum(w**2) / 100


def loglikelihood(w: Any, row: Any) -> Any:
    return -0.5 * (row["y"] - row["x"] @ w) ** 2


def regression() -> tuple[Posterior, np.ndarray, np.ndarray]:
    """A linear regression whose columns have scales from 0.2 to 5, and its exact posterior."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(2000, 3)) * [0.2, 1.0, 5.0]
    y = x @ [3.0, -1.0, 0.2] + rng.normal(size=2000)
    covariance = np.linalg.inv(x.T @ x + np.eye(3) / 100)
    rows = {"x": jnp.asarray(x, jnp.float32), "y": jnp.asarray(y, jnp.float32)}
    return Posterior(Euclidean(), logprior, loglikelihood, rows), covariance @ (x.T @ y), np.sqrt(np.diag(covariance))


@pytest.mark.slow
@pytest.mark.parametrize("kind", [SGLD, SGNHT])
def test_a_regression_with_minibatches(kind: Any) -> None:
    """Batches of 50 of 2,000 rows: means within 0.3 sd, sds within 15 %, temperature within 8 % of one."""
    posterior, mean, sd = regression()
    noise = EmpiricalFisher() if kind is SGLD else NoNoise()
    settings: dict[str, Any] = {"seed": 0, "num_chains": 16, "num_warmup": 1000, "num_draws": 3000, "progress": False}
    draws = sample(kind(Minibatch(posterior, 50, noise=noise)), jnp.zeros(3), **settings)
    w = np.asarray(draws["posterior"]["x"], float)
    np.testing.assert_allclose((w.mean((0, 1)) - mean) / sd, 0, atol=0.3)
    np.testing.assert_allclose(w.std((0, 1)) / sd, 1, atol=0.15)
    assert float(draws["sample_stats"]["temperature"].mean()) == pytest.approx(1, abs=0.08)


def test_a_step_that_runs_away_is_warned_about_with_the_remedy() -> None:
    hot = partial(sample, seed=0, num_chains=2, num_warmup=50, num_draws=400, progress=False)
    with pytest.warns(OrthodromeWarning, match=r"heats the chain.*shorter step_size.*EmpiricalFisher"):
        hot(SGHMC(gradient(ROUND, told=False, noise=40.0), 0.1), jnp.zeros(3))
