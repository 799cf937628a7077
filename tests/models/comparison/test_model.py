"""Paired comparisons: the likelihood of the volleyball sets, tables of every kind, bad ones, and a small posterior."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.stats import beta

from orthodrome.errors import BadInput
from orthodrome.models.comparison import PairedComparison
from orthodrome.models.comparison.model import logdensity, logdensity_of_logs, target
from orthodrome.models.comparison.tables import conditional, marginal, read_comparisons

SETS = [("a b", "c d", 1), ("a", "b c", 2), (["d"], ["a"], 1.0)]
P = {"a": 0.4, "b": 0.3, "c": 0.2, "d": 0.1}


def log_likelihood(rows: Any, players: Any = None) -> float:
    with jax.enable_x64(True):
        data = read_comparisons(rows, players)
        law = target(data, np.ones(len(data.players)), "sphere", "float64")
        p = jnp.asarray([P[name] for name in data.players])
        return float(logdensity({"strength": p}, law.data))


def test_the_likelihood_is_the_product_of_the_rows() -> None:
    by_hand = np.log(0.7 / 1.0) + 2 * np.log(0.4 / 0.9) + np.log(0.1 / 0.5)
    assert log_likelihood(SETS) == pytest.approx(by_hand, rel=1e-12)


def test_partial_observations_of_a_multinomial() -> None:
    """Marginal: p in S. Conditional: p_x over the sum of T."""
    names = ["a", "b", "c", "d"]
    assert log_likelihood([marginal("a c", names, 3)]) == pytest.approx(3 * np.log(0.6))
    assert log_likelihood([conditional("b", "b c d", 2)], names) == pytest.approx(2 * np.log(0.3 / 0.6))
    with pytest.raises(BadInput, match="not among"):
        conditional("a", "b c")


def test_every_kind_of_table(tmp_path: Path) -> None:
    path = tmp_path / "sets.csv"
    path.write_text("winners,losers,count\na b,c d,1\na,b c,2\nd,a,1\n")
    columns = {"winners": ["a b", "a", "d"], "losers": ["c d", "b c", "a"], "count": [1, 2, 1]}
    expected = log_likelihood(SETS)
    for table in (path, str(path), columns, SETS):
        assert log_likelihood(table) == pytest.approx(expected)
    assert read_comparisons(SETS, ["d", "c", "b", "a"]).players == ("d", "c", "b", "a")
    assert read_comparisons([("p10", "p2")]).players == ("p2", "p10")


@pytest.mark.parametrize(
    ("table", "players", "words"),
    [
        ([("a b", "b c")], None, r"row 1: b plays on both sides"),
        ([("a", "b"), ("a", "x")], ["a", "b"], r"unknown players: x"),
        ([("a", "b", -1)], None, r"row 1: the count is -1"),
        ([("a", "b", "many")], None, r"not a number"),
        ([("a", "")], None, r"losers is empty"),
        ([("a a", "b")], None, r"named twice"),
        ([], None, r"no rows"),
        ([("a", "b")], ["a", "b", "a"], r"name twice"),
        ({"winner": ["a"], "losers": ["b"]}, None, r"lacks the column\(s\) winners"),
        ("missing.csv", None, r"cannot read"),
    ],
)
def test_bad_tables(table: Any, players: Any, words: str) -> None:
    with pytest.raises(BadInput, match=words):
        read_comparisons(table, players)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"concentration": 0.0}, "above 0"),
        ({"concentration": [1.0, 2.0, 3.0]}, "one for each of 2"),
        ({"space": "cube"}, "one of auto"),
        ({"method": "gibbs"}, "one of hmc"),
    ],
)
def test_bad_settings(settings: dict[str, Any], words: str) -> None:
    with pytest.raises(BadInput, match=words):
        PairedComparison(**settings).fit([("a", "b")])


def test_log_strengths_give_the_same_density_and_bear_underflow() -> None:
    data = read_comparisons(SETS)
    law = target(data, np.full(4, 0.1), "log-ratio", "float32")
    p = jnp.asarray([0.4, 0.3, 0.2, 0.1])
    np.testing.assert_allclose(
        logdensity({"strength": p}, law.data), logdensity_of_logs({"strength": jnp.log(p)}, law.data), rtol=1e-5
    )
    tiny = jnp.asarray([0.0, -300.0, -400.0, -500.0])
    value, slope = jax.value_and_grad(lambda x: logdensity_of_logs({"strength": x}, law.data))(tiny)
    assert np.isfinite(value) and np.all(np.isfinite(slope))


@pytest.fixture(scope="module")
def fitted() -> PairedComparison:
    """Two players, a beats b three times out of four: p_a ~ Beta(0.3 + 3, 0.3 + 1), exactly."""
    model = PairedComparison(0.3, num_warmup=300, num_draws=1000, random_state=1)
    return model.fit([("a", "b", 3), ("b", "a", 1)])


def test_two_players_have_a_beta_posterior(fitted: PairedComparison) -> None:
    """Mean and quartiles to 4 standard errors of some 1500 effective draws, 0.01 of probability."""
    p = fitted.draws_["posterior"]["strength"].sel(player="a").values.ravel()
    law = beta(3.3, 1.3)
    for level in (0.1, 0.25, 0.5, 0.75, 0.9):
        assert np.mean(p < law.ppf(level)) == pytest.approx(level, abs=0.04)
    assert fitted.mean_[0] == pytest.approx(law.mean(), abs=0.02)
    np.testing.assert_allclose(fitted.draws_["posterior"]["strength"].sum("player"), 1, rtol=1e-5)


def test_predictions_summary_and_picture(fitted: PairedComparison) -> None:
    from orthodrome.plots.strengths import plot_strengths

    assert fitted.predict_proba("a", "b") == pytest.approx(fitted.mean_[0], abs=1e-6)
    assert "strength" in repr(fitted.summary())
    assert len(plot_strengths(fitted).axes) == 1
    with pytest.raises(BadInput, match="unknown players: z"):
        fitted.predict_proba("a", "z")
    with pytest.raises(BadInput, match="both sides"):
        fitted.predict_proba("a", "a b")
