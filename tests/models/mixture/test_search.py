"""The search of a start: planted clusters are found from few and from many, and what it compares is what it says."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

from orthodrome.models.mixture import search
from orthodrome.models.mixture.components import CountRows, DenseRows, GaussianComponents
from orthodrome.models.mixture.dispensing import dispense, estimate
from orthodrome.models.mixture.gibbs import MixtureGibbs
from orthodrome.models.mixture.sampler import MixtureProblem
from orthodrome.models.mixture.settling import settle
from orthodrome.random.keys import DrawnSeed

GAUSSIAN = GaussianComponents(np.eye(2), np.zeros(2), 0.05, 4.0)


def planted(count: int, means: object, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng, means = np.random.default_rng(seed), np.asarray(means, float)
    truth = rng.integers(means.shape[0], size=count)
    return means[truth] + rng.standard_normal((count, 2)), truth


def problem(x: np.ndarray, clusters: int = 1, num_warmup: int = 10) -> MixtureProblem:
    return MixtureProblem(GAUSSIAN, DenseRows(x), 1.0, (1.0, 1.0), clusters, 60, num_warmup, x.shape[0])


def test_parts_grow_and_leave_more_than_they_take() -> None:
    assert search.sizes_of_parts(7_999) == []
    assert search.sizes_of_parts(8_000) == [4_000]
    assert search.sizes_of_parts(1_000_000) == [4_000, 16_000, 64_000, 256_000]


@pytest.mark.parametrize("clusters", [1, 50])
def test_overlapping_clusters_are_found_before_the_first_transition(
    clusters: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two pairs of neighbours whose rows mix, and a cluster alone."""
    monkeypatch.setattr(search, "FIRST_ROWS", 1_000)
    x, truth = planted(6_000, [(-8, 0), (-5.2, 0), (6, 5), (6, 8), (0, -9)])
    state = MixtureGibbs(problem(x, clusters), 5).init(None, DrawnSeed(3))
    assert np.count_nonzero(state.sizes > 30) == 5
    assert adjusted_rand_score(truth, state.labels) > 0.75


def test_no_search_without_a_warm_up_or_without_moves(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search, "FIRST_ROWS", 100)
    x, _ = planted(400, [(-8, 0), (8, 0)])
    for sampler in (MixtureGibbs(problem(x, 7, 0), 5), MixtureGibbs(problem(x, 7), None)):
        assert np.count_nonzero(sampler.init(None, DrawnSeed(1)).sizes) == 7


def test_the_search_repeats_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search, "FIRST_ROWS", 200)
    x, _ = planted(900, [(-4, 0), (4, 0)])
    first, second = (MixtureGibbs(problem(x, 5), 5).init(None, DrawnSeed(1)).labels for _ in range(2))
    np.testing.assert_array_equal(first, second)


def test_three_clusters_that_share_the_rows_of_two_become_two() -> None:
    """No two of them are one cluster, so that nothing is merged; one of them is left out.

    Labels are then as good as those drawn with the true parameters, whose odds are exp(4 x).
    """
    x, truth = planted(3_000, [(-2, 0), (2, 0)])
    labels = np.where(np.abs(x[:, 0]) < 1.2, 2, truth)
    drawn = np.random.default_rng(5).random(3_000) * (1 + np.exp(-4 * x[:, 0])) < 1
    known = adjusted_rand_score(truth, drawn)
    assert adjusted_rand_score(truth, labels) < known - 0.1
    state = MixtureGibbs(problem(x)).init({"labels": labels}, DrawnSeed(0))
    assert settle(problem(x), state, np.arange(3)) == 0
    assert dispense(np.random.default_rng(0), problem(x), state) == 1
    assert abs(adjusted_rand_score(truth, state.labels) - known) < 0.03
    assert dispense(np.random.default_rng(1), problem(x), state) == 0
    again = GAUSSIAN.statistics(DenseRows(x), np.arange(3_000), state.labels, 60)
    np.testing.assert_allclose(state.statistics, again, atol=1e-8)


def test_some_rows_of_a_table() -> None:
    table = np.random.default_rng(0).integers(0, 3, (6, 4))
    rows = np.array([4, 0, 5])
    np.testing.assert_array_equal(CountRows.of(table).take(rows).table().toarray(), table[rows])


def test_the_estimate_of_the_marginal_likelihood() -> None:
    """Of rows that are far apart only one partition counts, and the sum over all partitions is its term."""
    x = np.array([[9.0, 0.0], [9.1, 0.2], [-9.0, 0.0], [-9.2, 0.1], [-8.9, -0.1]])
    labels, alpha = np.array([0, 0, 1, 1, 1], np.int32), 1.3
    narrow = GaussianComponents(np.eye(2) * 0.05, np.zeros(2), 0.05, 8.0)
    statistics = narrow.statistics(DenseRows(x), np.arange(5), labels, 2)
    found = estimate(narrow, DenseRows(x), np.arange(5), labels, statistics, alpha)
    terms = []
    for z in itertools.product(range(5), repeat=5):
        if _first_seen(z):
            own = narrow.statistics(DenseRows(x), np.arange(5), np.array(z, np.int32), max(z) + 1)
            sizes = own[:, 0]
            law = len(sizes) * np.log(alpha) + sum(np.log(np.arange(1, n)).sum() for n in sizes)
            terms.append(law + narrow.log_marginal(own).sum())
    assert abs(found - np.logaddexp.reduce(terms)) < 0.1


def _first_seen(z: tuple[int, ...]) -> bool:
    """Whether labels are numbered in the order in which they appear."""
    return all(label <= max(z[:i], default=-1) + 1 for i, label in enumerate(z))
