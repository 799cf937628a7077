"""The experiment on theorems can fail: operations that are not linear, a wrong turn, a chain that is hotter."""

from __future__ import annotations

import types
from pathlib import Path

import jax
import numpy as np
import pytest
from scipy.linalg import expm

from orthodrome.experiments.support import contract, flows
from orthodrome.experiments.support.theory import accuracy, jumps, stationary


def test_operations_are_counted() -> None:
    """Twice the d is twice the work on a sphere; a projection by a matrix of d x d is four times the work."""
    dense = types.SimpleNamespace(
        project=lambda x, v: v - jax.numpy.outer(x, x) @ v, geodesic=lambda x, v, t: (x + t * v, v)
    )
    grown = [flows.operations(dense, (d,)) for d in flows.SIZES]
    assert (grown[2] - grown[1]) / (grown[1] - grown[0]) > 3.5
    assert all(claim.holds for claim in flows.cost_claims())


def test_turns_about_an_axis() -> None:
    a = np.array([[0.0, 0.4, -1.1], [-0.4, 0.0, 0.3], [1.1, -0.3, 0.0]])
    np.testing.assert_allclose(flows.turn(a, 0.7), expm(0.7 * a), atol=1e-14)
    assert np.max(np.abs(flows.turn(a, 0.7) - expm(-0.7 * a))) > 0.1


def test_the_stationary_law_of_the_chain(monkeypatch: pytest.MonkeyPatch) -> None:
    """It has the mass near the modes that a long run has, which is not the law's; more noise takes it farther from the
    law, a smaller step brings it nearer."""
    monkeypatch.setattr(accuracy, "COUNT", 601)
    monkeypatch.setattr(accuracy, "STEP", 0.005)
    u, exact, found = accuracy.stationary(False, 100.0)
    assert found.min() > -1e-12 and found.sum() == pytest.approx(1)
    rng, d, h = np.random.default_rng(0), accuracy.mean_strength(), accuracy.STEP
    y, seen = np.where(rng.random(4_000) < 0.5, 1.0, -1.0), []
    for t in range(1_000):
        y = y - h * d * 12 * y * (y**2 - 1) + np.sqrt(2 * h * d + 100 * (h * d) ** 2) * rng.normal(size=4_000)
        seen += [np.mean(3 * (y**2 - 1) ** 2 < accuracy.NEAR)] if t >= 300 and t % 100 == 99 else []
    mass = found[u < accuracy.NEAR].sum()
    assert np.mean(seen) == pytest.approx(mass, abs=0.012)
    assert abs(exact[u < accuracy.NEAR].sum() - mass) > 0.05
    far = accuracy.near_the_mode(False, 100.0)
    assert far > 1.5 * accuracy.near_the_mode(False, 0.0)
    monkeypatch.setattr(accuracy, "STEP", accuracy.STEP / 2)
    assert accuracy.near_the_mode(False, 100.0) < 0.7 * far


def test_the_variance_that_the_integrator_gives() -> None:
    """Against 4,000 oscillators in NumPy, within 5 standard errors."""
    rng, x, seen = np.random.default_rng(0), np.full(4_000, jumps.START), []
    for jump in range(50):
        r = rng.normal(size=4_000)
        for _ in range(jumps.EVERY):
            r = r - jumps.STEP * x
            x = x + jumps.STEP * r
        seen += [x**2] if jump >= 20 else []
    each = np.mean(seen, axis=0)
    assert abs(each.mean() - jumps.variance()) < 5 * each.std() / np.sqrt(4_000)
    assert jumps.variance() == pytest.approx(1, abs=0.005)


def test_names_are_identifiers() -> None:
    assert stationary.slug("Eq. (11), naive SGHMC") == "eq-11-naive-sghmc"


@pytest.mark.slow
def test_the_theorems(tmp_path: Path) -> None:
    """All claims hold but the one on accuracy with exact gradients, which has a reason."""
    result = contract.reproduce("recipe-theory", scale="quick", seed=0, out=tmp_path)
    failed = [claim for claim in result["claims"] if claim["holds"] is not True]
    assert [claim["id"] for claim in failed] == ["accuracy-exact"] and "Euler" in failed[0]["why"]
