"""`DirichletProcessMixture` as an estimator: planted clusters, every method, resume, streams, bad input, checks."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse
from sklearn.metrics import adjusted_rand_score
from sklearn.utils.estimator_checks import check_estimator

from orthodrome import DirichletProcessMixture
from orthodrome.errors import BadInput, CheckpointError, OrthodromeWarning
from orthodrome.kernels.threads.computing import computing
from orthodrome.models.mixture import reading
from orthodrome.models.mixture.components.sphere import draw_directions
from orthodrome.models.mixture.defaults import UPDATES

QUICK: dict[str, Any] = {"num_warmup": 30, "num_draws": 8, "thin": 1, "n_jobs": 1, "random_state": 0}
TRUTH = np.arange(120) % 3


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    with computing(1):
        yield


def planted(family: str, truth: np.ndarray = TRUTH, seed: int = 0) -> Any:
    """Return rows of three clusters that are well apart."""
    rng = np.random.default_rng(seed)
    if family == "gaussian":
        return np.array([[0.0, 0], [8, 0], [0, 8]])[truth] + rng.standard_normal((truth.size, 2))
    if family == "vmf":
        return draw_directions(rng, np.eye(3)[truth], np.full(truth.size, 40.0))
    p = np.kron(np.eye(3), np.full(3, 0.3)) + 0.1 / 9
    if family == "multinomial":
        return scipy.sparse.csr_matrix(rng.multinomial(20, p[truth] / p[truth].sum(axis=1, keepdims=True)))
    return np.where(rng.random((truth.size, 6)) < 0.9, truth[:, None], rng.integers(0, 3, (truth.size, 6)))


@pytest.fixture(scope="module")
def fitted() -> dict[str, DirichletProcessMixture]:
    return {name: DirichletProcessMixture(name, num_chains=2, **QUICK).fit(planted(name)) for name in UPDATES}


@pytest.mark.parametrize("family", UPDATES)
def test_planted_clusters_are_found(family: str, fitted: dict[str, DirichletProcessMixture]) -> None:
    model, other = fitted[family], planted(family, seed=1)
    assert adjusted_rand_score(TRUTH, model.labels_) > 0.85  # small clusters beside the planted ones are in the law
    assert adjusted_rand_score(TRUTH, model.predict(other)) > 0.85
    np.testing.assert_allclose(model.predict_proba(other).sum(axis=1), 1.0)
    assert model.predict_proba(other).shape == (120, model.n_clusters_)
    assert 3 <= np.median(model.draws_["posterior"]["num_clusters"]) <= 7
    assert np.all(np.diff(model.weights_) <= 0) and 0.9 < model.weights_.sum() <= 1
    together = model.co_clustering(other)
    same = TRUTH[:, None] == TRUTH
    assert together[same].mean() > 0.9 and together[~same].max() < 0.5
    x, labels = model.sample(40)
    assert x.shape == (40, other.shape[1] if family != "categorical" else 6) and len(np.unique(labels)) >= 3
    assert abs(model.score(x) - model.score(other)) < 3.0


@pytest.mark.parametrize(("family", "method"), [(name, method) for name in UPDATES for method in UPDATES[name]])
def test_every_method_of_minibatches_finds_them(family: str, method: str) -> None:
    settings = QUICK | {"num_warmup": 150, "batch_size": 40, "n_clusters_init": 6}
    model = DirichletProcessMixture(family, method=method, **settings).fit(planted(family))
    assert adjusted_rand_score(TRUTH, model.labels_) > 0.8


def test_densities_integrate_to_one(fitted: dict[str, DirichletProcessMixture]) -> None:
    """Of real numbers on a grid, of codes over all rows that there are, of directions by uniform points."""
    grid = np.stack(np.meshgrid(*[np.linspace(-25, 33, 150)] * 2), axis=-1).reshape(-1, 2)
    total = np.exp(fitted["gaussian"].score_samples(grid)).sum() * (58 / 149) ** 2
    assert abs(total - 1) < 0.02
    codes = np.stack(np.meshgrid(*[np.arange(3)] * 6), axis=-1).reshape(-1, 6)
    np.testing.assert_allclose(np.exp(fitted["categorical"].score_samples(codes)).sum(), 1.0, rtol=1e-6)
    points = np.random.default_rng(0).standard_normal((20_000, 3))
    points /= np.sqrt(np.sum(points**2, axis=1, keepdims=True))
    assert abs(np.exp(fitted["vmf"].score_samples(points)).mean() * 4 * np.pi - 1) < 0.1


def test_draws_are_labelled(fitted: dict[str, DirichletProcessMixture]) -> None:
    posterior = fitted["multinomial"].draws_["posterior"]
    assert dict(posterior.sizes) == {"chain": 2, "draw": 8, "component": 256, "category": 9}
    weights, counts = np.asarray(posterior["weights"]), np.asarray(posterior["num_clusters"])
    np.testing.assert_array_equal(np.count_nonzero(weights, axis=-1), counts)
    logs = np.asarray(posterior["log_probabilities"])
    np.testing.assert_allclose(np.exp(logs[weights > 0]).sum(axis=-1), 1.0)
    assert set(fitted["gaussian"].cluster_parameters_) == {"mean", "precision_root"}
    assert np.abs(fitted["gaussian"].cluster_parameters_["mean"]).max() > 6.0


def test_a_stopped_run_goes_on_to_the_same_numbers(tmp_path: Path) -> None:
    x, settings = planted("multinomial"), QUICK | {"method": "scir", "batch_size": 30}
    whole = DirichletProcessMixture("multinomial", **settings).fit(x, held_out=x[:20])
    half = DirichletProcessMixture("multinomial", **settings | {"num_draws": 2})
    half.fit(x, checkpoint=tmp_path / "run", held_out=x[:20])
    with pytest.raises(CheckpointError, match="num_draws 2 then, 8 now"):
        DirichletProcessMixture("multinomial", **settings).fit(x, checkpoint=tmp_path / "run", held_out=x[:20])
    again = DirichletProcessMixture.resume(tmp_path / "run", x, held_out=x[:20])
    first = {name: np.asarray(values)[:, :2] for name, values in whole.draws_["posterior"].data_vars.items()}
    for name, values in first.items():
        np.testing.assert_array_equal(np.asarray(again.draws_["posterior"][name]), values)
    scores = np.asarray(whole.draws_["sample_stats"]["score"])
    assert np.all(np.isfinite(scores)) and scores[0, -1] > -60.0


def test_streams() -> None:
    model = DirichletProcessMixture("multinomial", total_rows=1_200, **QUICK | {"num_warmup": 10, "num_draws": 3})
    for seed in range(15):
        model.partial_fit(planted("multinomial", seed=seed))
    assert model.n_iter_ == 15 and model.settings_.method == "scir"
    assert adjusted_rand_score(TRUTH, model.predict(planted("multinomial", seed=99))) > 0.9
    after = DirichletProcessMixture("vmf", **QUICK).fit(planted("vmf")).partial_fit(planted("vmf", seed=1))
    assert after.n_iter_ == 1 and adjusted_rand_score(TRUTH, after.predict(planted("vmf", seed=2))) > 0.9
    with pytest.raises(BadInput, match="needs all rows at once"):
        DirichletProcessMixture(method="gibbs").partial_fit(planted("gaussian"))


GOOD = np.ones((6, 3))
BAD: list[tuple[dict[str, Any], Any, str]] = [
    ({"family": "multinomial"}, GOOD - 2 * np.eye(6, 3), "row 0 has a count of -1"),
    ({"family": "multinomial"}, GOOD * np.array([[1], [1], [0], [1], [0], [1]]), "rows 2, 4 of X: all counts are 0"),
    ({"family": "multinomial"}, GOOD * 0.5, "whole counts; row 0"),
    ({"concentration": 0.0}, GOOD, "concentration is 0.0"),
    ({"concentration": -1.0}, GOOD, "concentration is -1.0"),
    ({}, np.where(np.arange(6)[:, None] == 4, np.nan, GOOD), "NaN or infinity: row 4"),
    ({"family": "vmf"}, GOOD, r"unit vectors; rows 0, 1, 2, 3, 4 and 1 more of X are not: row 0 has the length 1.732"),
    ({"family": "categorical"}, GOOD * 0.5, "codes 0, 1, 2, ...; row 0"),
    ({"family": "poisson"}, GOOD, "family is 'poisson'"),
    ({"method": "scir"}, GOOD, "method is 'scir'; with family='gaussian'"),
    ({"n_clusters_init": 9, "max_components": 4}, GOOD, "n_clusters_init is 9, more than max_components = 4"),
    ({"kappa_range": (2.0, 1.0)}, GOOD, "the first number must be the smaller one"),
    ({"degrees_of_freedom_prior": 1.0}, GOOD, "it must be above 2"),
    ({"covariance_prior": -np.eye(3)}, GOOD, "positive definite"),
    ({"num_draws": 0}, GOOD, "num_draws is 0"),
    ({"num_draws": "abc"}, GOOD, "num_draws must be a whole number, not 'abc'"),
    ({"control_variates": "yes"}, GOOD, "control_variates is 'yes'; it must be True or False"),
    ({"batch_size": 2.5}, GOOD, "batch_size must be a whole number"),
    ({"concentration": "abc"}, GOOD, "concentration is 'abc'"),
    ({"kappa_range": None}, GOOD, "kappa_range is None; it must be two positive numbers"),
    ({"method": ["gibbs"]}, GOOD, "method is"),
    ({"mean_prior": "abc"}, GOOD, "mean_prior is 'abc'; it must be an array of finite numbers"),
    ({"covariance_prior": np.eye(3) + np.eye(3, k=1)}, GOOD, "symmetric positive definite"),
    ({"random_state": "abc"}, GOOD, "random_state: "),
    ({"max_components": 10**9}, GOOD, r"50 draws take .* GiB, but the machine has .* Set a smaller max_components"),
    ({}, "abc", "X: "),
]


def malformed() -> Any:
    """Return counts with a column index that is out of range, which SciPy does not look at."""
    table = scipy.sparse.csr_matrix(np.eye(3))
    table.indices[1] = 400
    return table


BAD.append(({"family": "multinomial"}, malformed(), "X, row 1: the column index 400 is out of range for 3 columns"))


@pytest.mark.parametrize(("settings", "x", "text"), BAD)
def test_bad_input_is_refused_by_name(settings: dict[str, Any], x: Any, text: str) -> None:
    with pytest.raises(BadInput, match=text):
        DirichletProcessMixture(**settings).fit(x)


def test_codes_that_fit_did_not_see_are_refused(fitted: dict[str, DirichletProcessMixture]) -> None:
    with pytest.raises(BadInput, match="row 0, column 2 has the code 3; `fit` saw the codes 0 to 2"):
        fitted["categorical"].predict(np.array([[0, 0, 3, 0, 0, 0]]))


def test_all_pairs_of_too_many_rows_are_refused(
    fitted: dict[str, DirichletProcessMixture], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "physical_memory", lambda: 1000)
    with pytest.raises(BadInput, match=r"the pairs of 120 rows take .* pass some of the rows"):
        fitted["gaussian"].co_clustering(planted("gaussian"))


def test_a_cap_that_is_reached_is_told() -> None:
    model = DirichletProcessMixture(max_components=2, **QUICK)
    with pytest.warns(OrthodromeWarning, match=r"needed more components than max_components = 2"):
        model.fit(planted("gaussian"))
    assert model.n_clusters_ <= 2


@pytest.mark.slow
def test_scikit_learn_checks() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check_estimator(DirichletProcessMixture(num_warmup=10, num_draws=5, random_state=0, n_jobs=1))
        check_estimator(DirichletProcessMixture("multinomial", num_warmup=5, num_draws=3, random_state=0, n_jobs=1))
