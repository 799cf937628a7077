"""Claims of the models from minibatches say why they fail, and their timings take turns."""

from __future__ import annotations

import numpy as np

from orthodrome.experiments.support.claims.claim import Claim
from orthodrome.experiments.support.minibatches import matrices, network


def test_cases_that_are_timed_take_turns() -> None:
    called: list[str] = []
    found = network.seconds({name: lambda name=name: called.append(name) for name in ("one", "two")})  # type: ignore[misc]
    assert called == ["one", "two"] * (1 + network.REPEATS)
    assert set(found) == {"one", "two"} and all(0 <= value < np.inf for value in found.values())


def test_intervals_that_do_not_cover_say_where() -> None:
    spread = np.linspace(1, 2, 300)
    covered = spread < 1.5
    held = Claim("cover", "", None, 0.9, True)
    assert matrices.explained(held, covered, spread) is held
    why = matrices.explained(Claim("cover", "", None, 0.5, False), covered, spread).why
    assert "vary least the intervals cover 1.00" in why and "vary most 0.00" in why
