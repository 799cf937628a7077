"""A run that did not converge says so, in one line; a sound, a short and an unchecked one say nothing."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

from orthodrome import GeodesicHMC, NetworkEigenmodel, Sphere, Target, sample
from orthodrome.diagnostics import convergence
from orthodrome.diagnostics.quick import quick_ess, quick_rhat
from orthodrome.diagnostics.verdict import objections
from orthodrome.errors import NotConverged

NORTH = np.array([0.0, 0.0, 1.0], np.float32)
RUN: dict[str, Any] = {"seed": 0, "num_chains": 2, "num_warmup": 0, "progress": False}


def poles(x: Any) -> Any:
    return 60 * x[2] ** 2


SAMPLER = GeodesicHMC(Target(Sphere(), poles), 0.05, 4)


def test_chains_in_two_modes_are_told() -> None:
    with pytest.warns(NotConverged, match="the run did not converge: R-hat is .* for x; `diagnose"):
        sample(SAMPLER, [NORTH, -NORTH], num_draws=200, **RUN)


def test_short_unchecked_and_sound_runs_say_nothing() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sample(SAMPLER, [NORTH, -NORTH], num_draws=50, **RUN)
        sample(SAMPLER, [NORTH, -NORTH], num_draws=200, check=False, **RUN)
        sample(GeodesicHMC(Target(Sphere(), lambda x: 2 * x[2]), 0.4, 4), NORTH, num_draws=400, **RUN)


def test_a_run_that_never_moved_is_told() -> None:
    stuck = GeodesicHMC(Target(Sphere(), lambda x: 1e4 * x[2]), 1.0, 4)
    with pytest.warns(NotConverged, match="no chain ever moved"):
        sample(stuck, NORTH, num_draws=100, **RUN)


def test_the_quick_r_hat_is_close_to_the_exact_one() -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(4, 500, 6)) + np.linspace(0, 1, 6) * np.arange(4)[:, None, None]
    np.testing.assert_allclose(quick_rhat(x), convergence.rhat(x), rtol=0.1)
    assert np.isnan(quick_rhat(np.ones((2, 100, 1)))).all()


def autoregressive(rho: float, shape: tuple[int, ...], seed: int = 0) -> np.ndarray:
    """Chains x' = rho x + noise, (chain, draw, number)."""
    noise, x = np.random.default_rng(seed).normal(size=shape), np.zeros(shape)
    for t in range(1, shape[1]):
        x[:, t] = rho * x[:, t - 1] + noise[:, t]
    return x


@pytest.mark.parametrize("rho", [-0.5, 0.0, 0.9, 0.98])
def test_the_quick_ess_is_close_to_the_exact_one(rho: float) -> None:
    x = autoregressive(rho, (4, 1000, 5))
    np.testing.assert_allclose(quick_ess(x), convergence.ess(x), rtol=0.12)


def tree_of(x: np.ndarray, stats: dict[str, Any] | None = None, **attrs: float) -> Any:
    from orthodrome.storage import draws

    groups = {"posterior": draws.dataset({"x": x}), "sample_stats": draws.dataset(stats or {"lp": x[..., 0]})}
    return draws.datatree(groups, attrs)


def test_each_objection_by_itself() -> None:
    """Few effective draws, divergences and a wrong temperature, on average and along one direction; not a sound run."""
    sound, still = autoregressive(0.0, (4, 400, 2)), np.ones((4, 400))
    assert objections(tree_of(sound)) == []
    assert any("effective draws for x" in text for text in objections(tree_of(autoregressive(0.97, (4, 1000, 1)))))
    assert objections(tree_of(sound, {"diverging": np.arange(400) % 20 + 0 * still == 0})) == [
        "5% of the draws diverged"
    ]
    heat = lambda t, **attrs: objections(tree_of(sound, {"temperature": t * still}, temperature_expected=1.0, **attrs))
    assert "heats the chain" in heat(1.5)[0] and "too cold" in heat(0.5)[0] and heat(1.1) == []
    assert "1.20 along one direction" in heat(1.0, temperature_worst=1.2, temperature_worst_error=0.03)[0]
    assert heat(1.0, temperature_worst=1.2, temperature_worst_error=0.1) == []


def test_a_model_looks_at_its_aligned_draws() -> None:
    """Two runs of a network in two modes: the eigenvalue averaged over them was a number in neither."""
    model = NetworkEigenmodel(1, num_chains=2)
    rng = np.random.default_rng(0)
    values = np.array([-5.0, 5.0])[:, None, None] + rng.normal(size=(2, 200, 1))
    from orthodrome.storage import draws

    model.draws_ = draws.datatree({"posterior": draws.dataset({"eigenvalues": values})}, {})
    with pytest.warns(NotConverged, match="R-hat is .* for eigenvalues"):
        model.warn_not_converged()
