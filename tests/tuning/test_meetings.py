"""Meetings of devices in a warm-up: when they are, what is averaged, and that a loop that goes from one to the next
does what single transitions do."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import orthodrome.run.loop as loop
from orthodrome.core.types import State
from orthodrome.gradients.minibatch import Minibatch
from orthodrome.manifolds import Euclidean, Sphere
from orthodrome.random.keys import new_key
from orthodrome.samplers import SGGMC, GeodesicHMC, GeodesicNUTS, Tempering
from orthodrome.targets import Posterior, Target
from orthodrome.tuning import tuner_for
from orthodrome.tuning.pooling import averaged_where, pooled_mean
from orthodrome.tuning.windows import EXCHANGE, MEASURE, WINDOWS, ends_window, measures, until_meeting

LENGTHS = (1, 7, 40, 100, 333, 1000, 2001)


@pytest.mark.parametrize("of", LENGTHS)
def test_there_is_a_meeting_wherever_a_part_of_the_warm_up_ends(of: int) -> None:
    ask = jax.jit(lambda step: until_meeting(step, of))
    steps, step = [], 0
    while step < of:
        left = int(ask(jnp.int32(step)))
        assert 1 <= left <= EXCHANGE
        step += left
        steps.append(step)
    assert {of} | {n for w in WINDOWS if (n := of * w // 100)} <= set(steps)
    begins = next(n for n in range(of + 1) if 100 * n >= MEASURE * of)
    assert begins in steps
    assert bool(measures(jnp.int32(begins), of)) and not bool(measures(jnp.int32(begins - 1), of))
    assert set(range(EXCHANGE, of, EXCHANGE)) <= set(steps)
    assert all(bool(ends_window(jnp.int32(n), of)) == (n in {of * w // 100 for w in WINDOWS}) for n in steps)


def over_devices(function: Callable[..., Any], *trees: Any) -> Any:
    """Return what a function of (device, chain) gives with both axes named."""
    return jax.vmap(jax.vmap(function, axis_name="chains"), axis_name="devices")(*trees)


def test_a_tree_crosses_as_one_and_has_the_means_of_its_leaves() -> None:
    rng = np.random.default_rng(1)
    tree = {"a": rng.normal(size=(3, 2, 5)).astype(np.float32), "b": (rng.normal(size=(3, 2)).astype(np.float32),)}
    mean = lambda tree: pooled_mean(tree, ("chains", "devices"))
    found = over_devices(mean, tree)
    each = jax.tree.map(lambda leaf: over_devices(mean, leaf), tree)
    jax.tree.map(np.testing.assert_array_equal, found, each)
    wanted = jax.tree.map(lambda leaf: np.broadcast_to(leaf.mean((0, 1)), leaf.shape), tree)
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6), found, wanted)
    gathers = str(jax.make_jaxpr(lambda t: over_devices(mean, t))(tree))
    assert gathers.count("concatenate") == 1  # of the leaves: one array is gathered


def test_what_is_none_stays_as_it_is() -> None:
    tree = {"shared": jnp.arange(6.0).reshape(3, 2), "own": jnp.arange(6.0).reshape(3, 2)}
    found = over_devices(lambda t: averaged_where(t | {"own": None}, t, ("devices",)), tree)
    np.testing.assert_array_equal(found["own"], tree["own"])
    np.testing.assert_allclose(found["shared"], np.broadcast_to(np.asarray(tree["shared"]).mean(0), (3, 2)))


# --- a loop from meeting to meeting -----------------------------------------------------------------------------------


def directions() -> Posterior:
    rows = np.random.default_rng(2).normal(np.array([0, 0, 2]), size=(60, 3))
    rows = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float64)
    return Posterior(Sphere(), lambda x: 0 * x[0], lambda x, row: 3 * jnp.dot(x, row), rows)


SAMPLERS: dict[str, Callable[[], Any]] = {
    "HMC": lambda: GeodesicHMC(Target(Sphere(), lambda x: 3 * x[0])),
    "NUTS": lambda: GeodesicNUTS(Target(Sphere(), lambda x: 3 * x[0])),
    "SGGMC": lambda: SGGMC(Minibatch(directions(), 10)),
    "tempering": lambda: Tempering(GeodesicHMC(Target(Euclidean(), lambda x: -jnp.sum(x**2))), num_replicas=3),
}
NUM_WARMUP, CHAINS = 80, 2


def begin(name: str) -> tuple[Any, Any, State]:
    tuner = tuner_for(SAMPLERS[name](), NUM_WARMUP, ("chains",))
    key = new_key(np.uint32(5))
    starts = jnp.asarray([[0, 0, 1], [0, 0.6, 0.8]], jnp.float64)
    init = lambda x, c: tuner.init(x, jax.random.fold_in(key, c))
    return tuner, key, jax.jit(jax.vmap(init, axis_name="chains"))(starts, jnp.arange(CHAINS))


def by_stretches(tuner: Any, key: Any, state: State, cuts: tuple[int, ...]) -> tuple[State, np.ndarray]:
    chains, draws, done = np.arange(CHAINS, dtype=np.uint32), [], 0
    for count in cuts:
        given = jax.tree.map(jnp.copy, state)  # it is given away
        numbers = np.uint32(done), np.uint32(count)
        settings = {"length": 64, "thin": 1, "mesh": None, "in_one_kernel": False}
        state, kept = loop.advance_in_warmup()(tuner, key, chains, given, *numbers, **settings)
        draws.append(np.asarray(kept.position)[:, :count])
        done += count
    return state, np.concatenate(draws, axis=1)


def by_transitions(tuner: Any, key: Any, state: State) -> tuple[State, np.ndarray]:
    def one(state: State, t: Any) -> tuple[State, Any]:
        keys = jax.vmap(lambda c: loop.chain_key(key, c, t))(jnp.arange(CHAINS, dtype=jnp.uint32))
        step = lambda key, state: (moved := tuner.step(key, state), moved[0].position)
        (state, _), positions = jax.vmap(step, axis_name="chains")(keys, state)
        return state, positions

    run = jax.jit(lambda state: jax.lax.scan(one, state, jnp.arange(NUM_WARMUP, dtype=jnp.uint32)))
    state, positions = run(state)
    return state, np.moveaxis(np.asarray(positions), 0, 1)


@pytest.mark.parametrize("name", [pytest.param(n, marks=[] if n == "HMC" else [pytest.mark.slow]) for n in SAMPLERS])
def test_a_loop_between_meetings_does_what_single_transitions_do(name: str) -> None:
    with jax.enable_x64(True):  # two programs round differently, and a chain that is tuned by what it does drifts apart
        tuner, key, state = begin(name)
        _, draws = by_stretches(tuner, key, state, (60, 20))
        _, cut = by_stretches(tuner, key, state, (1, 3, 47, 2, 27))
        _, wanted = by_transitions(tuner, key, state)
    np.testing.assert_array_equal(cut, draws)
    upto = NUM_WARMUP * WINDOWS[-1] // 100 + 16  # beyond the last window's end
    np.testing.assert_allclose(draws[:, :upto], wanted[:, :upto], atol=1e-5)
    assert len(np.unique(draws)) > NUM_WARMUP  # it moves
