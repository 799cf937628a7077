"""What `diagnose` says of chains that never moved, and of chains that disagree in signs or labels only."""

from __future__ import annotations

import json
import re
from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest
import xarray

from orthodrome import GeodesicHMC, RandomWalk, Sphere, Target, diagnose, sample, summary
from orthodrome.gradients import FullGradient
from orthodrome.storage import draws

NORTH = np.array([0.0, 0.0, 1.0], np.float32)


def made_up(kind: str, values: np.ndarray, aim: float | None = None, **stats: np.ndarray) -> xarray.DataTree:
    groups = {"posterior": draws.dataset({"x": values})}
    groups["sample_stats"] = draws.dataset({"distance": np.zeros(values.shape[:2])} | stats)
    attrs: dict[str, Any] = {"manifolds": json.dumps({"x": kind})}
    return draws.datatree(groups, attrs if aim is None else attrs | {"target_acceptance": aim})


def narrow(x: Any) -> Any:
    return 1e12 * x[2]


def test_a_run_that_never_moved_is_told() -> None:
    """Acceptance 0, all draws equal, R-hat NaN: the verdict was that nothing looks wrong."""
    options: dict[str, Any] = {"seed": 0, "num_warmup": 0, "num_draws": 50, "progress": False}
    with pytest.warns(UserWarning):
        found = diagnose(sample(RandomWalk(Target(Sphere(), narrow), 0.5), NORTH, **options))
    assert not found.ok
    assert "all chains started at one point and never left it" in found.verdict
    assert "chain 0 accepts 0 of its moves, while this sampler aims at 0.35" in found.verdict


def test_one_chain_that_never_moved_and_one_number_that_never_changed() -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(4, 500, 3))
    x[2] = x[2, 0]
    assert "x: chain(s) 2 never moved" in diagnose(made_up("Euclidean", x)).verdict
    y = rng.normal(size=(4, 500, 3))
    y[..., 1] = 4.0
    assert "x: 1 of its 3 numbers never changed" in diagnose(made_up("Euclidean", y)).verdict
    assert diagnose(made_up("Affine", y)).ok  # there an equation may fix it
    assert diagnose(made_up("", y)).ok  # what a model adds to its draws


def test_divergences_of_the_warm_up_are_not_counted_with_those_of_the_draws() -> None:
    """They are part of the search for a step size; they were shown with those of the draws."""
    x = np.random.default_rng(0).normal(size=(4, 500, 3))
    none, some = np.zeros((4, 500), bool), np.arange(2_000).reshape(4, 500) % 4 == 0
    tree = made_up("Euclidean", x, diverging=none)
    tree["warmup_sample_stats"] = xarray.DataTree(draws.dataset({"diverging": some}))
    found = diagnose(tree)
    assert found.ok and found.divergences == 0
    assert str(summary(tree)) == str(summary(made_up("Euclidean", x, diverging=none)))
    assert diagnose(made_up("Euclidean", x, diverging=some)).divergences == 500


def test_numbers_that_are_not_finite_and_runs_too_short_to_judge() -> None:
    x = np.random.default_rng(0).normal(size=(4, 500, 3))
    x[1, 7, 2] = np.nan
    assert "x: 1 numbers are NaN or infinite, the first in chain 1, draw 7" in diagnose(made_up("Euclidean", x)).verdict
    assert "3 draw(s) of a chain cannot be judged" in diagnose(made_up("Euclidean", x[:, :3])).verdict


def test_acceptance_is_judged_by_what_the_sampler_aims_at() -> None:
    x, rates = np.random.default_rng(0).normal(size=(4, 1000, 1)), np.full((4, 1000), 0.15)
    assert diagnose(made_up("Euclidean", x, 0.35, acceptance_rate=rates)).ok
    assert "aims at 0.8" in diagnose(made_up("Euclidean", x, 0.8, acceptance_rate=rates)).verdict
    assert diagnose(made_up("Euclidean", x, acceptance_rate=rates / 100)).ok  # of a Gibbs sampler: any will do


def test_the_aim_is_kept_with_the_draws() -> None:
    gradient = FullGradient(Target(Sphere(), jnp.sum))
    options: dict[str, Any] = {"seed": 0, "num_chains": 1, "num_warmup": 0, "num_draws": 2, "progress": False}
    assert sample(GeodesicHMC(gradient, 0.1, 2), NORTH, **options).attrs["target_acceptance"] == 0.8


def test_labels_that_differ_are_not_told_to_draw_longer() -> None:
    """Components in another order in two of the chains."""
    x = np.array([-3.0, 0.0, 5.0]) + 0.3 * np.random.default_rng(1).normal(size=(4, 1000, 3))
    x[2:] = x[2:, :, [1, 0, 2]]
    verdict = diagnose(made_up("Euclidean", x)).verdict
    assert "same components in another order" in verdict and "draw longer" not in verdict
    vectors = np.repeat(x[..., None], 2, axis=-1) + 0.3 * np.random.default_rng(2).normal(size=(4, 1000, 3, 2))
    assert "same components in another order" in diagnose(made_up("Euclidean", vectors)).verdict


def test_chains_that_differ_a_little_are_not_said_to_hold_other_labels() -> None:
    """Two numbers about one value, which short chains have a little apart: sorting hides what is mere noise."""
    apart = 0.2 * np.array([1, -1, 0.5, -0.5])[:, None, None] * np.array([1, -1])
    values = np.random.default_rng(5).normal(size=(4, 400, 2)) + apart
    found = diagnose(made_up("Euclidean", values))
    assert 1.01 < found.variables["x"]["rhat"] < 1.1
    assert "draw longer" in found.verdict and "another order" not in found.verdict


def test_slow_signs_of_chains_that_started_together_are_no_mirror_images() -> None:
    """Every chain crosses between +m and -m, seldom: x mixes slowly, x x' well, and no chain sits anywhere."""
    rng = np.random.default_rng(3)
    x = np.array([4.0, 0.0, 0.0]) + rng.normal(size=(4, 1000, 3))
    flips = np.cumsum(rng.uniform(size=(4, 1000)) < 0.012, axis=1)
    x = x / np.linalg.norm(x, axis=-1, keepdims=True) * np.where(flips % 2, -1, 1)[..., None]
    found = diagnose(made_up("Sphere", x))
    assert found.variables["x"]["rhat"] > 1.01
    assert "mirror images" not in found.verdict and "the sign mixes more slowly" in found.verdict


def test_columns_of_frames_turned_for_themselves_are_mirror_images() -> None:
    rng = np.random.default_rng(4)
    frames, _ = np.linalg.qr(np.eye(5)[:, :2] + 0.1 * rng.normal(size=(4, 500, 5, 2)))
    frames = frames * np.sign(frames[..., [0, 1], [0, 1]])[..., None, :]
    frames[1] = frames[1] * np.array([1, -1])
    assert "mirror images" in diagnose(made_up("Stiefel", frames)).verdict


@pytest.mark.parametrize("seed", range(6))
def test_what_is_above_the_limit_is_seen_to_be(seed: int) -> None:
    """R-hat of 1.013 was told as "1.01, above 1.01"."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(4, 200, 1)) + 0.13 * np.array([-1, -1, 1, 1])[:, None, None]
    found = diagnose(made_up("Euclidean", x))
    told = re.search(r"R-hat ([0-9.]+), above 1.01", found.verdict)
    assert (told is not None) == (found.variables["x"]["rhat"] > 1.01)
    assert told is None or float(told[1]) > 1.01


def test_divergences_at_the_wall_of_a_very_small_concentration() -> None:
    """Gamma(0.02) in log coordinates: the draws are right, and shorter steps only cost more."""
    rng = np.random.default_rng(0)
    small, large = (rng.gamma(a, size=(4, 500, 1)).astype(np.float32) for a in (0.02, 2.0))
    diverging = rng.random((4, 500)) < 0.3
    wall = diagnose(made_up("LogPositive", small, diverging=diverging)).verdict
    assert "of x spread so far" in wall and "target_acceptance=0.95" in wall
    for kind, values in (("LogPositive", large), ("Positive", small)):
        assert "a smaller step size" in diagnose(made_up(kind, values, diverging=diverging)).verdict
