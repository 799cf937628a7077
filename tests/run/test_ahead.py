"""Compiling ahead changes nothing but when a program is ready."""

from __future__ import annotations

from typing import Any

import jax
import numpy as np
import pytest

from orthodrome import GSGNHT, SGGMC, GeodesicHMC, sample
from orthodrome.gradients import FullGradient
from orthodrome.run import conduct
from orthodrome.run.setup import Plan, set_up
from orthodrome.samplers.exact.geodesic_nuts import GeodesicNUTS
from orthodrome.samplers.exact.random_walk import RandomWalk
from orthodrome.samplers.holders.tempering import Tempering
from support.run_cases import NORTH, draws, fisher, unseen

PLAN = Plan(seed=3, num_chains=2, num_warmup=100, num_draws=50, thin=1, keep_warmup=False)
KINDS = {
    "HMC": lambda law: GeodesicHMC(law),
    "HMC of a length": lambda law: GeodesicHMC(law, None, 5),
    "NUTS": lambda law: GeodesicNUTS(law),
    "walk": lambda law: RandomWalk(law),
    "tempering": lambda law: Tempering(GeodesicHMC(law), num_replicas=3),
    "tempering of set replicas": lambda law: Tempering(GeodesicHMC(law, 0.2, 3), num_replicas=3),
    "stochastic": lambda law: SGGMC(FullGradient(law)),
    "thermostat": lambda law: GSGNHT(FullGradient(law)),
}


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_the_outline_of_a_tuned_sampler_has_its_shapes(kind: Any) -> None:
    """A shape, a precision or a weak type that differed would compile the program of the draws a second time."""
    setup = set_up(kind(fisher().gradient.target), NORTH, PLAN, None)
    outline = setup.outline(setup.state)
    tuned = setup.engine.place_sampler(setup.tuned(jax.tree.map(np.array, setup.state)))
    kinds = lambda tree: [(leaf.shape, leaf.dtype, leaf.weak_type) for leaf in jax.tree.leaves(tree)]
    assert jax.tree.structure(outline) == jax.tree.structure(tuned)
    assert kinds(outline) == kinds(tuned)


@pytest.mark.slow
def test_draws_are_those_of_programs_that_are_compiled_when_they_are_called(monkeypatch: pytest.MonkeyPatch) -> None:
    ahead = draws(fisher(None, None), num_warmup=100)
    monkeypatch.setattr(conduct, "compile_ahead", lambda *_: {})
    late = draws(fisher(None, None, unseen()), num_warmup=100)
    np.testing.assert_array_equal(ahead["posterior"]["x"], late["posterior"]["x"])


def test_a_law_alone_is_drawn_with_self_tuned_hmc() -> None:
    law = fisher().gradient.target
    settings: dict[str, Any] = {"seed": 3, "num_chains": 2, "num_warmup": 100, "num_draws": 50, "progress": False}
    plain, named = sample(law, NORTH, **settings), sample(fisher(None, None), NORTH, **settings)
    assert plain.attrs["sampler"] == "GeodesicHMC"
    np.testing.assert_array_equal(plain["posterior"]["x"], named["posterior"]["x"])
