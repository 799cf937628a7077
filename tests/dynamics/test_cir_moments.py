"""Theorem 3.1 and Corollary 3.2 of Baker et al. (2018), with the errata, against simulation and against each other."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from orthodrome.dynamics.cir import cir_mean, cir_variance, scir_log_mgf, scir_variance
from orthodrome.kernels.transition import cir_transition

THETA, SHAPE, STEP, NUM_STEPS, BATCH, ROWS, SHARE = 50.0, 800.1, 0.1, 30, 10, 1000, 0.8
ESTIMATE_VARIANCE = (ROWS / BATCH) ** 2 * BATCH * SHARE * (1 - SHARE)


def test_the_example_of_the_errata() -> None:
    assert float(cir_mean(THETA, SHAPE, NUM_STEPS * STEP)) == pytest.approx(762.75, abs=0.01)
    found = scir_variance(THETA, SHAPE, STEP, NUM_STEPS, ESTIMATE_VARIANCE)
    assert float(found) == pytest.approx(1524.5, abs=0.1)


@pytest.mark.slow
def test_the_example_by_simulation() -> None:
    """A run of 200,000 chains sees 0.35 in the mean (0.9 % of a standard deviation) and 1.3 % in the variance."""
    size, rng = 200_000, np.random.default_rng(0)
    state = np.full(size, np.log(THETA))
    for step in range(NUM_STEPS):
        estimates = 0.1 + ROWS / BATCH * rng.binomial(BATCH, SHARE, size)
        state = cir_transition(step, state, estimates, STEP)
    draws = np.exp(state)
    assert abs(draws.mean() - 762.75) < 4 * np.sqrt(1524.5 / size)
    assert abs(draws.var() / 1524.5 - 1) < 4 * np.sqrt(2 / size)
    without_noise = float(cir_variance(THETA, SHAPE, NUM_STEPS * STEP))
    assert abs(draws.var() / without_noise - 1) > 0.5  # the control: the variance of the exact process is another


def test_the_generating_function_gives_the_moments(x64: None) -> None:
    shapes = jnp.full(4, 2.5)
    log_mgf = lambda s: scir_log_mgf(s, 1.5, shapes, 0.3)
    assert float(log_mgf(0.0)) == 0
    assert float(jax.grad(log_mgf)(0.0)) == pytest.approx(float(cir_mean(1.5, 2.5, 1.2)), rel=1e-12)
    second = jax.grad(jax.grad(log_mgf))(0.0)
    assert float(second) == pytest.approx(float(cir_variance(1.5, 2.5, 1.2)), rel=1e-12)


def test_the_last_estimate_belongs_to_the_first_factor(x64: None) -> None:
    """Unequal estimates: simulation agrees with the corrected theorem, and not with the printed order."""
    shapes, size, s = np.array([0.2, 3.0, 9.0]), 400_000, -0.7
    state = np.full(size, np.log(0.5))
    for step, shape in enumerate(shapes):
        state = cir_transition(40 + step, state, shape, 0.4)
    values = np.exp(s * np.exp(state))
    error = values.std() / np.sqrt(size)
    assert abs(values.mean() - np.exp(scir_log_mgf(s, 0.5, jnp.asarray(shapes), 0.4))) < 4 * error
    assert abs(values.mean() - np.exp(scir_log_mgf(s, 0.5, jnp.asarray(shapes[::-1]), 0.4))) > 40 * error
