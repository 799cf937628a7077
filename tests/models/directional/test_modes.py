"""Laws on the torus may have modes between which chains do not cross: then they are drawn again with tempering."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from orthodrome import Directional
from orthodrome.errors import BadInput
from orthodrome.storage import draws
from support.angles import grouped_angles


def test_chains_in_two_modes_are_drawn_again_with_tempering(monkeypatch: pytest.MonkeyPatch) -> None:
    used: list[str] = []

    def drawn(self: Any, sampler: Any, starts: Any, dims: Any, saving: Any) -> Any:
        used.append(type(sampler).__name__)
        level = np.array([5.0, -5.0])[:, None] * (used[-1] != "Tempering")
        values = level + np.random.default_rng(0).normal(size=(2, 100))
        arrays = {"coupling": values, "concentration": np.exp(values[..., None] / 9) + np.zeros(2)}
        arrays |= {"mean": np.broadcast_to([1.0, 0.0], (2, 100, 2, 2))}
        named = draws.dataset(arrays, dims=dims)
        stats = draws.dataset({"lp": values})
        return draws.datatree({"posterior": named, "sample_stats": stats}, {"interrupted": 0})

    monkeypatch.setattr(Directional, "drawn", drawn)
    monkeypatch.setattr(Directional, "warn_not_converged", lambda self: None)
    fit = lambda **given: Directional("cosine", num_chains=2, **given).fit(grouped_angles("two tops"))
    assert fit().tempered_ and used == ["GeodesicNUTS", "Tempering"]
    used.clear()
    assert not fit(tempering=None).tempered_ and used == ["GeodesicNUTS"]
    used.clear()
    assert fit(tempering=3).tempered_ and fit(tempering=np.int64(3)).tempered_ and used == ["Tempering"] * 2
    with pytest.raises(BadInput, match="tempering"):
        fit(tempering="often")


@pytest.mark.slow
def test_all_chains_of_the_cosine_law_find_the_better_mode() -> None:
    """Where a plain run leaves chains in different modes, the tempered one does not."""
    x = grouped_angles("two tops")
    plain = [Directional("cosine", tempering=None, random_state=seed, num_draws=300).fit(x) for seed in range(2)]
    found = [Directional("cosine", random_state=seed, num_draws=300).fit(x) for seed in range(2)]
    heights = lambda model: np.asarray(model.draws_["sample_stats"]["lp"]).mean(axis=1)
    best = max(heights(model).max() for model in plain + found)
    assert all(heights(model).min() > best - 3 for model in found)
