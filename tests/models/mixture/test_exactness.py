"""Every transition of the exact samplers leaves the enumerated posterior as it is, and a wrong one is caught."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterator
from typing import Any

import jax
import numpy as np
import pytest
from scipy.stats import chi2, kstest
from tests.support.partitions import p_value, posterior

from orthodrome.kernels.threads.computing import computing
from orthodrome.models.mixture import births, split_merge, stochastic
from orthodrome.models.mixture.assigning import batch_of
from orthodrome.models.mixture.components import (
    CategoricalComponents,
    CountRows,
    DenseRows,
    GaussianComponents,
    VonMisesFisherComponents,
)
from orthodrome.models.mixture.gibbs import MixtureGibbs
from orthodrome.models.mixture.sampler import MixtureProblem
from orthodrome.models.mixture.settling import explains_both
from orthodrome.models.mixture.stochastic import StochasticMixture
from orthodrome.models.mixture.stretches import SpreadReals
from orthodrome.models.mixture.updates import SimplexSCIR
from orthodrome.models.mixture.weights import cluster_weights, size_biased

ALPHA, CAPACITY = 1.3, 40
RNG = np.random.default_rng(3)
COUNTS = CategoricalComponents(0.5, (0, 2, 5))
GAUSSIAN = GaussianComponents(np.eye(2), np.zeros(2), 0.3, 4.0)
SPHERE = VonMisesFisherComponents(3, (np.log(0.5), np.log(100.0)))
UNIT = RNG.standard_normal((4, 3))
ROWS: dict[str, tuple[Any, Any]] = {
    "counts": (COUNTS, dataclasses.replace(CountRows.of(RNG.integers(0, 3, (4, 5))), bounds=(0, 2, 5))),
    "gaussian": (GAUSSIAN, DenseRows(RNG.standard_normal((4, 2)) * 1.5)),
    "vmf": (SPHERE, DenseRows(UNIT / np.sqrt(np.sum(UNIT**2, axis=1, keepdims=True)))),
    "stretches": (GAUSSIAN, SpreadReals(np.array([[0.4, -1.0], [2.1, 0.3], [-0.5, 0.6], [1.8, 1.1]]))),
    "nothing": (CategoricalComponents(0.5, (0, 1)), CountRows.of(np.ones((4, 1)))),
}
LAWS = {name: posterior(*case, ALPHA) for name, case in ROWS.items()}


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    with computing(1):
        yield


def problem(name: str, prior: Any = None, alpha: float = ALPHA) -> MixtureProblem:
    components, data = ROWS[name]
    return MixtureProblem(components, data, alpha, prior, 1, CAPACITY, 0, data.count)


def stepped(sampler: Any, steps: int) -> Any:
    """Return a function that starts the sampler at labels and takes some transitions."""

    def after(labels: Any, replicate: int) -> Any:
        state = sampler.init({"labels": np.array(labels)}, jax.random.key(replicate))
        for i in range(steps):
            state, _ = sampler.move(replicate * steps + i + 1, state)
        return state.labels

    return after


SAMPLERS = {
    "gibbs": lambda given: MixtureGibbs(given),
    "gibbs of two rows with splits and merges": lambda given: MixtureGibbs(given, 2, 2),
    "sticks that exchange places": lambda given: StochasticMixture(given, SimplexSCIR(), 4, 0.5, 0.5, None, None, 3),
    "sticks, sums of all rows": lambda given: StochasticMixture(
        given, SimplexSCIR(), 2, 0.5, 0.5, None, None, None, True
    ),
    "sticks with splits and merges": lambda given: StochasticMixture(given, SimplexSCIR(), 4, 0.5, 0.5, 1, 1, None),
    "sticks with all moves, sums of all rows": lambda given: StochasticMixture(
        given, SimplexSCIR(), 2, 0.5, 0.5, 1, 1, 3, True
    ),
}
STRETCHES = ("stretches", "gibbs")
CASES = [
    ("counts", "gibbs", 500),
    (*STRETCHES, 500),
    ("gaussian", "gibbs of two rows with splits and merges", 250),
    ("nothing", "gibbs of two rows with splits and merges", 250),
    ("counts", "sticks that exchange places", 400),
    ("counts", "sticks with splits and merges", 300),
    ("counts", "sticks, sums of all rows", 300),
]


@pytest.mark.parametrize(("rows", "kind", "count"), CASES)
def test_transitions_leave_the_enumerated_posterior(rows: str, kind: str, count: int) -> None:
    """The rows of "nothing" say nothing: their law is the Chinese restaurant's.

    With all rows in the batch SCIR has no noise, and its transitions are exact, whatever the step; so they are with
    half of the rows, if sums of all rows are the control variate.
    """
    assert p_value(LAWS[rows], stepped(SAMPLERS[kind](problem(rows)), 2), count) > 1e-3


@pytest.mark.slow
@pytest.mark.parametrize(("rows", "kind"), [*itertools.product(("counts", "gaussian", "vmf"), SAMPLERS), STRETCHES])
def test_transitions_leave_the_enumerated_posterior_at_length(rows: str, kind: str) -> None:
    if rows in ("gaussian", "vmf") and "sticks" in kind:
        pytest.skip("the updates of these families have a discretisation error")
    assert p_value(LAWS[rows], stepped(SAMPLERS[kind](problem(rows)), 2), 4_000) > 1e-3


def test_places_without_rows_lie_among_those_with_rows() -> None:
    """Of one row the place in the order of the sticks has the law E[w_j] = a^(j - 1) / (1 + a)^j."""
    rng, found = np.random.default_rng(0), []
    for _ in range(4_000):
        places, logs, rest = size_biased(rng, *cluster_weights(rng, [1], ALPHA), ALPHA, 60)
        found.append(int(np.flatnonzero(places == 0)[0]))
        assert abs(np.exp(logs).sum() + np.exp(rest) - 1) < 1e-9
    share = ALPHA ** np.arange(4) / (1 + ALPHA) ** np.arange(1, 5)
    seen = np.bincount(found, minlength=5)
    expected = 4_000 * np.append(share, 1 - share.sum())
    statistic = np.sum((np.append(seen[:4], seen[4:].sum()) - expected) ** 2 / expected)
    assert chi2.sf(statistic, 4) > 1e-3
    assert statistic < np.sum((np.array([4_000, 0, 0, 0, 0]) - expected) ** 2 / expected) / 100  # all of them first


def test_what_is_drawn_anew_moves_on_by_other_random_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    """After a split or a merge parameters are drawn given the partition, and take a step in the same transition: their
    law is the same before and after it, theta_c ~ Beta(a + S_c, a + S_d). With one stream for both it would not be."""
    (components, data), rows = ROWS["counts"], np.arange(4)
    sampler, batch = SAMPLERS["sticks with splits and merges"](problem("counts")), batch_of(data, rows)
    sums = components.statistics(data, rows, np.zeros(4, np.int32), 1)[0, 1:3]
    p_values = []
    for number in (stochastic.ANEW, stochastic.PARAMETERS):
        monkeypatch.setattr(stochastic, "ANEW", number)
        state, found = sampler.init({"labels": np.zeros(4, np.int32)}, jax.random.key(0)), []
        for seed in range(1, 2_001):
            state = sampler._drawn_anew(seed, state, np.zeros(1, np.int32))
            sampler._advance(seed, state, state.order[: state.held], batch)
            found.append(np.exp(state.parameters[0, 0]))
        p_values.append(kstest(found, "beta", args=tuple(0.5 + sums)).pvalue)
    assert p_values[0] > 1e-3 and p_values[1] < 1e-6


def test_a_wrong_hastings_ratio_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """The probability of the proposal left out."""
    monkeypatch.setattr(split_merge, "log_proposal", lambda margins, parts, rows, anchors: 0.0)
    monkeypatch.setattr(split_merge, "births_and_deaths", lambda rng, given, state, tally, moves: tally)
    sampler = MixtureGibbs(problem("nothing"), 4, 1)
    assert p_value(LAWS["nothing"], stepped(sampler, 2), 250) < 1e-6


def by_births_alone(monkeypatch: pytest.MonkeyPatch, rows: str, count: int) -> float:
    monkeypatch.setattr(split_merge, "propose", lambda rng, given, state, tally, blind: tally)
    return p_value(LAWS[rows], stepped(MixtureGibbs(problem(rows), 1, 1), 2), count)


def test_births_and_deaths_leave_the_enumerated_posterior(monkeypatch: pytest.MonkeyPatch) -> None:
    assert by_births_alone(monkeypatch, "nothing", 200) > 1e-3


@pytest.mark.slow
@pytest.mark.parametrize("rows", ROWS)
def test_births_and_deaths_leave_the_enumerated_posterior_at_length(rows: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert by_births_alone(monkeypatch, rows, 4_000) > 1e-3


@pytest.mark.parametrize("name", ["log_hastings", "part_log_probability"])
def test_wrong_ratios_of_births_are_caught(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The choice of rows and clusters, or the probability of the part, left out."""
    monkeypatch.setattr(births, name, lambda *facts: 0.0)
    assert by_births_alone(monkeypatch, "nothing", 250) < 1e-6


@pytest.mark.slow
@pytest.mark.parametrize(("name", "wrong"), [("log_proposal", lambda *facts: 0.0), ("log_choice", lambda *facts: 0.0)])
def test_wrong_ratios_are_caught_beside_sticks_too(name: str, wrong: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """The probability of the proposal, or that of the anchors, left out, where sticks and parameters are drawn anew."""
    monkeypatch.setattr(split_merge, name, wrong)
    monkeypatch.setattr(split_merge, "births_and_deaths", lambda rng, given, state, tally, moves: tally)
    sampler = StochasticMixture(problem("nothing"), SimplexSCIR(), 1, 0.5, 0.5, 4, 1, None, True)
    assert p_value(LAWS["nothing"], stepped(sampler, 2), 2_000) < 1e-6


def prior_draw(rng: np.random.Generator, count: int) -> tuple[float, list[int]]:
    """Return alpha ~ Gamma(2, 1) and a partition by the Chinese restaurant law."""
    alpha, labels, sizes = rng.gamma(2.0), [], []
    for _ in range(count):
        weights = np.array([*sizes, alpha])
        label = int(rng.choice(weights.size, p=weights / weights.sum()))
        sizes = [*sizes, 0] if label == len(sizes) else sizes
        sizes[label] += 1
        labels.append(label)
    return alpha, labels


@pytest.mark.parametrize("kind", ["gibbs of two rows with splits and merges", "sticks that exchange places"])
def test_without_data_the_concentration_keeps_its_prior(kind: str) -> None:
    """Both updates of alpha: Escobar & West's, and the one given the sticks."""
    rng, found = np.random.default_rng(0), []
    for replicate in range(300):
        alpha, labels = prior_draw(rng, 4)
        sampler = SAMPLERS[kind](problem("nothing", (2.0, 1.0), alpha))
        state = sampler.init({"labels": np.array(labels)}, jax.random.key(replicate))
        for i in range(2):
            state, _ = sampler.move(2 * replicate + i + 1, state)
        found.append([state.concentration, state.concentration**2, np.log(state.concentration)])
    exact, spread = np.array([2.0, 6.0, 1 - np.euler_gamma]), np.array(found).std(axis=0) / np.sqrt(300)
    assert np.max(np.abs(np.mean(found, axis=0) - exact) / spread) < 4.0


def one_explains(given: MixtureProblem, parts: Any) -> bool:
    rows = np.arange(given.data.count)
    statistics = given.components.statistics(given.data, rows, parts, 2)
    return explains_both(given.components, given.data, rows, parts, statistics)


def test_halves_of_one_cluster_are_known_for_what_they_are() -> None:
    """What the warm-up merges, where no proposal could repeat the division."""
    x = np.random.default_rng(0).standard_normal((400, 2))
    given = MixtureProblem(GAUSSIAN, DenseRows(x), ALPHA, None, 1, CAPACITY, 0, 400)
    halves = (x[:, 0] > 0).astype(np.int32)
    assert one_explains(given, halves)
    assert not one_explains(dataclasses.replace(given, data=DenseRows(x + 8.0 * halves[:, None])), halves)


def test_categories_that_no_row_has_cost_nothing() -> None:
    """Two kinds of visits to five pages of 300: three hundred parameters at log(n) / 2 each would hide the second."""
    rng = np.random.default_rng(1)
    kinds = (np.arange(400) % 2).astype(np.int32)
    table = np.zeros((400, 300))
    shares = np.array([[0.4, 0.3, 0.1, 0.1, 0.1], [0.1, 0.1, 0.1, 0.3, 0.4]])
    table[:, :5] = [rng.multinomial(8, shares[kind]) for kind in kinds]
    given = MixtureProblem(CategoricalComponents(0.05, (0, 300)), CountRows.of(table), ALPHA, None, 1, CAPACITY, 0, 400)
    assert not one_explains(given, kinds)
    assert one_explains(given, rng.permutation(kinds))


@pytest.mark.slow
@pytest.mark.parametrize("rows", ["counts", "gaussian", "vmf"])
def test_geweke(rows: str) -> None:
    """Rows drawn anew given labels and parameters, then a transition: partitions keep the Chinese restaurant law."""
    components, data = ROWS[rows]
    sampler, rng = MixtureGibbs(problem(rows), 1), np.random.default_rng(0)
    state, sizes = sampler.init(None, jax.random.key(0)), []
    for i in range(4_000):
        new = components.simulate(rng, state.parameters[state.labels], data)
        new = dataclasses.replace(CountRows.of(new), bounds=data.bounds) if rows == "counts" else DenseRows(new)
        sampler = MixtureGibbs(dataclasses.replace(sampler.given, data=new), 1)
        statistics = components.statistics(new, np.arange(4), state.labels, CAPACITY)
        state, _ = sampler.move(i + 1, state._replace(statistics=statistics))
        sizes.append(np.count_nonzero(state.sizes))
    exact = sum(ALPHA / (ALPHA + i) for i in range(4))
    batches = np.mean(np.reshape(sizes, (40, -1)), axis=1)
    assert abs(batches.mean() - exact) < 4 * batches.std() / np.sqrt(40)
