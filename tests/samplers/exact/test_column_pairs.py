"""Frames two columns at a time: frames stay frames, other spaces are refused."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.special import ive

from orthodrome.errors import BadInput, Unsupported
from orthodrome.gradients.full import FullGradient
from orthodrome.manifolds import Euclidean, Product, Sphere, Stiefel
from orthodrome.run import sample
from orthodrome.samplers.exact import column_pairs
from orthodrome.samplers.exact.column_pairs import ColumnPairs
from orthodrome.samplers.holders.tempering import Tempering
from orthodrome.targets import Target
from support.registry import TARGETS
from support.truth import THRESHOLD, verdict

FRAMES = TARGETS["square-frames"]


@pytest.mark.slow
def test_an_unprojected_gradient_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(column_pairs, "_project", lambda others, y, u: 1.2 * column_pairs.PAIR.project(y, u))
    found = verdict(FRAMES, ColumnPairs(FullGradient(FRAMES.target()), 0.81, 2), 3000, "float32", num_steps=21)
    assert not np.abs(found.z).max() < 2 * THRESHOLD


def first_column(x: jnp.ndarray) -> jnp.ndarray:
    return 5 * x[0, 0] + 2 * x[1, 1] - x[3, 2]


@pytest.mark.slow
def test_a_self_tuned_run_stays_on_the_frames() -> None:
    sampler = ColumnPairs(FullGradient(Target(Stiefel(), first_column)))
    start = np.eye(6, 3, dtype=np.float32)
    draws = sample(sampler, start, seed=0, num_chains=2, num_warmup=200, num_draws=200, progress=False)
    assert draws["sample_stats"]["distance"].max() < 1e-4
    assert 0.6 < draws["sample_stats"]["acceptance_rate"].mean() < 0.98


def bilinear(x: dict[str, jnp.ndarray]) -> jnp.ndarray:
    """The first column is von Mises-Fisher given the rest, and `a` is N(0, 1) plus its pull."""
    return 3 * x["frame"][0, 0] - 0.5 * jnp.sum((x["a"] - x["frame"][0, 0]) ** 2)


BESIDE = Target(Product({"a": Euclidean(), "frame": Stiefel()}), bilinear)


@jax.jit
def chains(sampler: Any, start: Any) -> Any:
    """The means of two numbers over 40 transitions of 1,000 chains, after 20."""

    def one(i: Any) -> Any:
        move = lambda s, t: (
            s := sampler.step(jax.random.fold_in(jax.random.fold_in(KEY, i), t), s)[0],
            seen(s.position),
        )
        return jnp.mean(jax.lax.scan(move, sampler.init(start), jnp.arange(60))[1][20:], axis=0)

    return jax.vmap(one)(jnp.arange(1_000))


KEY = jax.random.key(0)


def seen(x: Any) -> Any:
    return jnp.stack([x["frame"][0, 0], x["a"]])


@pytest.mark.parametrize("tempered", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_pairs_beside_other_parameters(tempered: bool) -> None:
    """x_00 of a 4 x 3 frame is von Mises-Fisher on S^3, E x_00 = I_2(3) / I_1(3), and E a = E x_00; within 4 errors."""
    pairs = ColumnPairs(FullGradient(BESIDE), {"a": 0.9, "frame": 0.7}, 3)
    start = {"a": jnp.zeros(()), "frame": jnp.eye(4, 3)}
    found = np.asarray(chains(Tempering(pairs, (0.5, 1.0)) if tempered else pairs, start))
    error = found.std(axis=0) / np.sqrt(len(found))
    assert np.all(np.abs(found.mean(axis=0) - ive(2, 3) / ive(1, 3)) < 4 * error) and np.all(error < 0.02)


def test_a_transition_moves_two_columns_and_all_else() -> None:
    pairs = ColumnPairs(FullGradient(BESIDE), 0.1, 2)
    state = pairs.init({"a": jnp.zeros(()), "frame": jnp.eye(4, 3)})
    new, _ = jax.jit(pairs.step)(jax.random.key(1), state)
    moved = np.abs(np.asarray(new.position["frame"] - state.position["frame"])).max(axis=0)
    np.testing.assert_array_equal(moved > 0, [True, True, False])
    assert new.position["a"] != 0


def test_other_spaces_are_refused() -> None:
    with pytest.raises(Unsupported, match="GeodesicHMC"):
        sampler = ColumnPairs(FullGradient(Target(Sphere(), lambda x: x[0])), 0.1)
        sample(sampler, np.array([1, 0, 0], np.float32), seed=0, num_draws=1, progress=False)
    with pytest.raises(BadInput, match="p >= 2"):
        sampler = ColumnPairs(FullGradient(Target(Stiefel(), lambda x: x[0, 0])), 0.1)
        sample(sampler, np.eye(3, 1, dtype=np.float32), seed=0, num_draws=1, progress=False)
