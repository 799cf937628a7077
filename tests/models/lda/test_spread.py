"""Counts of words and topics cross between processes in as few bytes as hold them, and their sums are exact."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from orthodrome.models.lda import spread
from orthodrome.models.lda.documents import TokenDocuments

OCCURS = np.array([0, 255, 256, 65_535, 65_536, 3_000_000])


class Partner:
    """A team of two whose other process has the counts `other`, summed in the kind of number that is given."""

    def __init__(self, other: np.ndarray) -> None:
        self.other, self.left, self.bytes = other, 0, 0

    def __call__(self) -> Partner:
        """Return the team, as `Team()` does."""
        return self

    def total(self, values: np.ndarray) -> np.ndarray:
        """Return the sum, which overflows if the numbers are too narrow for it."""
        rows = self.other[self.left : self.left + len(values)]
        self.left, self.bytes = self.left + len(values), self.bytes + values.nbytes
        sums: np.ndarray = values + rows.astype(values.dtype)
        assert sums.dtype == values.dtype
        return sums


def test_each_number_has_the_smallest_kind_that_holds_it() -> None:
    groups = {kind: places.tolist() for places, kind in spread.grouped_by_size(OCCURS)}
    assert groups == {np.uint8: [0, 1], np.uint16: [2, 3], np.int32: [4, 5]}
    assert [kind for _, kind in spread.grouped_by_size(np.array([7, 9]))] == [np.uint8]


@pytest.mark.parametrize("short", [0, 1])
def test_sums_of_counts_are_exact_up_to_all_tokens_of_a_word(monkeypatch: pytest.MonkeyPatch, short: int) -> None:
    """All tokens of a word may have one topic; a frequency that is one too small would be found out (the control)."""
    order = np.random.default_rng(1).permutation(len(OCCURS))
    occurs = OCCURS[order]
    whole = np.stack([occurs, np.zeros_like(occurs)], 1).astype(np.int32)
    mine = whole // 3
    taken = np.concatenate([places for places, _ in spread.grouped_by_size(occurs)])
    partner = Partner((whole - mine)[taken] + short * (whole[taken] == 255))
    monkeypatch.setattr(spread, "Team", partner)
    none: Any = TokenDocuments(np.zeros(0, np.int32), np.zeros(1, np.int64), len(occurs))
    data = spread.SpreadDocuments(none, none, occurs, 0, 0, (0, 2))
    data.total_of_topics(mine)
    assert np.array_equal(mine, whole) == (short == 0)
    assert partner.bytes == 2 * (2 * 1 + 2 * 2 + 2 * 4)
