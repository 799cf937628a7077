"""The contract of experiments, on a toy one; the quadrature of Fig. 4 against published values; Fig. 4 itself."""

from __future__ import annotations

import csv
import json
import sys
import types
from pathlib import Path

import numpy as np
import pytest

from orthodrome.errors import BadInput
from orthodrome.experiments import EXPERIMENTS, gmc_bvmf
from orthodrome.experiments.support import contract
from orthodrome.experiments.support.bvmf import law as bvmf_law
from orthodrome.experiments.support.bvmf import tempering as bvmf_tempering
from support.quick import quick


def toy(data: str | None = None) -> types.ModuleType:
    module = types.ModuleType("toy_experiment")

    def run(context: contract.Context) -> list[contract.Claim]:
        from orthodrome.plots.style import new_figure

        figure, axes = new_figure(1, 1, size=(2.0, 2.0))
        axes[0, 0].plot([0, 1])
        context.save_figure(figure, "figure")
        context.save_table("numbers", [{"a": 1, "b": 2.5}, {"a": 3, "b": 4.5}])
        measured = {"mean": np.float32(0.5), "bad": float("nan"), "list": np.arange(2)}
        return [contract.Claim("one", f"at {context.pick('small', 'large')} scale", 0.5, measured, True)]

    vars(module).update(NAME="toy", TITLE="a toy", PAPER="none", DATA=data, run=run)
    return module


@pytest.fixture
def registered(monkeypatch: pytest.MonkeyPatch) -> types.ModuleType:
    module = toy()
    monkeypatch.setitem(sys.modules, "toy_experiment", module)
    monkeypatch.setitem(EXPERIMENTS, "toy", "toy_experiment")
    return module


def test_everything_is_written(registered: types.ModuleType, tmp_path: Path) -> None:
    contract.reproduce("toy", scale="paper", seed=7, out=tmp_path)
    result = json.loads((tmp_path / "toy" / "result.json").read_text())
    assert set(result) == {"experiment", "scale", "seed", "seconds", "processor_seconds", "versions", "claims"}
    assert (result["experiment"], result["scale"], result["seed"]) == ("toy", "paper", 7)
    assert {"python", "jax", "orthodrome"} <= set(result["versions"])
    assert set(result["claims"][0]) == {"id", "text", "paper", "measured", "holds", "why"}
    assert result["claims"][0]["measured"] == {"mean": 0.5, "bad": None, "list": [0, 1]}
    assert "large" in result["claims"][0]["text"]
    written = {"result.json", "figure.png", "figure.svg", "numbers.csv", "_orthodrome"}
    assert {p.name for p in (tmp_path / "toy").iterdir()} == written
    assert list(csv.DictReader((tmp_path / "toy" / "numbers.csv").open()))[1] == {"a": "3", "b": "4.5"}


def test_unknown_name_and_scale(registered: types.ModuleType, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="toy"):
        contract.reproduce("nosuch", scale="quick", seed=0, out=tmp_path)
    with pytest.raises(BadInput, match="quick or paper"):
        contract.reproduce("toy", scale="tiny", seed=0, out=tmp_path)


def test_the_users_folder_is_left_alone(registered: types.ModuleType, tmp_path: Path) -> None:
    """An experiment is run again in its own folder, and refused in any other that is not empty."""
    for _ in range(2):
        contract.reproduce("toy", scale="quick", seed=0, out=tmp_path)
    (tmp_path / "mine" / "toy").mkdir(parents=True)
    (tmp_path / "mine" / "toy" / "result.json").write_text("mine")
    with pytest.raises(BadInput, match=r"holds result\.json.*--out"):
        contract.reproduce("toy", scale="quick", seed=0, out=tmp_path / "mine")
    assert [path.name for path in (tmp_path / "mine" / "toy").iterdir()] == ["result.json"]
    with pytest.raises(BadInput, match="the seed is -1"):
        contract.reproduce("toy", scale="quick", seed=-1, out=tmp_path / "new")
    assert not (tmp_path / "new").exists()


def test_data_is_asked_for_and_found(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    module = toy("a table, public at example.org")
    monkeypatch.delenv("ORTHODROME_DATA", raising=False)
    with pytest.raises(BadInput, match=r"example\.org.*--data"):
        contract.find_data(module, None)
    with pytest.raises(BadInput, match="--data"):
        contract.find_data(module, tmp_path / "missing")
    assert contract.find_data(module, tmp_path) == tmp_path
    monkeypatch.setenv("ORTHODROME_DATA", str(tmp_path))
    assert contract.find_data(module, None) == tmp_path
    assert contract.find_data(toy(), None) is None


def test_a_failed_write_leaves_the_old_result(tmp_path: Path) -> None:
    path = tmp_path / "result.json"
    contract.write_json(path, {"a": 1})
    with pytest.raises(AttributeError):
        contract.write_json(path, {"a": object()})
    assert json.loads(path.read_text()) == {"a": 1}


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_modules_keep_the_contract(name: str) -> None:
    module = contract.load(name)
    assert name == module.NAME and module.TITLE and module.PAPER
    assert module.DATA is None or isinstance(module.DATA, str)


PUBLISHED = {
    0: (0.0, 0.0127, 0.0170, 0.0260, 0.0538, 0.8905),
    40: (0.512, 0.275, 0.017, 0.026, 0.056, 0.626),
    80: (0.918, 0.845, 0.015, 0.021, 0.035, 0.084),
}


@pytest.mark.parametrize("c1", quick(PUBLISHED, 40))
def test_quadrature_agrees_with_importance_sampling(c1: int) -> None:
    """The published values have an error of about .002; the quadrature has converged to rounding."""
    moments = bvmf_law.moments(float(c1))
    np.testing.assert_allclose(list(moments.values()), PUBLISHED[c1], atol=0.002)
    np.testing.assert_allclose(list(moments.values()), list(bvmf_law.moments(float(c1), order=90).values()), atol=1e-11)
    assert sum(value for name, value in moments.items() if "^2" in name) == pytest.approx(1)


def test_switches_counts_sign_changes() -> None:
    x = np.zeros((1, 201, 5))
    x[0, :, 4] = np.where(np.arange(201) % 4 < 2, 1, -1)
    assert gmc_bvmf.switches(x) == pytest.approx(100)


def test_a_wrong_moment_does_not_hold() -> None:
    row = {"c1": 0.0, "sampler": "paper", "moment": "x1", "mean": 0.105, "mcse": 0.001, "exact": 0.1}
    assert not gmc_bvmf.moment_claim(row).holds
    assert gmc_bvmf.moment_claim(row | {"mean": 0.103}).holds


def test_mixing_claims_can_fail() -> None:
    rng = np.random.default_rng(0)
    independent = rng.normal(size=(4, 400, 5))
    stuck = np.abs(independent)
    assert not any(claim.holds for claim in gmc_bvmf.mixing_claims(gmc_bvmf.Case(40.0, independent, independent)))
    assert not any(claim.holds for claim in gmc_bvmf.mixing_claims(gmc_bvmf.Case(80.0, stuck, stuck)))
    assert all(claim.holds for claim in gmc_bvmf.mixing_claims(gmc_bvmf.Case(40.0, stuck, stuck)))


def test_balance_claims_can_fail() -> None:
    rng = np.random.default_rng(0)
    free = rng.normal(size=(4, 400, 5))
    leaning = free + np.array([0, 0, 0, 0, 0.4])
    trips = {"paper": 9, "self-tuned": 9}
    for x, holds in ((free, True), (leaning, False), (np.abs(free), False)):
        claims = bvmf_tempering.balance_claims(bvmf_tempering.TemperedCase(0.0, x, x, trips))
        assert [claim.holds for claim in claims] == [holds, holds]


@pytest.mark.slow
def test_fig_4_and_5(tmp_path: Path) -> None:
    """All claims hold at a fixed seed: each moment within 4 standard errors of quadrature, some 1 % of its sd."""
    result = contract.reproduce("gmc-bvmf", scale="quick", seed=0, out=tmp_path)
    assert len(result["claims"]) == 6 + 4 + 4 * 3 * 6
    assert [claim["id"] for claim in result["claims"] if claim["holds"] is False] == []
    names = {path.name for path in (tmp_path / "gmc-bvmf").iterdir()}
    assert names == {"result.json", "moments.csv", "traces.csv", "traces_tempered.csv"} | {
        f"figure{i}.{kind}" for i in (4, 5) for kind in ("png", "svg")
    }
