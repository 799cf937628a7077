"""Components: marginal likelihoods by simulation, draws, densities, and the updates that see minibatches."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numba
import numpy as np
import pytest

from orthodrome.kernels.bessel import log_constant, mean_length
from orthodrome.kernels.bessel_arrays import log_constants, mean_lengths
from orthodrome.kernels.threads.computing import computing
from orthodrome.models.mixture.assigning import choose_components, levels_of
from orthodrome.models.mixture.compiled.choices import log_probability
from orthodrome.models.mixture.components import (
    CategoricalComponents,
    Components,
    CountRows,
    DenseRows,
    GaussianComponents,
    VonMisesFisherComponents,
)
from orthodrome.models.mixture.components.sphere import draw_directions
from orthodrome.models.mixture.updates import (
    GaussianSGHMC,
    GaussianSGLD,
    SimplexSCIR,
    SimplexSGRLD,
    SphereGSGNHT,
    SphereSGGMC,
)

RNG = np.random.default_rng(1)
IDS = np.arange(5)
SLOTS = np.arange(4, dtype=np.int32)
COUNTS = CategoricalComponents(0.6, (0, 3))
GAUSSIAN = GaussianComponents(np.array([[1.0, 0.3], [0.3, 2.0]]), np.zeros(2), 0.7, 4.0)
SPHERE = VonMisesFisherComponents(3, (np.log(0.3), np.log(50.0)))
DIRECTIONS = draw_directions(RNG, np.tile([1.0, 0, 0], (5, 1)), np.full(5, 3.0))
CASES: dict[str, tuple[Any, Any]] = {
    "counts": (COUNTS, CountRows.of(RNG.integers(0, 3, (5, 3)))),
    "gaussian": (GAUSSIAN, DenseRows(RNG.standard_normal((5, 2)))),
    "vmf": (SPHERE, DenseRows(DIRECTIONS)),
}


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    with computing(1):
        yield


def base_draws(name: str, count: int) -> Any:
    """Draw parameters of the base measure; for von Mises-Fisher by its definition, not by quadrature."""
    components = CASES[name][0]
    if name != "vmf":
        return components.draw(3, np.zeros((count, components.num_statistics)))
    means = RNG.standard_normal((count, 3))
    logs = RNG.uniform(*SPHERE.interval, (count, 1))
    return np.concatenate([means / np.sqrt(np.sum(means**2, axis=1, keepdims=True)), logs], axis=1)


@pytest.mark.parametrize("name", CASES)
def test_marginal_likelihood_is_the_mean_likelihood_under_the_base_measure(name: str) -> None:
    components, data = CASES[name]
    logs = components.all_densities(data, IDS, base_draws(name, 20_000))
    together, apart = (np.zeros(5, np.int32), IDS.astype(np.int32))
    exact = components.log_marginal(components.statistics(data, IDS, together, 1))[0]
    values = np.exp(logs.sum(axis=0))
    assert abs(values.mean() - np.exp(exact)) < 4 * values.std() / np.sqrt(20_000)
    single = components.log_marginal(components.statistics(data, IDS, apart, 5))
    np.testing.assert_allclose(components.log_base(data, IDS), single, atol=1e-6)


@pytest.mark.parametrize("name", CASES)
def test_parameters_given_rows_follow_from_importance_weights(name: str) -> None:
    """Draws given the statistics have the moments of base draws that are weighted by the likelihood."""
    components, data = CASES[name]
    base = base_draws(name, 20_000)
    logs = components.all_densities(data, IDS, base).sum(axis=0)
    weights = np.exp(logs - logs.max())
    lines = np.repeat(components.statistics(data, IDS, np.zeros(5, np.int32), 1), 1_000, axis=0)
    drawn = components.draw(7, lines)
    look = np.exp if name == "counts" else (lambda x: x)
    expected = np.average(look(base), axis=0, weights=weights)
    spread = look(drawn).std(axis=0) * np.sqrt(1 / 1_000 + np.sum(weights**2) / weights.sum() ** 2)
    assert np.max(np.abs(look(drawn).mean(axis=0) - expected) / np.maximum(spread, 1e-12)) < 4.4


def test_sums_follow_rows_from_one_component_to_another() -> None:
    for components, data in CASES.values():
        first, second = RNG.integers(0, 3, (2, 5)).astype(np.int32)
        found = components.statistics(data, IDS, first, 3)
        components.move(data, IDS, first, second, found)
        np.testing.assert_allclose(found, components.statistics(data, IDS, second, 3), atol=1e-12)


def test_bessel_of_arrays_is_that_of_numbers() -> None:
    k = np.array([0.0, 1e-3, 1.0, 30.0, 1e4])
    for size in (2, 3, 10, 500):
        np.testing.assert_allclose(log_constants(size, k), [log_constant(size, float(x)) for x in k], rtol=1e-13)
        np.testing.assert_allclose(mean_lengths(size, k), [mean_length(size, float(x)) for x in k], rtol=1e-13)


UPDATES = [
    ("counts", SimplexSCIR(), 0.7),
    ("counts", SimplexSGRLD(), 0.002),
    ("gaussian", GaussianSGLD(), 0.05),
    ("gaussian", GaussianSGHMC(), 0.05),
    ("vmf", SphereSGGMC(), 0.2),
    ("vmf", SphereGSGNHT(), 0.2),
]


@pytest.mark.parametrize(("name", "update", "step"), UPDATES, ids=lambda x: type(x).__name__ if x else "")
def test_updates_stay_in_the_law_given_exact_statistics(name: str, update: Any, step: float) -> None:
    """Chains start at exact draws, and are compared with themselves after some steps."""
    components, data = CASES[name]
    lines = np.repeat(components.statistics(data, IDS, np.zeros(5, np.int32), 1), 1_500, axis=0)
    first = components.draw(5, lines)
    parameters, auxiliary = first, update.fresh(6, components, first, lines)
    for i in range(15):
        parameters, auxiliary = update.advance(100 + i, components, parameters, auxiliary, lines, step)
    look = (lambda x: np.exp(x)) if name == "counts" else (lambda x: x)
    before, after = (np.concatenate([look(x), look(x) ** 2], axis=1) for x in (first, parameters))
    gap = (after - before).mean(axis=0) / np.maximum((after - before).std(axis=0) / np.sqrt(1_500), 1e-9)
    assert np.max(np.abs(gap)) < 4.4
    assert np.max(np.abs(after - before)) > 0.05


def test_choices_do_not_depend_on_the_number_of_threads() -> None:
    x = RNG.standard_normal((3_000, 2))
    parameters = GAUSSIAN.draw(1, np.zeros((4, GAUSSIAN.num_statistics)))
    logs, places, rows = np.log([0.4, 0.1, 0.3, 0.2]), RNG.integers(0, 4, 3_000).astype(np.int32), np.arange(3_000)
    found = []
    for threads in {1, numba.config.NUMBA_NUM_THREADS}:
        numba.set_num_threads(threads)
        levels = levels_of(3, rows, places, logs)
        found.append(choose_components(4, GAUSSIAN, DenseRows(x), rows, levels, logs, parameters, SLOTS))
    np.testing.assert_array_equal(found[0], found[-1])
    assert np.all(logs[found[0]] >= levels) and len(np.unique(found[0])) > 1


@pytest.mark.parametrize("name", ["counts", "gaussian"])
def test_choices_in_one_pass_are_those_from_all_densities(name: str) -> None:
    """Eleven components, so that the second tile is not full."""
    components, rows = CASES[name][0], np.arange(400)
    data = (
        DenseRows(RNG.standard_normal((400, 2))) if name == "gaussian" else CountRows.of(RNG.integers(0, 4, (400, 3)))
    )
    parameters = components.draw(2, np.zeros((11, components.num_statistics)))
    logs = np.sort(np.log(RNG.dirichlet(np.ones(11))))[::-1].copy()
    levels = logs[RNG.integers(0, 11, 400)] + np.log(RNG.random(400))
    slots = RNG.permutation(11).astype(np.int32)
    for weighted in (False, True):
        facts = (7, data, rows, levels, logs, parameters, slots, weighted)
        found = components.chosen(*facts)
        np.testing.assert_array_equal(found, Components.chosen(components, *facts))
        assert len(np.unique(found)) > 4


@pytest.mark.parametrize("count", [600, 2_500])
def test_rows_that_products_leave_over_choose_as_the_others(count: int) -> None:
    """Many counts, counts that are not whole, and probabilities whose products underflow; on one thread and on all."""
    x = RNG.poisson(0.1, (count, 40)).astype(float)
    x[::5] *= 30
    x[1::5] *= 0.5
    components, data, rows = CategoricalComponents(0.5, (0, 40)), CountRows.of(x), np.arange(count)
    parameters = components.draw(2, np.zeros((20, 41)))
    parameters[:, :10] -= 300.0
    logs = np.sort(np.log(RNG.dirichlet(np.ones(20))))[::-1].copy()
    levels = logs[RNG.integers(0, 20, count)] + np.log(RNG.random(count))
    facts = (7, data, rows, levels, logs, parameters, RNG.permutation(20).astype(np.int32), False)
    found = components.chosen(*facts)
    np.testing.assert_array_equal(found, Components.chosen(components, *facts))
    assert len(np.unique(found)) > 10


def test_sums_of_many_rows_are_added_in_parts() -> None:
    x, labels, rows = RNG.standard_normal((20_000, 2)), RNG.integers(0, 2, 20_000).astype(np.int32), np.arange(20_000)
    found = []
    for threads in {1, numba.config.NUMBA_NUM_THREADS}:
        numba.set_num_threads(threads)
        margins = x[:, 0].copy()
        total = log_probability(margins, labels, rows, 0, 1)
        found.append(np.append(GAUSSIAN.statistics(DenseRows(x), rows, labels, 2), total))
    np.testing.assert_array_equal(found[0], found[-1])
    signs = np.where(labels == 0, 1.0, -1.0)
    assert np.isclose(found[0][-1], -np.logaddexp(0.0, -signs * x[:, 0])[2:].sum(), rtol=1e-12)
    for k, line in enumerate(found[0][:-1].reshape(2, -1)):
        own = x[labels == k]
        exact = [own.shape[0], *own.sum(axis=0), (own[:, 0] ** 2).sum(), own.prod(axis=1).sum(), (own[:, 1] ** 2).sum()]
        np.testing.assert_allclose(line, exact, rtol=1e-9)
