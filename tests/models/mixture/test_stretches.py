"""Sums over rows of real numbers: the same bits for 1, 2, 4, ... processes, and a chain that is that of all rows."""

from __future__ import annotations

from typing import Any

import jax
import numpy as np
import pytest

from orthodrome.models.mixture import stretches
from orthodrome.models.mixture.components import DenseRows, GaussianComponents
from orthodrome.models.mixture.gibbs import MixtureGibbs
from orthodrome.models.mixture.sampler import MixtureProblem
from orthodrome.models.mixture.stretches import LEAVES, SpreadReals, in_pairs

RNG = np.random.default_rng(0)
LAW = GaussianComponents(np.eye(2), np.zeros(2), 0.3, 4.0)
CLUSTERS = 5


class Alone:
    """A process that knows the sizes of all clusters, and hears nothing else of the others."""

    def __init__(self, sizes: Any) -> None:
        self.sizes = sizes

    def total(self, values: Any) -> Any:
        return self.sizes

    def gather(self, values: Any) -> Any:
        return values[None]


def rows_and_labels(count: int) -> tuple[Any, Any]:
    return RNG.standard_normal((count, 2)) * 3, RNG.integers(0, CLUSTERS, count).astype(np.int32)


@pytest.mark.parametrize("count", [10, 90, 1_000])
@pytest.mark.parametrize("limit", [1 << 22, 100])
def test_branches_of_processes_add_up_to_the_same_bits(monkeypatch: pytest.MonkeyPatch, count: int, limit: int) -> None:
    """limit: numbers that are held at once; with few of them the halves of the tree are summed apart."""
    x, labels = rows_and_labels(count)
    whole, sizes = SpreadReals(x).summed(LAW, labels, CLUSTERS)
    monkeypatch.setattr(stretches, "MOST_NUMBERS", limit)
    monkeypatch.setattr(stretches, "Team", lambda: Alone(sizes))
    assert sizes.tolist() == np.bincount(labels, minlength=CLUSTERS).tolist()
    for processes in (1, 2, 4, LEAVES):
        parts = [SpreadReals(x, (process, processes)) for process in range(processes)]
        assert np.concatenate([part.own for part in parts]).tolist() == list(range(count))
        known = [np.where(np.isin(np.arange(count), part.own), labels, -1) for part in parts]
        branches = [part.summed(LAW, own, CLUSTERS)[0] for part, own in zip(parts, known, strict=True)]
        assert np.array_equal(in_pairs(np.array(branches)), whole)
    np.testing.assert_allclose(whole, LAW.statistics(DenseRows(x), np.arange(count), labels, CLUSTERS), atol=1e-9)


def test_another_order_has_other_bits() -> None:
    """The control of the test above."""
    x, labels = rows_and_labels(1_000)
    assert not np.array_equal(
        SpreadReals(x).summed(LAW, labels, CLUSTERS)[0],
        LAW.statistics(DenseRows(x), np.arange(1_000), labels, CLUSTERS),
    )


def test_a_chain_with_stretches_is_the_chain_of_all_rows() -> None:
    """Up to rounding; the next seed has another chain."""
    x = np.concatenate([RNG.standard_normal((40, 2)) + centre for centre in (-3.0, 0.0, 3.0)])
    found = []
    for data, seed in ((DenseRows(x), 1), (SpreadReals(x), 1), (SpreadReals(x), 2)):
        sampler = MixtureGibbs(MixtureProblem(LAW, data, 1.0, None, 4, 20, 0, data.count))
        state = sampler.init(None, jax.random.key(seed))
        for step in range(20):
            state, _ = sampler.move(100 * seed + step, state)
        found.append(state)
    assert np.array_equal(found[0].labels, found[1].labels)
    np.testing.assert_allclose(found[0].parameters, found[1].parameters, rtol=1e-6, atol=1e-9)
    assert not np.array_equal(found[1].labels, found[2].labels)
