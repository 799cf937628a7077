"""Matrix completion: its density against SciPy, entries of every kind, bad ones, a planted matrix, and intervals."""

from __future__ import annotations

import warnings
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.sparse
from scipy.special import digamma
from scipy.stats import gamma, lomax, norm

from orthodrome.errors import BadInput, NotConverged, OrthodromeWarning
from orthodrome.models.completion import MatrixCompletion, noises
from orthodrome.models.completion.columns import FARTHEST, as_one, each_its_own
from orthodrome.models.completion.entries import read_entries
from orthodrome.models.completion.law import SHAPE, posterior, units
from orthodrome.models.completion.starts import least_squares, starts


def planted(shape: tuple[int, int] = (60, 40), share: float = 0.5, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """A matrix of rank two about 3 with noise of standard deviation 0.5; observed entries, and the truth."""
    rng = np.random.default_rng(seed)
    truth = 3 + rng.normal(size=(shape[0], 2)) * [1.5, 1.0] @ rng.normal(size=(2, shape[1]))
    return np.where(rng.random(shape) < share, truth + 0.5 * rng.normal(size=shape), np.nan), truth


@pytest.fixture(scope="module")
def fitted() -> tuple[MatrixCompletion, np.ndarray, np.ndarray]:
    matrix, truth = planted()
    settings: dict[str, Any] = {"batch_size": 300, "num_steps": 5, "num_warmup": 500, "num_draws": 300}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotConverged)
        return MatrixCompletion(3, random_state=0, **settings).fit(matrix), matrix, truth


def test_chains_start_where_the_residuals_are_as_large_as_the_noise() -> None:
    """Least squares of six columns leave a third less; a start that fits too well is left only slowly."""
    entries = read_entries(planted((300, 40), share=0.4)[0])
    scale = units(entries, 1.0)
    found = starts(entries, 6, scale, 2, 0, "float64")
    left, values, right = least_squares(entries, entries.values - scale[0], 6, ridge=scale[1] ** 0)
    fitted = np.sum(left[entries.rows] * values * right[entries.columns], axis=1)
    assert np.std(entries.values - scale[0] - fitted) < 0.8 * 0.5
    for one in found:
        low = np.sum(one["left"][entries.rows] * one["singular_values"] * one["right"][entries.columns], axis=1)
        assert abs(float(one["noise"]) * scale[1] - 0.5) < 0.05
        assert abs(np.std(entries.values - scale[2] * low) / 0.5 - 1) < 0.1
        np.testing.assert_allclose(one["left"].T @ one["left"], np.eye(6), atol=1e-10)
    assert not np.allclose(found[0]["left"], found[1]["left"])


@pytest.mark.slow
def test_a_planted_matrix_is_found(fitted: Any) -> None:
    """Unseen entries, the noise, the mean and two of three singular values; predictions beat the least squares."""
    model, matrix, truth = fitted
    rows, columns = np.nonzero(np.isnan(matrix))
    error = np.sqrt(np.mean((model.predict(rows, columns) - truth[rows, columns]) ** 2))
    entries = read_entries(matrix)
    left, values, right = least_squares(entries, entries.values - entries.values.mean(), 3, ridge=1e-6)
    plain = np.sum(left[rows] * values * right[columns], axis=1) + entries.values.mean()
    assert error < 0.3 and error < np.sqrt(np.mean((plain - truth[rows, columns]) ** 2))
    assert abs(model.noise_ - 0.5) < 0.05
    exact = np.linalg.svd(truth - model.mean_, compute_uv=False)[:2]
    np.testing.assert_allclose(model.singular_values_[:2], exact, rtol=0.1)
    assert model.singular_values_[2] < 0.3 * exact[1]
    np.testing.assert_allclose(model.left_.T @ model.left_, np.eye(3), atol=1e-8)
    assert -model.score(matrix) < 0.55 and set(model.draws_["posterior"].data_vars) >= {"left", "right", "noise"}


@pytest.mark.slow
def test_intervals_cover(fitted: Any) -> None:
    """The intervals of 1,200 unseen entries and of new observations of them; narrower ones cover less."""
    model, matrix, truth = fitted
    rows, columns = np.nonzero(np.isnan(matrix))
    fresh = truth[rows, columns] + 0.5 * np.random.default_rng(5).normal(size=len(rows))
    for level in (0.9, 0.5):
        low, high = model.predict_interval(rows, columns, level).T
        assert abs(np.mean((low < fresh) & (fresh < high)) - level) < 0.06
    with pytest.raises(BadInput, match="probability"):
        model.predict_interval(rows, columns, 90)


@pytest.mark.slow
def test_intervals_of_the_entries_themselves_cover() -> None:
    """Over five matrices: the entries of one are few directions, whose cover varies by several per cent."""
    cover = []
    for seed in range(5):
        matrix, truth = planted(seed=seed)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", NotConverged)
            model = MatrixCompletion(3, random_state=seed, batch_size=300, num_steps=5, num_draws=600).fit(matrix)
        low, high = model.predict_interval(*np.nonzero(np.isnan(matrix)), 0.9, noise=False).T
        unseen = truth[np.isnan(matrix)]
        cover.append(np.mean((low < unseen) & (unseen < high)))
    assert abs(np.mean(cover) - 0.9) < 0.1


@pytest.mark.parametrize("prior", ["adaptive", "exponential"])
def test_the_density_is_the_model(prior: str) -> None:
    """Prior and likelihood against SciPy, up to a constant, in the user's units; the rates are integrated out."""
    with jax.enable_x64(True):
        matrix, _ = planted((7, 5), 0.7)
        entries = read_entries(matrix)
        centre, spread, unit = units(entries, 0.8)
        own = np.array([1.0, 0.5, 2.0, 1.0, 0.7])
        law, rng, found = posterior(entries, prior, 0.8, "float64", own), np.random.default_rng(0), []
        for _ in range(3):
            left, right = (np.linalg.qr(rng.normal(size=(n, 2)))[0] for n in (7, 5))
            s, sigma, mean = rng.exponential(size=2), rng.exponential(), rng.normal()
            x = {"left": left, "right": right, "singular_values": s, "noise": np.array(sigma), "mean": np.array(mean)}
            value = law.user_logdensity({name: jnp.asarray(a) for name, a in x.items()})
            fit = centre + spread * mean + ((left * s * unit) @ right.T)[entries.rows, entries.columns]
            exact = (
                norm.logpdf(entries.values, fit, sigma * own[entries.columns] * spread).sum()
                - sigma
                + norm.logpdf(mean)
            )
            if prior == "adaptive":
                exact += lomax.logpdf(s, SHAPE).sum()
            else:
                exact -= s.sum()
            found.append(float(value) - exact)
    assert np.ptp(found) < 1e-8
    rates = gamma(SHAPE).rvs(200_000, random_state=0)
    drawn = np.random.default_rng(1).exponential(1 / rates)
    assert abs(np.mean(drawn > 2) - lomax(SHAPE).sf(2)) < 0.003  # Exp(rate) with rate ~ Gamma is this law


def of_columns(seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """A matrix whose columns differ a hundredfold in scale, with one that is always 7; observed entries, and all."""
    rng = np.random.default_rng(seed)
    matrix = rng.normal(size=(80, 2)) @ rng.normal(size=(2, 30)) + 0.5 * rng.normal(size=(80, 30))
    matrix = 10 * np.arange(30) + np.geomspace(0.1, 10, 30) * matrix
    matrix[:, 3] = 7
    return np.where(rng.random(matrix.shape) < 0.6, matrix, np.nan), matrix


def test_scales_of_columns_are_those_of_their_law() -> None:
    """Columns drawn from the law of the scales: the estimates have its digamma means, and less error than their own."""
    rng = np.random.default_rng(0)
    size, n, nu, t = 4000, 6, 4.0, 3.0
    exact = t / np.sqrt(rng.chisquare(nu, size) / nu)
    matrix = 50 + 7 * rng.normal(size=size) + exact * rng.normal(size=(n, size))
    found = each_its_own(read_entries(matrix))
    posterior = np.log((np.var(matrix, axis=0) * n + nu * t**2) / 2) - digamma((n - 1 + nu) / 2)
    np.testing.assert_allclose(2 * np.log(found.scale), posterior, atol=0.1)
    off = np.log(found.scale / exact)
    assert abs(off.mean()) < 4 * off.std() / np.sqrt(size) + 0.01
    assert np.mean(off**2) < 0.8 * np.mean(np.log(np.std(matrix, axis=0, ddof=1) / exact) ** 2)
    assert np.var(found.place) < np.var(matrix.mean(axis=0))  # drawn together, as 7 and exact / sqrt(6) differ little


def test_columns_that_are_alike_share_place_and_scale() -> None:
    """Of 400 columns of one law; and of three entries that cannot say anything of their own."""
    matrix = 5 + 2 * np.random.default_rng(0).normal(size=(4, 400))
    found = each_its_own(read_entries(matrix))
    assert np.ptp(found.scale) < 0.2 and abs(found.scale.mean() - 2) < 0.1
    assert np.ptp(found.place) < 0.2 * np.ptp(matrix.mean(axis=0)) and abs(found.place.mean() - 5) < 0.2
    lonely = each_its_own(read_entries(([0, 1, 2], [0, 1, 2], [1.0, 2.0, 6.0])))
    np.testing.assert_allclose(lonely.scale, np.std([1.0, 2.0, 6.0]))


@pytest.mark.parametrize(("shift", "factor"), [(0.0, 1.0), (-3e4, 100.0)])
def test_columns_have_a_place_and_a_scale_of_their_own(shift: float, factor: float) -> None:
    """However far apart the places of the columns are, a quiet column keeps its scale; equal and no entries have one
    too, and other units of all entries are other units of the estimates."""
    matrix, _ = of_columns()
    matrix[:, 3] += 0.1  # whose mean is rounded
    matrix[:, 5] = np.nan
    with pytest.warns(OrthodromeWarning, match="column"):
        entries = read_entries(shift + factor * matrix)
    found, count = each_its_own(entries), np.sum(~np.isnan(matrix), axis=0)
    others = [j for j in range(30) if j not in (3, 5)]
    own = factor * np.nanstd(matrix[:, others], axis=0, ddof=1)
    assert np.max(np.abs(np.log(found.scale[others] / own))) < 0.15
    means = shift + factor * np.nanmean(matrix[:, others], axis=0)
    assert np.all(np.abs(found.place[others] - means) < 0.1 * own / np.sqrt(count[others]))
    assert 0 < found.scale[3] < own.min() and abs((found.place[3] - shift) / factor - 7.1) < 1e-3
    assert own.min() < found.scale[5] < own.max() and abs(found.place[5] - means.mean()) < 0.1 * np.ptp(means)
    z = found.standardised(entries)
    np.testing.assert_allclose(found.place[z.columns] + found.scale[z.columns] * z.values, entries.values, rtol=1e-12)
    assert as_one(entries).standardised(entries).values.tolist() == entries.values.tolist()


def test_a_column_with_one_entry_far_from_all_others_has_a_scale_that_reaches_it() -> None:
    """Of a column that is the same but for one entry, which would be thirty standard deviations away; others keep
    their scale."""
    matrix = np.random.default_rng(0).normal(size=(900, 8))
    others = each_its_own(read_entries(matrix)).scale[:7]
    matrix[:, 7] = np.arange(900) == 450
    entries = read_entries(matrix)
    found = each_its_own(entries)
    assert np.max(np.abs(found.standardised(entries).values)) < FARTHEST * (1 + 1e-12)
    assert 5 * matrix[:, 7].std() < 1 - found.place[7] == pytest.approx(FARTHEST * found.scale[7])
    np.testing.assert_allclose(found.scale[:7], others, rtol=0.05)


def test_columns_have_noises_of_their_own() -> None:
    """Columns whose noises differ fourfold about one signal; and a column of equal entries, whose noise is not zero."""
    rng = np.random.default_rng(0)
    noise = np.geomspace(0.25, 1, 40)
    matrix = rng.normal(size=(300, 2)) @ rng.normal(size=(2, 40)) + noise * rng.normal(size=(300, 40))
    matrix[:, 20] = 0
    entries = read_entries(np.where(rng.random(matrix.shape) < 0.5, matrix, np.nan))
    own = noises.each_its_own(entries, 2, 0)
    begun = starts(entries, 2, units(entries, 1.0), 1, 0, "float64", own)[0]
    found = np.log(float(begun["noise"]) * own * np.std(entries.values) / noise)
    others = np.arange(40) != 20
    assert abs(found[others].mean()) < 0.05 and np.max(np.abs(found[others])) < 0.25
    assert 0.1 < own[20] < own[others].min()
    assert np.all(noises.all_alike(entries, 2, 0) == 1)


@pytest.mark.slow
def test_intervals_follow_the_scale_of_the_columns() -> None:
    """In units of the columns, with a noise of each, intervals cover quiet and loud columns alike, wherever the columns
    are; with one noise for all they do not, even where all columns are about zero, and predictions are worse."""
    known, matrix = of_columns()
    test = np.nonzero(np.isnan(known))
    quiet, loud = test[1] < 10, test[1] >= 20
    cover, error = {}, {}
    noise = {"matrix": "shared", "columns": "columns"}
    for units_, places in (("matrix", 10 * np.arange(30)), ("columns", np.zeros(30))):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", NotConverged)
            model = MatrixCompletion(3, units=units_, noise=noise[units_], batch_size=300, num_steps=5).fit(
                known - places
            )
        low, high = model.predict_interval(*test, 0.8).T
        exact = (matrix - places)[test]
        inside = (low < exact) & (exact < high)
        cover[units_] = inside[quiet].mean(), inside[loud].mean()
        error[units_] = np.abs(model.predict(*test) - exact)[loud].mean()
    assert max(abs(np.array(cover["columns"]) - 0.8)) < 0.1, cover
    assert cover["matrix"][0] > 0.9 and cover["matrix"][1] < 0.7, cover
    assert error["columns"] < error["matrix"]


def test_entries_far_from_all_others_do_not_stop_the_chains() -> None:
    """Columns that are always the same but for one entry, in units in which these are some twenty away: with plain
    batches the learnt step is too short to move."""
    rng = np.random.default_rng(0)
    matrix = rng.normal(size=(300, 2)) @ rng.normal(size=(2, 12)) + 0.5 * rng.normal(size=(300, 12))
    matrix[:, 8:] = 0
    matrix[[3, 50, 120, 200], [8, 9, 10, 11]] = 30
    step, moved = {}, {}
    for anchored in (True, False):
        short: dict[str, Any] = {"method": "sggmc"}
        short |= {"batch_size": 180, "num_steps": 5, "num_warmup": 200, "num_draws": 60, "num_chains": 1}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", NotConverged)
            model = MatrixCompletion(2, control_variates=anchored, **short).fit(matrix)
        step[anchored] = float(model.draws_["sample_stats"]["step_size"].mean())
        moved[anchored] = float(model.draws_["posterior"]["noise"].std())
    assert step[True] > 10 * step[False] and moved[True] > 3 * moved[False], (step, moved)


def test_entries_of_every_kind() -> None:
    matrix = np.array([[1.0, np.nan], [0.0, 2.0], [np.nan, 4.0]])
    rows, columns = np.nonzero(~np.isnan(matrix))
    sparse = scipy.sparse.coo_array((matrix[rows, columns], (rows, columns)), shape=(3, 2))
    for given in (matrix, sparse, (rows, columns, matrix[rows, columns])):
        found = read_entries(given)
        np.testing.assert_array_equal(found.values, [1, 0, 2, 4])  # a stored zero is an observation
        assert found.shape == (3, 2)


BAD: dict[str, Any] = {
    "outside the 3 x 2": (([0, 3], [0, 1], [1.0, 2.0]), (3, 2)),
    "row -1": (([0, -1], [0, 1], [1.0, 2.0]), (3, 2)),
    "whole numbers": (([0.5, 1], [0, 1], [1.0, 2.0]), (3, 2)),
    "have the shapes": (([0, 1], [0], [1.0, 2.0]), (3, 2)),
    "is inf": (([0, 1], [0, 1], [1.0, np.inf]), (3, 2)),
    "no entry": (np.full((3, 2), np.nan), None),
    "all 6 entries": (np.ones((3, 2)), None),
    "not a table": ([["a", "b"]], None),
    "two dimensions": (np.arange(3.0), None),
}


@pytest.mark.parametrize("text", list(BAD))
def test_bad_entries_are_named(text: str) -> None:
    given, shape = BAD[text]
    with pytest.raises(BadInput, match=text):
        read_entries(given, shape)


@pytest.mark.parametrize(("form", "text"), [("csr", "matrix, row 1: the column index 7"), ("csc", "transposed matrix")])
def test_stored_indices_outside_the_matrix_are_named(form: str, text: str) -> None:
    table = scipy.sparse.coo_array(([1.0, 2.0, 3.0], ([0, 1, 2], [0, 1, 1])), shape=(3, 2)).asformat(form)
    table.indices = table.indices.copy()
    table.indices[1] = 7
    with pytest.raises(BadInput, match=f"the {text}.* out of range"):
        read_entries(table)


def test_repeated_entries_and_empty_rows_are_told() -> None:
    with pytest.warns(OrthodromeWarning, match="more than once, as at row 1, column 0"):
        found = read_entries(([0, 1, 1], [1, 0, 0], [1.0, 2.0, 3.0]))
    assert len(found.values) == 3
    with pytest.warns(OrthodromeWarning, match=r"1 row\(s\) have no observed entry: 2"):
        read_entries(([0, 1, 3], [1, 0, 0], [1.0, 2.0, 3.0]))
    with pytest.warns(OrthodromeWarning, match=r"1 column\(s\) have no observed entry: 2"):
        read_entries(([0, 1], [1, 0], [1.0, 2.0]), (2, 3))


@pytest.mark.parametrize(
    ("settings", "text"),
    [
        ({"rank": 0}, "rank"),
        ({"rank": 9}, "rank is 9, but the matrix is 7 x 5"),
        ({"prior": "flat"}, "prior"),
        ({"method": "nuts"}, "method"),
        ({"units": "rows"}, "units"),
        ({"scale": -1.0}, "scale"),
        ({"batch_size": 0}, "batch_size"),
        ({"control_variates": "yes"}, "control_variates"),
        ({"control_variates": True}, "set method='sggmc'"),
    ],
)
def test_bad_settings_are_refused(settings: dict[str, Any], text: str) -> None:
    with pytest.raises(BadInput, match=text):
        MatrixCompletion(**{"rank": 2, **settings}).fit(planted((7, 5), 0.7)[0])


@pytest.mark.slow
def test_places_that_are_asked_for_are_checked(fitted: Any) -> None:
    model, _, _ = fitted
    with pytest.raises(BadInput, match="outside"):
        model.predict([60], [0])
    with pytest.raises(BadInput, match="one of each"):
        model.predict([1, 2], [0])
