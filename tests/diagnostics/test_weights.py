"""Draws of runs with decreasing steps are weighted by them; all others are not."""

from __future__ import annotations

import numpy as np
import pytest
import xarray

from orthodrome.diagnostics import diagnose, summary
from orthodrome.diagnostics.convergence import ess
from orthodrome.diagnostics.weights import at_equal_times, falling_steps

CHAINS, DRAWS = 2, 400
FALLING = np.tile(0.1 * (1 + np.arange(DRAWS) / 20) ** -0.6, (CHAINS, 1))
VALUES = np.random.default_rng(0).normal(size=(CHAINS, DRAWS)) + np.linspace(0, 1, DRAWS)


def run(steps: np.ndarray, **stats: np.ndarray) -> xarray.DataTree:
    table = {name: (("chain", "draw"), values) for name, values in ({"step_size": steps} | stats).items()}
    return xarray.DataTree.from_dict(
        {"posterior": xarray.Dataset({"x": (("chain", "draw"), VALUES)}), "sample_stats": xarray.Dataset(table)}
    )


def test_averages_are_weighted_by_the_step() -> None:
    found = summary(run(FALLING))
    mean = np.average(VALUES, weights=FALLING)
    spread = np.sqrt(np.average((VALUES - mean) ** 2, weights=FALLING))
    assert float(found["x"]["mean"]) == pytest.approx(mean, abs=5e-3) and abs(mean - VALUES.mean()) > 0.1
    assert float(found["x"]["sd"]) == pytest.approx(spread, abs=5e-3)
    assert found.weighted and "weighted by their step sizes" in repr(found)


def test_effective_draws_are_those_of_the_weighted_chain() -> None:
    timed = at_equal_times(VALUES, FALLING)
    assert timed.shape == VALUES.shape
    expected = float(ess(timed[..., None])[0])
    assert diagnose(run(FALLING)).variables["x"]["ess_bulk"] == pytest.approx(expected)
    assert summary(run(FALLING))["x"].attrs["ess_bulk"] == pytest.approx(expected)


def test_other_runs_are_left_as_they_are() -> None:
    """A constant step, cycles, and exact samplers, whose draws have equal weights whatever their steps."""
    cycles = FALLING[:, np.arange(DRAWS) % 100]
    for tree in (run(np.full_like(FALLING, 0.1)), run(cycles), run(FALLING, acceptance_rate=np.ones_like(FALLING))):
        assert falling_steps(tree) is None
        assert float(summary(tree)["x"]["mean"]) == pytest.approx(VALUES.mean())
