"""The experiments on Liu, Zhu & Song (2016): their references are right, their claims can fail, and they hold."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from orthodrome.experiments import integrator_rates, sampler_table, sggmc_circle, sggmc_mixture
from orthodrome.experiments.support import contract, inner_steps
from orthodrome.experiments.support.toys import mode_claims, total_variation
from orthodrome.experiments.support.words.decreasing import weighted_averages
from orthodrome.experiments.support.words.linear import mean_of_average, stationary, variance_of_average, word
from orthodrome.experiments.support.words.thermostat import thermostat_bias
from orthodrome.gradients import Minibatch
from orthodrome.run.num_steps import NumStepsChoice, NumStepsTrial
from orthodrome.samplers import SGGMC


def test_averages_against_brute_force() -> None:
    m, q = word("ABOBA", 0.3)
    second, total = np.diag([4.0, 0.0]), 0.0
    for _ in range(50):
        second = m @ second @ m.T + q
        total += second[0, 0]
    assert mean_of_average(m, q, np.array([2.0, 0.0]), 50) == pytest.approx(total / 50, rel=1e-12)
    lags = [(np.linalg.matrix_power(m, k) @ stationary(m, q))[0, 0] for k in range(40)]
    brute = sum(2 * lags[abs(i - j)] ** 2 for i in range(40) for j in range(40)) / 1600
    assert variance_of_average(m, q, 40) == pytest.approx(brute, rel=1e-10)


def test_a_mirrored_set_of_data_has_the_mirrored_posterior() -> None:
    """Why the two modes weigh alike over all data; and one set leans to one of them."""
    data = sggmc_mixture.synthetic(0)
    _, truth = sggmc_mixture.grid_posterior(data)
    _, mirrored = sggmc_mixture.grid_posterior(data * [1, -1])
    np.testing.assert_allclose(mirrored, truth[::-1, ::-1], rtol=1e-9, atol=1e-15)
    assert abs(np.triu(truth, 1).sum() - np.tril(truth, -1).sum()) > 0.1


def choice(num_steps: int, *trials: tuple[int, float]) -> NumStepsChoice:
    return NumStepsChoice(None, num_steps, tuple(NumStepsTrial(count, heat, 0.9) for count, heat in trials))


def test_the_choice_of_inner_steps_holds_and_fails() -> None:
    own, shared = choice(16, (1, 1.0), (16, 1.01)), choice(1, (1, 1.0), (2, 1.2))
    assert inner_steps.judged({"own": own, "shared": shared}).holds
    assert not inner_steps.judged({"own": choice(4, (1, 1.0), (8, 1.2)), "shared": shared}).holds
    assert not inner_steps.judged({"own": own, "shared": own}).holds
    assert not inner_steps.judged({"own": own, "shared": choice(1, (1, 1.0), (2, 1.02))}).holds


def test_the_rates_give_the_settings_of_the_paper() -> None:
    gradient = Minibatch(sggmc_mixture.posterior(sggmc_mixture.synthetic(0)), 10)
    claim = lambda gamma: inner_steps.rates_claim(SGGMC(gradient), gamma, 0.1, sggmc_mixture.PRINTED)
    assert claim(5e-4).holds and not claim(5.1e-4).holds


def test_the_circle_law() -> None:
    """Two von Mises laws of weights 1 and 2 on bins; the bins of the second add up to 2/3."""
    edges = np.linspace(-np.pi, np.pi, 64)
    p = sggmc_circle.bin_probabilities(edges)
    middles = (edges[1:] + edges[:-1]) / 2
    assert p.sum() == pytest.approx(1)
    draws = np.random.default_rng(0).vonmises(0, 5, 10**6)
    upper = np.mean(draws + np.pi / 3 > 0) / 3 + 2 * np.mean(draws - np.pi / 3 > 0) / 3
    assert p[middles > 0].sum() == pytest.approx(upper, abs=0.02)
    assert total_variation(p, p) == 0


def test_claims_can_fail() -> None:
    hot = sggmc_circle.claims({True: 1.1, False: 1.1}, {True: 0.1, False: 0.01})
    assert not any(claim.holds for claim in hot)
    truth = np.full((60, 60), 1 / 3600)
    wrong = np.zeros((60, 60))
    wrong[0, 1] = 1.0
    assert not any(claim.holds for claim in sggmc_mixture.claims(truth, wrong, 1.5, 1.0, 0.5))
    assert not any(claim.holds for claim in sggmc_circle.gmc_claims(0.1, 0.5, {"GMC": 0.02, "SGGMC": 0.2}))
    flat = [{"order": "ABOBA", "steps": s, "bias": 0.1, "mean_square_error": 0.1} for s in np.geomspace(10, 1e6, 6)]
    assert not any(claim.holds for claim in integrator_rates.claims("ABOBA", flat))
    first_order = [{"order": "ABOBA", "step_size": h, "bias": h} for h in (0.4, 0.2, 0.1)]
    assert not integrator_rates.sphere_claim("ABOBA", first_order).holds
    assert not any(claim.holds for claim in sampler_table.claims("SGGMC", (False, False, None, 1.0)))


def test_a_slope_has_the_error_of_least_squares() -> None:
    x = np.geomspace(1, 1e4, 5)
    assert integrator_rates.line(x, 3 * x**-0.5) == pytest.approx((-0.5, 0), abs=1e-12)
    y = x**-0.5 * np.exp([0.1, -0.2, 0.1, 0.3, -0.1])
    coefficients, covariance = np.polyfit(np.log(x), np.log(y), 1, cov=True)
    assert integrator_rates.line(x, y) == pytest.approx((coefficients[0], covariance[0, 0] ** 0.5))


def test_places_and_weights_of_modes_hold_and_fail() -> None:
    """The exact law has its own modes; one that is turned by half a radian has them elsewhere, with other weights."""
    edges = np.linspace(-np.pi, np.pi, 64)
    truth, middles = sggmc_circle.bin_probabilities(edges), (edges[1:] + edges[:-1]) / 2
    sides = {"above": middles > 0, "below": middles < 0}
    assert all(claim.holds for claim in mode_claims("x", truth, truth, middles, sides))
    lopsided = truth * np.where(middles > 0, 2.0, 1.0)
    turned = np.roll(lopsided / lopsided.sum(), 5)
    assert not any(claim.holds for claim in mode_claims("x", truth, turned, middles, sides))
    rng = np.random.default_rng(0)
    exact = rng.vonmises(np.where(rng.random(20_000) < 1 / 3, 1, -1) * np.pi / 3, 5.0)
    assert sggmc_circle.planar_distance(exact) < 0.05 < sggmc_circle.planar_distance(exact + 0.3)


def test_grid_posterior_has_both_modes() -> None:
    edges, p = sggmc_mixture.grid_posterior(sggmc_mixture.synthetic(0))
    middles = (edges[1:] + edges[:-1]) / 2
    i, j = np.unravel_index(np.argmax(np.triu(p, 1)), p.shape)
    k, m = np.unravel_index(np.argmax(np.tril(p, -1)), p.shape)
    assert middles[i] == pytest.approx(-np.pi / 24, abs=0.15) and middles[j] == pytest.approx(np.pi / 8, abs=0.3)
    assert middles[k] == pytest.approx(np.pi / 24, abs=0.15) and middles[m] == pytest.approx(-np.pi / 8, abs=0.3)


@pytest.mark.slow
def test_rates(tmp_path: Path) -> None:
    result = contract.reproduce("integrator-rates", scale="quick", seed=0, out=tmp_path)
    assert [claim["id"] for claim in result["claims"] if not claim["holds"]] == []


@pytest.mark.slow
@pytest.mark.parametrize("name", ["sampler-table", "sggmc-circle", "sggmc-mixture"])
def test_all_claims_hold(name: str, tmp_path: Path) -> None:
    result = contract.reproduce(name, scale="quick", seed=0, out=tmp_path)
    assert [claim["id"] for claim in result["claims"] if not claim["holds"]] == []


def test_weighted_averages_are_those_of_the_chain() -> None:
    """The recursions against 100,000 chains of 30 decreasing steps of ABOBA: mean and variance within 4 errors."""
    rng, n = np.random.default_rng(0), 100_000
    x, v, total, sums = rng.normal(size=n), rng.normal(size=n), 0.0, np.zeros(n)
    for t in range(30):
        h = 0.8 * (1 + t / 10) ** -0.2
        x += h / 2 * v
        v = np.exp(-h / 2) * (np.exp(-h / 2) * v - h * x + np.sqrt(2 * h) * rng.normal(size=n))
        x += h / 2 * v
        total, sums = total + h, sums + h * x**2
    mean, variance = weighted_averages("ABOBA", 0.2, 10.0, np.array([30]), (1.0, 1.0))
    found = sums / total
    assert abs(found.mean() - mean[0]) < 4 * found.std() / np.sqrt(n)
    assert abs(found.var() - variance[0]) < 4 * variance[0] * np.sqrt(8 / n)


def test_moving_thermostats_have_their_orders() -> None:
    """ABOBA is of second order (1.8 or more) with a thermostat that moves; Euler's SGNHT of first."""
    steps = (0.1, 0.05)
    slopes = {}
    for order in ("ABOBA", "EA"):
        large, small = (thermostat_bias(order, h) for h in steps)
        slopes[order] = np.log2(large / small)
    assert slopes["ABOBA"] > 1.8 and slopes["EA"] == pytest.approx(1, abs=0.15)
