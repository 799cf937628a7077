"""Mixtures of directions from minibatches of rows: a planted one, the law of all rows, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from orthodrome.errors import BadInput
from orthodrome.models.directional import Directional
from orthodrome.models.directional.model import FAMILIES


def planted(count: int, seed: int = 0) -> np.ndarray:
    """Two clusters of directions in space, of concentrations near 20, with the weights 0.3 and 0.7."""
    rng = np.random.default_rng(seed)
    centre = np.array([[1.0, 0, 0], [0, 0, 1.0]])[(rng.random(count) < 0.7).astype(int)]
    moved = centre + rng.normal(size=(count, 3)) / np.sqrt(20)
    return moved / np.linalg.norm(moved, axis=1, keepdims=True)


@pytest.mark.slow
def test_the_posterior_by_rows_is_the_one_of_all() -> None:
    """The sum over rows and the density of all rows at once differ by nothing."""
    x = planted(50)
    family = FAMILIES["mixture"]
    p = family.start(x, np.random.default_rng(0), 2)
    p = {name: np.asarray(value, np.float32) for name, value in p.items()}
    both = (make(x, 100.0, 1.5, "float32").user_logdensity(p) for make in (family.target, family.posterior))
    np.testing.assert_allclose(*(np.asarray(value) for value in both), rtol=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize("method", ["gsgnht", "sggmc"])
def test_minibatches_have_the_law_of_all_rows(method: str) -> None:
    """2,000 rows by batches of 200 and by NUTS: means within a few errors, spreads within a third."""
    x = planted(2000)
    settings: dict[str, Any] = {"num_chains": 2, "random_state": 0}
    exact = Directional("mixture", num_warmup=200, num_draws=300, **settings).fit(x)
    batches: dict[str, Any] = {"method": method, "batch_size": 200, "num_steps": 5}
    found = Directional("mixture", num_warmup=500, num_draws=600, **batches, **settings).fit(x)
    for name in ("weight", "concentration"):
        one, other = (np.asarray(model.draws_["posterior"][name], float) for model in (exact, found))
        spread = one.std(axis=(0, 1))
        assert np.all(np.abs(one.mean((0, 1)) - other.mean((0, 1))) < 0.5 * spread)
        assert np.all(np.abs(np.log(other.std(axis=(0, 1)) / spread)) < 0.35)
    assert np.all(np.sum(exact.estimate_["mean"] * found.estimate_["mean"], axis=1) > 0.9999)
    assert abs(found.score(x[:200]) - exact.score(x[:200])) < 0.01


def test_what_has_no_use_for_batches_is_refused() -> None:
    with pytest.raises(BadInput, match="any number of rows"):
        Directional("bingham", method="sggmc").fit(planted(50))
    with pytest.raises(BadInput, match="no tempering"):
        Directional("mixture", method="gsgnht", tempering=3).fit(planted(50))
    with pytest.raises(BadInput, match="batch_size"):
        Directional("mixture", method="gsgnht", batch_size=0).fit(planted(50))
