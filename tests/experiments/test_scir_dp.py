"""The experiment on clusters of a site's users: the authors' faults are put in, claims can fail."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import jax
import numpy as np
import pytest
import scipy.sparse

from orthodrome.experiments.scir import dp as scir_dp
from orthodrome.experiments.scir import dp_grid as scir_dp_grid
from orthodrome.experiments.support import contract
from orthodrome.experiments.support.visits.cases import SCIR, SGRLD, Curves, curves_of, one_component, run_case
from orthodrome.experiments.support.visits.faults import WrongRows, WrongSticks, with_faults
from orthodrome.models.mixture.assigning import Batch, batch_of
from orthodrome.models.mixture.components import CategoricalComponents, CountRows
from orthodrome.models.mixture.sampler import MixtureProblem, ScoreWatch
from orthodrome.models.mixture.stochastic import StochasticMixture
from orthodrome.models.mixture.updates import SimplexSCIR, SimplexSGRLD


def planted(count: int = 200) -> Any:
    """Users of two kinds, those of the second half elsewhere than those of the first."""
    rng = np.random.default_rng(0)
    rates = np.where(np.arange(count)[:, None] < count // 2, [4, 1, 0.1], [0.1, 1, 4])
    return scipy.sparse.csr_matrix(rng.poisson(rates) + np.eye(3)[1].astype(int))


def test_fault_b_counts_the_first_users_under_the_labels_of_others() -> None:
    table = planted()
    components = CategoricalComponents(0.5, (0, 3))
    problem = MixtureProblem(components, CountRows.of(table), 1.0, (1.0, 1.0), 2, 8, 0, 200)
    right = StochasticMixture(problem, SimplexSCIR(), 50, 0.1, 0.1)
    wrong = with_faults(right, "b")
    state = right.init({"labels": np.arange(200) % 2}, jax.random.key(0))
    rows, held = np.arange(120, 170), np.array([0, 1], np.int32)
    seen = wrong.estimated(state, held, batch_of(problem.data, rows))
    np.testing.assert_allclose(seen[:, 0], [100, 100])  # sizes are right
    first = table[:50].toarray()
    np.testing.assert_allclose(seen[:, 1:], 4 * np.stack([first[::2].sum(axis=0), first[1::2].sum(axis=0)]))
    found = right.estimated(state, held, Batch(rows, problem.data, rows))
    np.testing.assert_allclose(found[:, 1:].sum(axis=0), 4 * table[rows].sum(axis=0).A1)


def test_fault_c_pushes_the_second_weight_by_the_share_of_the_first() -> None:
    sticks, prior = np.log([[3.0, 1.0]]), np.array([1.0, 2.0])
    shapes, h = prior + np.array([[10.0, 20.0]]), 1e-3
    one = lambda update: np.exp(update.advance_sticks(7, sticks, shapes, prior, h))[0]
    moved, right = one(WrongSticks()), one(SimplexSGRLD())
    assert moved[0] == pytest.approx(right[0])
    assert moved[1] - right[1] == pytest.approx(-h * 30 * (0.75 - 0.25))  # -v n. instead of -(1 - v) n.


def test_only_the_faults_that_are_asked_for() -> None:
    problem = MixtureProblem(CategoricalComponents(0.5, (0, 3)), CountRows.of(planted()), 1.0, None, 2, 8, 0, 200)
    base = StochasticMixture(problem, SimplexSGRLD(), 50, 0.1, 0.2)
    kinds = {f: (type(s := with_faults(base, f)).__name__, type(s.update).__name__) for f in ("b", "c", "bc")}
    wrong = WrongSticks.__name__
    assert kinds["b"] == (WrongRows.__name__, "SimplexSGRLD") and kinds["c"] == ("StochasticMixture", wrong)
    assert kinds["bc"] == (WrongRows.__name__, wrong)
    assert [f.name for f in dataclasses.fields(base)] == [f.name for f in dataclasses.fields(with_faults(base, "b"))]


@pytest.mark.slow
def test_a_case_finds_planted_kinds_and_fault_b_hides_them() -> None:
    """With the fault, both components are moved towards the mean of the first users."""
    visits = (planted(), planted(100))
    right = run_case(SCIR._replace(clusters=2, steps=(0.5, 0.5)), visits, 60, 2, 0)
    assert right.scores.shape == (2, 60) and right.at[-1] == 60 and np.isfinite(right.scores).all()
    assert right.last.mean() < one_component(visits) - 0.3


def curves(last: float, clusters: float, first: float = 12.0) -> Curves:
    at = np.arange(1, 21)
    lines = np.stack([np.linspace(first, last + 0.01 * seed, 20) for seed in range(2)])
    return Curves(at, lines, np.full((2, 20), clusters), np.ones(2))


def test_claims_can_fail() -> None:
    found = dict.fromkeys([*scir_dp.DRAWN, *scir_dp.BESIDE, "Gibbs", "Gibbs, splits and merges"], curves(11.0, 20))
    holds = lambda claims: {claim.id: claim.holds for claim in claims}
    seen = holds(scir_dp.paper_claims(found)) | holds(scir_dp.fault_claims(found, 11.9))
    assert not any(seen.values())
    found |= {"SGRLD": curves(11.9, 60, 11.0), "SGRLD, faults b, c": curves(13, 90, 12), "SCIR": curves(11.5, 20)}
    seen = holds(scir_dp.paper_claims(found)) | holds(scir_dp.reference_claims(found, 11.7))
    assert seen["scir-lower"] and seen["worsens"] and seen["more-clusters"] and not seen["near-gibbs"]
    assert not seen["one-component"]
    fixed = {"SGRLD, alpha = 1": curves(11, 30), "SGRLD, alpha = 50": curves(11.2, 20)}
    fixed |= {"SGRLD, faults b, c, alpha = 1": curves(11, 20), "SGRLD, faults b, c, alpha = 50": curves(9.0, 30)}
    assert list(holds(scir_dp.concentration_claims(fixed)).values()) == [True, True, False, False]
    row = {"prior": 1.0, "step": 1.0, "clusters": 3.0, "standard_error": 0.0}
    scores = ((11.0, False), (11.2, True))
    rows = [row | {"method": m, "score": s, "authors": a} for m in scir_dp_grid.BASE for s, a in scores]
    assert not any(claim.holds for claim in scir_dp_grid.claims(rows))


def test_the_curves_are_those_of_the_looks() -> None:
    xarray = pytest.importorskip("xarray")
    score = np.arange(10.0)[None]
    stats = lambda part: xarray.Dataset({name: (("chain", "draw"), part) for name in ("score", "num_clusters")})
    posterior = xarray.Dataset({"concentration": (("chain", "draw"), [[2.0]])})
    groups = {"warmup_sample_stats": stats(score[:, :9]), "sample_stats": stats(score[:, 9:]), "posterior": posterior}
    seen = curves_of(xarray.DataTree.from_dict(groups), ScoreWatch(None, 4, 10), 10)
    np.testing.assert_array_equal(seen.at, [4, 8, 10])
    np.testing.assert_array_equal(seen.scores, [[-3, -7, -9]])
    assert SGRLD.steps[1] == 5 * SGRLD.steps[0]


@pytest.mark.slow
def test_quick_scale(tmp_path: Path) -> None:
    """On planted users in the place of the data."""
    folder = tmp_path / "msweb"
    folder.mkdir()
    for part, count in (("train", 2000), ("test", 100)):
        scipy.sparse.save_npz(folder / f"{part}.npz", planted(count))
    for name in ("scir-dp", "scir-dp-grid"):
        result = contract.reproduce(name, scale="quick", seed=0, out=tmp_path / "out", data=tmp_path)
        assert len(result["claims"]) > 2
    assert (tmp_path / "out" / "scir-dp" / "figure3b.png").exists()
