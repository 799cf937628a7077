"""What a run shows while it goes on: that it compiles, and nothing alarming before there is something to say."""

from __future__ import annotations

from typing import NamedTuple

import jax.numpy as jnp
import numpy as np
import pytest

from orthodrome import GeodesicNUTS, Sphere, Target, sample
from orthodrome.gradients import FullGradient
from orthodrome.run.progress import Lines


class Info(NamedTuple):
    acceptance_rate: np.ndarray
    diverging: np.ndarray


def bad(draws: int) -> Info:
    return Info(np.zeros((4, draws)), np.ones((4, draws), bool))


def test_one_bad_draw_of_the_warm_up_is_no_alarm() -> None:
    """The first chunk is one transition with a step that nobody has tuned: "acceptance 0.00, 4 divergences"."""
    meter = Lines()
    meter.begin("warmup", 1000, 0)
    assert meter.text() == "compiling"
    meter.update(1, bad(1))
    assert "acceptance" not in meter.text() and "divergences" not in meter.text()
    meter.update(8, bad(8))
    meter.update(11, bad(11))
    assert "acceptance 0.00" in meter.text() and "divergences" not in meter.text()


def test_divergences_of_the_draws_are_told() -> None:
    meter = Lines()
    meter.begin("warmup", 10, 0)
    meter.update(10, bad(10))
    meter.begin("draws", 30, 0)
    meter.update(25, Info(np.full((2, 25), 0.75), np.zeros((2, 25), bool)))
    assert "divergences" not in meter.text() and "acceptance 0.75" in meter.text()
    meter.update(5, Info(np.ones((2, 5)), np.eye(2, 5, dtype=bool)))
    assert "2 divergences" in meter.text() and "acceptance 1.00" in meter.text()


def test_a_run_says_that_it_compiles_before_it_does(capsys: pytest.CaptureFixture[str]) -> None:
    sampler = GeodesicNUTS(FullGradient(Target(Sphere(), jnp.sum)), 0.5, 3)
    start = np.array([1.0, 0.0, 0.0], np.float32)
    sample(sampler, start, seed=0, num_chains=1, num_warmup=2, num_draws=2)
    lines = [line.split(" ", 2)[2] for line in capsys.readouterr().err.splitlines()]
    assert lines[0] == "compiling the start" and lines[1] == "warmup 0/2: compiling"
    assert "draws 0/2: compiling" in lines and lines[-1].startswith("draws 2/2")
