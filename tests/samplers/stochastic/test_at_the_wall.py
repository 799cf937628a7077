"""Steps that rounding would end exactly on the wall of `Positive`, where a density with a pole has no gradient."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import Array

from orthodrome.gradients import FullGradient
from orthodrome.manifolds import Positive
from orthodrome.metrics import InverseMetric
from orthodrome.metrics.divergence import ProbedDivergence
from orthodrome.samplers import SGRHMC, SGRLD
from orthodrome.samplers.stochastic.expanded_mean import weights_themselves
from orthodrome.targets import Target

SHAPE = 0.5
TARGET = Target(Positive(), lambda x: jnp.sum((SHAPE - 1) * jnp.log(x) - x))
GRADIENT = FullGradient(TARGET)
METRIC = InverseMetric(weights_themselves, None, ProbedDivergence())
SAMPLERS: dict[str, Any] = {
    "SGRLD": SGRLD(GRADIENT, METRIC, 1e-3),
    "SGRHMC": SGRHMC(GRADIENT, METRIC, 1e-3),
}


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_step_never_ends_on_the_wall(dtype: str, x64: None) -> None:
    x, v = jnp.asarray([0.25, 0.25, 0.25], dtype), jnp.asarray([-0.5, -0.25, 1.0], dtype)
    reached, direction = Positive().geodesic(x, v, jnp.asarray(0.5, dtype))
    np.testing.assert_array_equal(reached[1:], [0.125, 0.75])
    assert 0 < reached[0] < np.finfo(dtype).eps * x[0] and reached.dtype == dtype
    np.testing.assert_array_equal(direction, v)


@pytest.mark.parametrize("name", SAMPLERS)
def test_chains_go_on_from_there(name: str) -> None:
    """With a metric that vanishes at the wall every element moves on from where such a step ends, and stays finite."""
    sampler = SAMPLERS[name]
    wall = Positive().geodesic(jnp.full(8, 0.5), jnp.full(8, -0.5), jnp.ones(()))[0]

    def step(state: Any, key: Array) -> tuple[Any, Array]:
        state, _ = sampler.step(key, state)
        return state, state.position

    start = sampler.init(wall, jax.random.key(0))
    path = np.asarray(jax.jit(lambda s, k: jax.lax.scan(step, s, k)[1])(start, jax.random.split(jax.random.key(1), 20)))
    assert np.all(np.isfinite(path)) and np.all(path > 0)
    assert np.all(path[-1] > 1e-6) and np.all(path < 10)
