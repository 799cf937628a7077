"""Frames two columns at a time: frames stay frames, other spaces are refused."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
import pytest

from orthodrome.errors import BadInput, Unsupported
from orthodrome.gradients.full import FullGradient
from orthodrome.manifolds import Sphere, Stiefel
from orthodrome.run import sample
from orthodrome.samplers.exact import column_pairs
from orthodrome.samplers.exact.column_pairs import ColumnPairs
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


def test_other_spaces_are_refused() -> None:
    with pytest.raises(Unsupported, match="GeodesicHMC"):
        sampler = ColumnPairs(FullGradient(Target(Sphere(), lambda x: x[0])), 0.1)
        sample(sampler, np.array([1, 0, 0], np.float32), seed=0, num_draws=1, progress=False)
    with pytest.raises(BadInput, match="p >= 2"):
        sampler = ColumnPairs(FullGradient(Target(Stiefel(), lambda x: x[0, 0])), 0.1)
        sample(sampler, np.eye(3, 1, dtype=np.float32), seed=0, num_draws=1, progress=False)
