"""The network model tries several starts, keeps the best, and tempers the chains when they end in different modes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from orthodrome import NetworkEigenmodel
from orthodrome.errors import BadInput
from orthodrome.models.modes import disagree, rungs
from orthodrome.models.network import model as network_model
from orthodrome.models.network.restarts import best_starts, candidates, near_best
from orthodrome.models.network.starts import split_spectrum
from orthodrome.storage import draws


def two_blocks(m: int = 24) -> np.ndarray:
    """Nodes that are joined to the other half: a negative eigenvalue."""
    side = np.where(np.arange(m) < m // 2, 1.0, -1.0)
    upper = np.triu(np.random.default_rng(0).random((m, m)) < np.where(np.outer(side, side) < 0, 0.8, 0.1), 1)
    return (upper | upper.T).astype(float)


def test_there_is_a_candidate_for_every_number_of_positive_eigenvalues() -> None:
    tried = candidates(two_blocks(), 3, "probit", 2, 0, "float32")
    assert [int(np.sum(start["eigenvalues"] > 0)) for start in tried[:4]] == [0, 1, 2, 3]
    assert len(tried) == 6 and all(start["frame"].dtype == np.float32 for start in tried)
    for start in tried:
        np.testing.assert_allclose(start["frame"].T @ start["frame"], np.eye(3), atol=1e-5)
    frame, values, _ = split_spectrum(two_blocks(), 1, "probit", 0)
    assert values[0] < 0 and np.all(np.sign(frame[:12, 0]) == np.sign(frame[0, 0]))


def test_the_best_candidates_are_kept_in_turns() -> None:
    """Of five candidates in runs of two chains those with the heights -10 and -11 are kept; -30 is far below."""
    heights = {0: -30.0, 1: -10.0, 2: -90.0, 3: -11.0, 4: -50.0}
    start = lambda i: {"frame": np.eye(4, 1), "eigenvalues": np.array([float(i)]), "intercept": np.array(0.0)}
    sizes = []

    def draw(starts: list[Any]) -> Any:
        sizes.append(len(starts))
        stacked = {name: np.stack([one[name][None] for one in starts]) for name in starts[0]}
        lp = np.array([[heights[int(one["eigenvalues"][0])]] for one in starts])
        return draws.datatree({"posterior": draws.dataset(stacked), "sample_stats": draws.dataset({"lp": lp})}, {})

    kept = lambda chains: [float(one["eigenvalues"][0]) for one in best_starts([*map(start, range(5))], draw, chains)]
    assert kept(2) == [1.0, 3.0] and sizes == [2, 2, 2]
    assert kept(12) == [1.0, 3.0] * 6 and sizes[3:] == [12]
    assert near_best(np.array([-5.0, -4.0, -9.0]), 2) == [1, 0]


def test_ctrl_c_while_starts_are_tried_ends_the_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    """It was taken for the end of one short run, and the fit went on."""
    stopped = draws.datatree({"posterior": draws.dataset({"intercept": np.zeros((4, 3))})}, {"interrupted": 1})
    monkeypatch.setattr(network_model, "sample", lambda *_, **__: stopped)
    with pytest.raises(KeyboardInterrupt):
        NetworkEigenmodel(rank=1).fit(two_blocks())


def test_chains_in_two_modes_are_drawn_again_with_tempering(monkeypatch: pytest.MonkeyPatch) -> None:
    """Once if they agree, twice if not, and never tempered if that is asked for."""
    apart, used = True, []

    def drawn(self: Any, sampler: Any, starts: Any, dims: Any, coords: Any, saving: Any) -> Any:
        used.append(type(sampler).__name__)
        level = np.array([5.0, -5.0])[:, None, None] * (apart and used[-1] != "EigenmodelTempering")
        values = level + np.random.default_rng(0).normal(size=(2, 100, 1))
        arrays = {"eigenvalues": values, "intercept": values[..., 0], "frame": np.ones((2, 100, 24, 1)) / 24**0.5}
        named = draws.dataset(arrays, dims=dims)
        return draws.datatree(
            {"posterior": named, "sample_stats": draws.dataset({"lp": values[..., 0]})}, {"interrupted": 0}
        )

    monkeypatch.setattr(network_model.NetworkEigenmodel, "drawn", drawn)
    fit = lambda **given: NetworkEigenmodel(1, restarts=0, num_chains=2, **given).fit(two_blocks())
    assert fit().tempered_ and used == ["EigenmodelHMC", "EigenmodelTempering"]
    used.clear()
    assert not fit(tempering=None).tempered_ and used == ["EigenmodelHMC"]
    used.clear()
    apart = False
    assert not fit().tempered_ and used == ["EigenmodelHMC"]


NAMES = ("eigenvalues", "intercept")


def test_rungs_grow_with_the_dimension_and_disagreement_is_more_than_slow_mixing() -> None:
    assert rungs(12) < rungs(100) <= rungs(800) == 17 and rungs(10**6) == 20
    rng = np.random.default_rng(0)
    x = rng.normal(size=(2, 200, 1)) + np.array([-0.2, 0.2])[:, None, None]
    tree = lambda a: draws.datatree({"posterior": draws.dataset({"eigenvalues": a, "intercept": a[..., 0]})}, {})
    assert not disagree(tree(x), NAMES) and disagree(tree(x + np.array([-2.0, 2.0])[:, None, None]), NAMES)


def test_bad_settings_of_restarts_and_tempering() -> None:
    with pytest.raises(BadInput, match="restarts"):
        NetworkEigenmodel(1, restarts=-1).fit(two_blocks())
    with pytest.raises(BadInput, match="tempering"):
        NetworkEigenmodel(1, tempering="often").fit(two_blocks())


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1])
def test_a_mode_that_random_starts_miss_is_found(seed: int) -> None:
    """Started at attraction only, chains of a network of repulsion stay there; the default finds what is there."""
    model = NetworkEigenmodel(1, num_warmup=300, num_draws=300, random_state=seed).fit(two_blocks())
    by_chain = np.asarray(model.draws_["posterior"]["eigenvalues"].mean("draw"))
    assert np.all(by_chain < -8)
