"""Tuning with stochastic gradients, through `sample`; and the warning when a run does not keep its temperature."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest
from jax import Array

from orthodrome import sample
from orthodrome.diagnostics.temperature import mean_problem, temperature_of, temperature_problem
from orthodrome.errors import BadInput, Diverged, NotConverged
from orthodrome.gradients import EmpiricalFisher, FullGradient, Minibatch, NoisyGradient, NoNoise
from orthodrome.manifolds import Euclidean, Product, Sphere
from orthodrome.samplers import GSGNHT, SGGMC
from orthodrome.targets import Posterior, Target
from orthodrome.tuning import needs_tuning


def scales(p: dict[str, Array]) -> Array:
    """Standard deviations 0.01 and 10 on a flat leaf, and a von Mises-Fisher law."""
    return -0.5 * (p["w"][0] / 0.01) ** 2 - 0.5 * (p["w"][1] / 10) ** 2 + 20 * p["x"][0]


def prior(p: Array) -> Array:
    return -0.5 * jnp.sum(p**2) / 100


def likelihood(p: Array, row: Array) -> Array:
    return -0.5 * jnp.sum((row - p) ** 2)


def rows() -> Array:
    return jnp.asarray(np.random.default_rng(0).normal(size=(2000, 3)) * 2 + [5.0, 0.0, -3.0], jnp.float32)


@pytest.mark.slow
def test_units_of_very_different_leaves() -> None:
    """Steps and frictions are found over three decades; variances are right within 15 %, the temperature within 5 %."""
    target = Target(Product({"w": Euclidean(), "x": Sphere()}), scales)
    start = {"w": jnp.asarray([0.1, 30.0]), "x": jnp.asarray([0.0, 1.0, 0.0])}
    settings: dict[str, Any] = {"seed": 0, "num_chains": 16, "num_warmup": 800, "num_draws": 2000, "progress": False}
    draws = sample(SGGMC(FullGradient(target), order="AUKUA"), start, **settings)
    w, x = (np.asarray(draws["posterior"][name], float) for name in ("w", "x"))
    np.testing.assert_allclose(w.var((0, 1)) / np.array([0.01, 10]) ** 2, 1, atol=0.15)
    assert x[..., 0].mean() == pytest.approx(1 / np.tanh(20) - 1 / 20, abs=0.005)
    assert float(draws["sample_stats"]["temperature"].mean()) == pytest.approx(1, abs=0.1)


@pytest.mark.slow
@pytest.mark.parametrize("kind", [SGGMC, GSGNHT])
def test_minibatches(kind: Any) -> None:
    """A conjugate mean from batches of 50: mean within 0.3 sd, variance within 35 %, temperature within 10 %."""
    posterior = Posterior(Euclidean(), prior, likelihood, rows())
    noise = EmpiricalFisher() if kind is SGGMC else NoNoise()
    settings: dict[str, Any] = {"seed": 0, "num_chains": 16, "num_warmup": 1000, "num_draws": 4000, "progress": False}
    draws = sample(kind(Minibatch(posterior, 50, noise=noise)), jnp.zeros(3), **settings)
    precision = 2000 + 1 / 100
    mean, sd = np.asarray(rows(), float).sum(0) / precision, precision**-0.5
    x = np.asarray(draws["posterior"]["x"], float)
    assert np.all(np.abs(x.mean((0, 1)) - mean) < 0.3 * sd)
    np.testing.assert_allclose(x.var((0, 1)) / sd**2, 1, atol=0.35)
    assert float(draws["sample_stats"]["temperature"].mean()) == pytest.approx(1, abs=0.1)


def gaussian(x: Array) -> Array:
    return -0.5 * jnp.sum(x**2)


def test_a_hot_run_is_warned_about_with_the_remedy() -> None:
    gradient = NoisyGradient(FullGradient(Target(Euclidean(), gaussian)), 40.0, told=False)
    settings: dict[str, Any] = {"seed": 0, "num_warmup": 100, "num_draws": 500, "progress": False}
    with pytest.warns(NotConverged, match="heats the chain.*EmpiricalFisher"):
        sample(SGGMC(gradient, 0.1, 1.0), jnp.zeros(3), **settings)
    told = sample(SGGMC(NoisyGradient(gradient.gradient, 10.0), 0.1, 1.0), jnp.zeros(3), check=False, **settings)
    assert temperature_of(told) is not None and temperature_problem(temperature_of(told)) is None


def test_a_temperature_is_compared_with_the_schemes_own() -> None:
    assert mean_problem(0.86, 0.85) is None
    assert "cold" in (mean_problem(0.5, 1.0) or "")
    assert "not finite" in (mean_problem(float("nan"), 1.0) or "")
    assert "heats" in (mean_problem(1e5, 1.0) or "")


def turns_bad(x: Array) -> Array:
    return jnp.where(x[0] < 2, -0.001 * jnp.sum(x**2), jnp.nan)


@pytest.mark.slow
def test_a_nan_gradient_stops_the_run_and_names_the_chain() -> None:
    with pytest.raises(Diverged, match=r"chain \d failed at step \d+") as failure:
        sample(
            SGGMC(FullGradient(Target(Euclidean(), turns_bad)), 0.3, 0.1),
            jnp.zeros(2),
            seed=0,
            num_warmup=0,
            num_draws=500,
            progress=False,
        )
    assert np.all(np.isfinite(failure.value.draws["posterior"]["x"]))


def test_needs_tuning() -> None:
    gradient = FullGradient(Target(Euclidean(), gaussian))
    assert (
        needs_tuning(SGGMC(gradient))
        and needs_tuning(SGGMC(gradient, 0.1))
        and needs_tuning(GSGNHT(gradient, friction=1.0))
    )
    assert not needs_tuning(SGGMC(gradient, 0.1, 1.0))
    with pytest.raises(BadInput, match="num_warmup is 0"):
        sample(SGGMC(gradient), jnp.zeros(2), seed=0, num_warmup=0, num_draws=5, progress=False)
