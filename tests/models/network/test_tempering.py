"""Tempering of the network eigenmodel in compiled loops: every rung has its tempered law, and modes are crossed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jax
import numpy as np
import pytest
from scipy.special import expit, ndtr
from scipy.stats import ks_2samp

from orthodrome.diagnostics.evidence import log_evidence
from orthodrome.errors import BadInput
from orthodrome.models.network import tempering
from orthodrome.models.network.hmc import EigenmodelHMC, EigenmodelState, eigenmodel_hmc
from orthodrome.models.network.tempering import EigenmodelTempering, LadderState, exchanged, travelled
from orthodrome.plots import plot_ladder
from orthodrome.random.keys import DrawnSeed
from orthodrome.run import sample

NODES, RANK = 3, 2
STEPS = {"frame": 0.3, "eigenvalues": 0.5, "intercept": 1.5}
EXPONENTS = np.array([0.1, 0.3, 1.0])
TRANSITIONS = 6


def triangle() -> np.ndarray:
    edges = np.zeros((NODES, NODES))
    edges[0, 1] = edges[1, 0] = 1.0
    edges[0, 2] = edges[2, 0] = np.nan
    return edges


def exact(rng: np.random.Generator, exponent: float, link: str) -> dict[str, np.ndarray]:
    """Return a draw of the posterior to the power of the exponent: from the prior's, kept with the likelihood's."""
    law = ndtr if link == "probit" else expit
    while True:
        frame, r = np.linalg.qr(rng.normal(size=(NODES, RANK)))
        frame = frame * np.sign(np.diag(r))
        values = rng.normal(0, (NODES / exponent) ** 0.5, RANK)
        intercept = rng.normal(0, (100 / exponent) ** 0.5)
        eta = (frame * values) @ frame.T + intercept
        if rng.random() < (law(eta[0, 1]) * law(-eta[1, 2])) ** exponent:
            return {"frame": frame, "eigenvalues": values, "intercept": np.asarray(intercept)}


def seen(x: Any) -> list[float]:
    """Quantities that no relabelling of columns changes."""
    eta = (x["frame"] * x["eigenvalues"]) @ x["frame"].T
    return [float(x["intercept"]), float(np.sum(x["eigenvalues"])), eta[0, 1], eta[1, 2], eta[0, 0]]


def ladder(link: str) -> EigenmodelTempering:
    return EigenmodelTempering(eigenmodel_hmc(triangle(), link, STEPS, 4, 0, "float64"), len(EXPONENTS))


def runs(link: str, number: int, seed: int) -> tuple[np.ndarray, np.ndarray, int]:
    """Return (run, rung, quantity) of exact draws, the same after some transitions, and the exchanges there were."""
    rng, sampler, before, after, swaps = np.random.default_rng(seed), ladder(link), [], [], 0
    for i in range(number):
        places = [exact(rng, e, link) for e in EXPONENTS]
        replicas = tuple(map(sampler.replica.init, places))
        state = sampler.init(places[0])._replace(replicas=replicas, exponents=EXPONENTS)
        for t in range(TRANSITIONS):
            walker = state.walker
            state, _ = sampler.step(DrawnSeed(1_000_000 * seed + TRANSITIONS * i + t), state)
            swaps += int(np.sum(state.walker != walker)) // 2
        before.append([seen(one) for one in places])
        after.append([seen(one.position) for one in state.replicas])
    return np.array(before), np.array(after), swaps


def smallest(before: np.ndarray, after: np.ndarray) -> float:
    """Return the smallest p-value over rungs and quantities, times their number."""
    pairs = [(k, q) for k in range(before.shape[1]) for q in range(before.shape[2])]
    return min(ks_2samp(before[:, k, q], after[:, k, q]).pvalue for k, q in pairs) * len(pairs)


@pytest.mark.parametrize("link", ["probit", "logit"])
def test_every_rung_keeps_its_tempered_law(link: str) -> None:
    """Exact draws of all rungs, six transitions with exchanges: exact draws again. A third of a standard deviation in
    one of the quantities would be seen (a Kolmogorov-Smirnov distance of about .1)."""
    before, after, swaps = runs(link, 1200, 0)
    assert swaps > 1200 and smallest(before, after) > 1e-3


def test_the_test_sees_wrong_exchanges(monkeypatch: pytest.MonkeyPatch) -> None:
    """Exchanges that are always accepted, and velocities that know no temperature."""
    always = lambda exponents, heights, xp: np.zeros(exponents.size - 1)
    with monkeypatch.context() as patch:
        patch.setattr(tempering.swaps, "log_odds", always)
        before, after, _ = runs("probit", 600, 1)
        assert smallest(before, after) < 1e-6
    right = EigenmodelHMC.moved
    monkeypatch.setattr(EigenmodelHMC, "moved", lambda self, rng, state, exponent: right(self, rng, state))
    before, after, _ = runs("probit", 600, 2)
    assert smallest(before, after) < 1e-6


def test_exchanges_move_places_and_leave_what_was_learnt() -> None:
    """A replica far above its hotter neighbour's height comes up; a pair of the other parity waits for its turn."""
    rng, exponents = np.random.default_rng(0), np.array([0.2, 0.5, 1.0])
    assert exchanged(rng, exponents, np.array([0.0, -1e4, -1e4]), 0).tolist() == [1, 0, 2]
    assert exchanged(rng, exponents, np.array([-1e4, 0.0, -1e4]), 1).tolist() == [0, 2, 1]
    assert exchanged(rng, exponents, np.array([np.nan, -1e4, -1e9]), 0).tolist() == [0, 1, 2]
    sampler = ladder("probit")
    state = sampler.init(exact(rng, 1.0, "probit"))
    rungs = tuple(one._replace(scales=one.scales * k) for k, one in enumerate(state.replicas, 1))
    rungs = (rungs[0]._replace(logdensity=7.0), *rungs[1:])
    moved = tempering.settled(rungs, np.array([1, 0, 2]))
    assert moved[1].logdensity == 7.0
    for k, one in enumerate(moved, 1):
        np.testing.assert_array_equal(one.scales, state.replicas[0].scales * k)


def test_a_round_trip_ends_at_the_cold_end() -> None:
    state: LadderState = ladder("probit").init(exact(np.random.default_rng(0), 1.0, "probit"))
    trips = []
    for order in ([0, 1, 2], [1, 0, 2], [0, 2, 1], [0, 2, 1], [0, 2, 1]):
        state = travelled(state, np.array(order))
        trips.append(state.round_trips)
    assert trips == [0, 0, 1, 1, 1] and state.walker[-1] == 0


def two_modes(m: int = 20) -> np.ndarray:
    """Two groups that are joined inside; whether a column attracts or repels is told apart slowly."""
    side = np.where(np.arange(m) < m // 2, 1.0, -1.0)
    upper = np.triu(np.random.default_rng(0).random((m, m)) < np.where(np.outer(side, side) > 0, 0.8, 0.1), 1)
    return (upper | upper.T).astype(float)


def drawn(num_warmup: int = 120, **settings: Any) -> Any:
    """Draws of three chains from repulsion, where there is attraction."""
    rng = np.random.default_rng(3)
    frame = np.linalg.qr(rng.normal(size=(20, 1)))[0]
    start = {"frame": frame, "eigenvalues": np.array([-15.0]), "intercept": np.array(0.0)}
    sampler = EigenmodelTempering(eigenmodel_hmc(two_modes(), "probit", None, 6, num_warmup, "float64"), 6, 0.2)
    settings = {"num_chains": 3, "num_draws": 100, "progress": False, "check": False} | settings
    with jax.enable_x64(True):
        return sample(sampler, start, seed=0, **settings)


def test_chains_arrive_and_their_ladders_are_spaced() -> None:
    """All chains leave the lesser mode; neighbours exchange about equally often, on ladders that the chains have found
    independently of one another; plots show it, and an evidence that needs one ladder says so."""
    tree = drawn(400)
    stats = tree["sample_stats"]
    assert np.all(np.asarray(tree["posterior"]["eigenvalues"])[:, -1] > 5)
    rates = np.asarray(stats["swap_rate"]).mean(axis=(0, 1))
    assert rates.min() > 0.3 and rates.max() < 0.7
    ladders = np.asarray(stats["exponent"])[:, -1]
    geometric = 0.2 ** np.linspace(1, 0, 6)
    assert np.all(np.diff(ladders) > 0) and np.all(ladders[:, -1] == 1.0) and np.allclose(ladders[:, 0], 0.2)
    assert np.max(np.ptp(ladders, axis=0)) < 0.12 < np.max(np.abs(ladders.mean(axis=0) - geometric))
    assert stats["distance"].max() < 1e-12
    assert len(plot_ladder(tree).axes) == 4
    with pytest.raises(BadInput, match="ladders of their own"):
        log_evidence(tree)
    assert np.isfinite(log_evidence(tree.isel(chain=[0])).bridge)


def test_a_run_that_breaks_off_resumes_to_the_same_draws(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Broken off in the warm-up, and again among the draws."""
    right, taken = EigenmodelTempering.step, 0
    whole = drawn(60, num_draws=40)

    def step(self: Any, key: Any, state: Any) -> Any:
        nonlocal taken
        taken += 1
        if taken in (70, 240):
            raise RuntimeError("broken off")
        return right(self, key, state)

    monkeypatch.setattr(EigenmodelTempering, "step", step)
    again: dict[str, Any] = {"checkpoint": tmp_path / "run", "checkpoint_every": 0.0}
    for _ in range(2):
        with pytest.raises(RuntimeError, match="broken off"):
            drawn(60, num_draws=40, **again)
    resumed = drawn(60, num_draws=40, **again)
    for name in ("frame", "eigenvalues", "intercept"):
        np.testing.assert_array_equal(whole["posterior"][name], resumed["posterior"][name])
    for name in ("exponent", "walker", "round_trips"):
        np.testing.assert_array_equal(whole["sample_stats"][name], resumed["sample_stats"][name])


def test_a_replica_of_exponent_one_is_the_plain_sampler() -> None:
    """The same numbers, so that draws of untempered fits stay as they were."""
    sampler = ladder("probit").replica
    state: EigenmodelState = sampler.init(exact(np.random.default_rng(0), 1.0, "probit"))
    plain, _ = sampler.step(DrawnSeed(5), state)
    rung, _ = sampler.moved(np.random.default_rng(5), state, 1.0)
    np.testing.assert_array_equal(plain.frame, rung.frame)
    assert plain.logdensity == rung.logdensity
