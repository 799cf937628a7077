"""The step of SCIR that warm-up learns: as long as the share of the variance that noise may add allows."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest
from jax import Array

from orthodrome.gradients import ConjugateCounts, ConjugatePosterior
from orthodrome.manifolds import Positive
from orthodrome.run import sample
from orthodrome.samplers import SCIR
from orthodrome.tuning.diffusion_tuning import LONGEST, SHARE, steps

ROWS = np.repeat([0.0, 1.0], [150, 50]).astype("float32")
RATIO = 200**2 / 20 * ROWS.var() * (200 - 20) / (200 - 1) / 50.5
"""Var[a_hat] / a of batches of 20 without replacement."""


def row_sum(key: Array, p: Any, rows: Array) -> Array:
    return jnp.sum(rows)


def draws_with(batch_size: int, num_draws: int) -> Any:
    target = ConjugatePosterior(Positive(), 0.5, row_sum, ROWS)
    sampler = SCIR(ConjugateCounts(target, batch_size))
    return sample(sampler, np.float32(5.0), seed=0, num_chains=16, num_warmup=300, num_draws=num_draws, progress=False)


@pytest.mark.slow
def test_the_learnt_step_inflates_by_the_share() -> None:
    """Of 16 chains of 6,000 draws with learnt steps: mean without bias, temperature 1 + share."""
    draws = draws_with(20, 6_000)
    h = float(draws["sample_stats"]["step_size"].values[0, 0])
    assert np.tanh(h / 2) * RATIO == pytest.approx(SHARE, rel=0.35)  # from the last 50 transitions of 16 chains
    x = draws["posterior"]["x"].values.reshape(16, -1).astype(float)
    means = x.mean(axis=1)
    assert abs(means.mean() - 50.5) < 4.4 * means.std(ddof=1) / 4
    assert float(draws["sample_stats"]["temperature"].mean()) == pytest.approx(1 + np.tanh(h / 2) * RATIO, abs=0.02)


@pytest.mark.slow
def test_without_noise_the_step_is_the_longest() -> None:
    draws = draws_with(200, 5)
    assert float(draws["sample_stats"]["step_size"].values.min()) == pytest.approx(LONGEST, rel=1e-5)


def test_the_rule() -> None:
    """tanh(h/2) R is the share, wherever the step is below the longest."""
    h = steps(jnp.asarray([0.0, 3.0, 400.0]), jnp.asarray([1.0, 1.0, 2.0]), SHARE)
    np.testing.assert_allclose(h[0], LONGEST, rtol=1e-5)
    np.testing.assert_allclose(np.tanh(np.asarray(h[1:]) / 2) * np.array([3.0, 200.0]), SHARE, rtol=1e-4)
