"""Settings per datum: eps = sqrt(gamma / N), C = rho / eps, for every sampler with stochastic gradients."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest

from orthodrome.errors import BadInput, Unsupported
from orthodrome.gradients import FullGradient, Minibatch
from orthodrome.manifolds import Euclidean
from orthodrome.metrics import InverseMetric
from orthodrome.samplers import GSGNHT, SGGMC, SGHMC, SGLD, SGNHT, SGRHMC, SGRLD, per_datum
from orthodrome.targets import Posterior, Target


def flat(x: Any, *rest: Any) -> Any:
    return 0.0 * jnp.sum(x)


BATCHES = Minibatch(Posterior(Euclidean(), flat, flat, np.zeros((400, 1))), 10)


@pytest.mark.parametrize("kind", [SGHMC, SGNHT, SGGMC, GSGNHT])
def test_samplers_with_a_friction(kind: Any) -> None:
    found = per_datum(kind(BATCHES), gamma=0.04, rho=0.1)
    assert found.step_size == pytest.approx(0.01) and found.friction == pytest.approx(10.0)
    with pytest.raises(BadInput, match="rho is None"):
        per_datum(kind(BATCHES), gamma=0.04)


def test_samplers_without_one() -> None:
    metric = InverseMetric(jnp.ones_like)
    assert per_datum(SGRHMC(BATCHES, metric), 0.04).step_size == pytest.approx(0.01)
    for sampler in (SGLD(BATCHES), SGRLD(BATCHES, metric)):
        assert per_datum(sampler, 0.04).step_size == pytest.approx(1e-4)
        with pytest.raises(BadInput, match="no friction"):
            per_datum(sampler, 0.04, rho=0.1)


def test_what_has_no_data_is_refused() -> None:
    with pytest.raises(Unsupported, match="no rows of data"):
        per_datum(SGLD(FullGradient(Target(Euclidean(), flat))), 0.1)
    with pytest.raises(BadInput, match="gamma is -1"):
        per_datum(SGLD(BATCHES), -1.0)
