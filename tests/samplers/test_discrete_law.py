"""Every unadjusted sampler has the law of its discretisation on a standard normal: exact, from `discrete_laws`.

The bias is compared with what the scheme must have, not with zero: a test that only asks for "close to the target"
could not see a wrong factor of the size of the discretisation. A position is thousands of independent copies, so that
one chain gives thousands of draws; the gradient has noise of a variance that the sampler is told.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import Array

from orthodrome.gradients import FullGradient, NoisyGradient
from orthodrome.manifolds import Euclidean
from support.quick import quick
from support.registry import SAMPLERS, Case, Law
from support.registry.construction import STRETCH

TOLERANCE = 0.02
"""Five standard errors of E x^2 from 4,000 copies at 20 times."""
BURN_IN, KEPT, EVERY = 150, 20, 10
NEARLY_EXACT = ("SGFS", "GSGNHT")
"""Their variance is right to TOLERANCE at every step: the first by design, the second by its thermostat."""
NAMES = [name for name, case in SAMPLERS.items() if case.variance]


def normal(x: Array) -> Array:
    return -0.5 * jnp.sum(x**2)


def stretched(x: Any) -> Any:
    return jax.tree.map(lambda a: jnp.full_like(a, STRETCH), x)


NORMAL = Law(Euclidean, normal, lambda rng, n: None, step=0.1, num_steps=1, walk=1.0, inverse_metric=stretched)


def sampler_of(case: Case, step_size: float) -> Any:
    kernel = case.make(NoisyGradient(FullGradient(NORMAL.target()), 2.0), NORMAL)
    return case.retuned(kernel, step_size)


def equilibrium(case: Case, sampler: Any) -> tuple[float, float]:
    """E x^2 and the mean temperature."""
    start = jax.random.normal(jax.random.key(9), (4_000 // case.copies, case.copies))
    squares, temperature = (compiled_chains if sampler.compiled else chain)(sampler, jax.random.key(0), start)
    return float(np.mean(squares)), float(np.mean(temperature))


@jax.jit
def compiled_chains(sampler: Any, key: Array, start: Array) -> tuple[Array, Array]:
    def one(i: Array, x: Array) -> tuple[Array, Array]:
        init_key, step_key = jax.random.split(jax.random.fold_in(key, i))
        move = lambda s, t: sampler.step(jax.random.fold_in(step_key, t), s)

        def some(state: Any, t: Array) -> tuple[Any, tuple[Array, Array]]:
            state, info = jax.lax.scan(move, state, EVERY * t + jnp.arange(EVERY))
            return state, (jnp.mean(state.position**2), jnp.mean(info.temperature))

        kept = jax.lax.scan(some, sampler.init(x, init_key), jnp.arange(BURN_IN // EVERY + KEPT))[1]
        return jax.tree.map(lambda a: a[BURN_IN // EVERY :], kept)

    return jax.vmap(one)(jnp.arange(len(start)), start)


def chain(sampler: Any, key: Array, start: Array) -> tuple[list, list]:
    """The same from Python, for one chain."""
    (x,) = start
    state, squares, temperature = sampler.init(x, key), [], []
    for t in range(BURN_IN + KEPT * EVERY):
        state, info = sampler.step(jax.random.fold_in(jax.random.key(1), t), state)
        if t >= BURN_IN and t % EVERY == 0:
            squares.append(np.mean(np.square(state.position)))
            temperature.append(info.temperature)
    return squares, temperature


@pytest.mark.parametrize("name", quick(NAMES, *(n for n in NAMES if n not in ("Recipe", "Scheduled"))))
def test_the_variance_is_that_of_the_scheme(name: str) -> None:
    """At two steps. Where there is a bias to see, half the step would not pass for the whole one."""
    case = SAMPLERS[name]
    for h in (case.step, case.step / 2):
        found, temperature = equilibrium(case, sampler_of(case, h))
        assert found == pytest.approx(case.variance(h), abs=TOLERANCE), (name, h)
        assert 0.7 < temperature < 1.6
    long, short = (case.variance(h) - 1 for h in (case.step, case.step / 2))
    if name not in NEARLY_EXACT:
        assert abs(long - short) > 2 * TOLERANCE
        assert np.log2(long / short) == pytest.approx(case.order, abs=0.5)
