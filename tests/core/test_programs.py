"""A bounded number of compiled programs is kept: densities that are new at every call are let go."""

import gc

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from orthodrome import Euclidean, RandomWalk, Target, sample
from orthodrome.core import programs


def fresh_run(power):
    """A run with a density of its own; returns how many compiled programs are alive after it."""
    density = lambda x: -jnp.sum(x**2) / 2 * power
    sampler = RandomWalk(Target(Euclidean(), density), 0.5)
    sample(sampler, np.zeros(1, np.float32), seed=0, num_chains=1, num_warmup=0, num_draws=2, progress=False)
    gc.collect()
    return len(jax.devices()[0].client.live_executables())


@pytest.fixture
def few(monkeypatch):
    monkeypatch.setattr(programs, "KEPT", 2)
    programs.forget()
    yield
    programs.forget()


def test_fresh_lambdas_are_let_go(few):
    """Each used to be held, with some 10 MB of programs, for as long as the process lived."""
    alive = [fresh_run(power) for power in (1.0, 2.0, 3.0, 4.0)]
    assert alive[1] > alive[0]  # programs are kept, and counted
    assert max(alive[2:]) <= alive[1]


def test_a_program_in_use_is_not_compiled_twice(few):
    traces = []

    def density(x):
        traces.append(1)
        return -jnp.sum(x**2) / 2

    sampler = RandomWalk(Target(Euclidean(), density), 0.5)
    run = lambda seed: sample(
        sampler, np.zeros(1, np.float32), seed=seed, num_chains=1, num_warmup=0, num_draws=2, progress=False
    )
    run(0)
    once = len(traces)
    run(1)
    assert len(traces) == once


def test_other_shapes_are_other_programs(few):
    arguments = [np.zeros(n) for n in (1, 2)]
    for argument in arguments:
        programs.remember(argument)
    assert len(programs._met) == 2
    programs.remember(np.ones(1))
    assert len(programs._met) == 2
    programs.remember(np.zeros(3))
    assert len(programs._met) == 1
