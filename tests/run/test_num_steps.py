"""The number of words of a transition: what is chosen from trials, and on a normal law of known autocorrelation."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
import pytest

from orthodrome import SGGMC, Euclidean, FullGradient, GeodesicHMC, Target
from orthodrome.errors import BadInput
from orthodrome.gradients import NoisyGradient
from orthodrome.run.num_steps import NumStepsTrial, best_trial, choose_num_steps, lag_one


def normal(x: jnp.ndarray) -> jnp.ndarray:
    return -jnp.sum(x * x) / 2


def test_autocorrelation_of_a_known_process() -> None:
    rng, x = np.random.default_rng(0), np.zeros((8, 4000, 2))
    for t in range(1, 4000):
        x[:, t] = [0.9, 0.3] * x[:, t - 1] + rng.normal(size=(8, 2))
    np.testing.assert_allclose(lag_one(x), [0.9, 0.3], atol=0.02)
    assert lag_one(np.ones((2, 10, 1)))[0] == 0


def test_the_coolest_of_the_forgetful_is_chosen() -> None:
    trials = [NumStepsTrial(1, 1.0, 0.95), NumStepsTrial(2, 1.01, 0.9), NumStepsTrial(4, 1.3, 0.4)]
    assert best_trial(trials).num_steps == 2
    assert best_trial([*trials[:2], NumStepsTrial(4, 1.02, 0.4)]).num_steps == 4


@pytest.mark.slow
def test_batches_that_are_reused_get_fewer_words() -> None:
    """With C h = 0.25 neighbouring words have an autocorrelation near 0.97; a batch for all words heats the chain."""
    gradient = NoisyGradient(FullGradient(Target(Euclidean(), normal)), 3.0, told=False)
    short = {"seed": 0, "num_chains": 64, "num_warmup": 50, "num_draws": 150, "most": 16}
    fresh = choose_num_steps(SGGMC(gradient, 0.1, 2.0), jnp.zeros(4), **short)
    reused = choose_num_steps(SGGMC(gradient, 0.1, 2.0, reuse_batch=True), jnp.zeros(4), **short)
    assert fresh.num_steps >= 8 > reused.num_steps and fresh.sampler.num_steps == fresh.num_steps
    assert fresh.trials[0].autocorrelation > 0.9 and fresh.trials[-1].autocorrelation < fresh.trials[0].autocorrelation


def test_what_has_no_words_is_refused() -> None:
    with pytest.raises(BadInput, match="no num_steps"):
        choose_num_steps(GeodesicHMC(FullGradient(Target(Euclidean(), normal)), 0.1, 3), jnp.zeros(2), seed=0)
    with pytest.raises(BadInput, match="most"):
        choose_num_steps(SGGMC(FullGradient(Target(Euclidean(), normal)), 0.1, 1.0), jnp.zeros(2), seed=0, most=0)
