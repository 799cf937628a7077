"""Rows of a mixture in stretches: their statistics add up to those of all rows, and what cannot be spread says so."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from orthodrome.errors import BadInput
from orthodrome.models.mixture import spread
from orthodrome.models.mixture.components import CategoricalComponents, CountRows, DenseRows


class Stretch:
    """One of three processes that hears nobody: what it would give to a sum is what it gets."""

    def __init__(self, process: int) -> None:
        self.process, self.processes = process, 3

    def total(self, values: Any) -> Any:
        return values


def rows_of_counts() -> CountRows:
    return CountRows.of(np.random.default_rng(0).poisson(1.0, (10, 4)) + 1)


def stretch(monkeypatch: pytest.MonkeyPatch, rows: CountRows, process: int) -> Any:
    monkeypatch.setattr(spread, "Team", lambda: Stretch(process))
    monkeypatch.setattr(spread, "check_same", lambda team, given: None)
    return spread.spread_or_whole(rows, True, 1)


def test_stretches_add_up_to_all_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    rows, labels = rows_of_counts(), np.array([0, 1] * 5, np.int32)
    law = CategoricalComponents(0.5, rows.bounds)
    whole = spread.all_statistics(law, rows, labels, 2)
    found, names, new = np.zeros(whole.shape), [], 1 - labels
    moved, sizes = whole.copy(), np.bincount(labels, minlength=2)
    for process in range(3):
        part = stretch(monkeypatch, rows, process)
        assert part.count == rows.count and len(part.columns) < len(rows.columns)
        names += part.own.tolist()
        found += spread.all_statistics(law, part, labels, 2)
        spread.relabel_spread(law, part, labels.copy(), new[part.own], sizes, moved)
    assert names == list(range(10))
    assert np.array_equal(found, whole)
    assert np.array_equal(moved, spread.all_statistics(law, rows, new, 2))
    assert sizes.tolist() == moved[:, 0].tolist()


def test_what_cannot_be_spread_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = rows_of_counts()
    real = DenseRows(np.zeros((10, 2)))
    assert spread.can_spread(rows, "gibbs", 0, None) and spread.can_spread(real, "gibbs", 0, None)
    assert not spread.can_spread(rows, "gibbs", 5, None)
    assert not spread.can_spread(rows, "gibbs", 0, 3)
    monkeypatch.setattr(spread, "Team", lambda: Stretch(0))
    assert spread.can_spread(rows, "gibbs", 0, None)
    assert not spread.can_spread(real, "gibbs", 0, None)  # three processes
    with pytest.raises(BadInput, match="split_merge=0"):
        spread.spread_or_whole(rows, False, 4)
    assert spread.spread_or_whole(rows, False, 6) is rows
