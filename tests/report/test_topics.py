"""The explorer of topics: small enough, one numbering, and nothing lost that a user looks for."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import orthodrome.plots.topics as plots
from orthodrome.report import write_report
from orthodrome.report.pictures.topics import topics
from support.small_draws import HOSTILE, small_draws
from support.topic_tables import tables


@pytest.fixture(autouse=True)
def quick_map(monkeypatch: pytest.MonkeyPatch) -> None:
    """Places by chance: t-SNE takes seconds."""
    monkeypatch.setattr(plots, "positions", lambda rows, seed: np.random.default_rng(seed).normal(size=(len(rows), 2)))


def codes(given: dict[str, Any]) -> np.ndarray:
    return np.frombuffer(base64.b64decode(given["packed"]), "<u2").reshape(given["shape"])


def test_a_hundred_topics_of_eight_thousand_words_take_less_than_three_megabytes(tmp_path: Path) -> None:
    section = topics(tables(100, 8000, 6000))
    path = write_report(small_draws(), tmp_path / "report.html", sections=[section])
    assert path.stat().st_size <= 3_000_000
    assert len(section.data["words"]) == 8000 and len(section.data["documents"]) == 2000


def test_numbers_of_topics_are_those_of_the_arrays() -> None:
    found = tables(12, 300, 80)
    data = topics(found).content()["data"]
    top = codes(data["top"]["words"])
    for k in range(12):
        assert data["words"][top[k, 0]] in (found.vocabulary[int(np.argmax(found.mean[k]))], *HOSTILE[4:], "")
        assert top[k, 0] == np.argmax(found.mean[k])
        assert codes(data["bottom"]["words"])[k, 0] == np.argmin(found.mean[k] - found.corpus)
        assert codes(data["ofTopic"])[k, 0] == np.argmax(found.proportions[:, k])
    assert data["order"][0] == int(np.argmax(found.proportions.mean(axis=0)))
    assert codes(data["wordTopics"]["topics"])[5, 0] == np.argmax(np.abs(found.mean[:, 5]))
    assert codes(data["docTopics"]["topics"])[7, 0] == np.argmax(found.proportions[7])
    row = found.rows[[7]].toarray()[0]
    assert codes(data["docWords"])[7, 0] == (np.argmax(row) + 1 if row.any() else 0)


def test_a_law_over_words_has_no_absent_ones() -> None:
    data = topics(tables(3, 30, 20, absence=False)).content()["data"]
    assert data["bottom"]["words"]["shape"] == [3, 0] and not data["absence"]


def test_of_many_words_those_of_the_topics_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    import orthodrome.report.pictures.topics as module

    monkeypatch.setattr(module, "MOST_WORDS", 400)
    found = tables(5, 2000, 30)
    data = topics(found).content()["data"]
    assert len(data["words"]) == 400
    names = [data["words"][k] for k in codes(data["top"]["words"])[2, :5]]
    assert names == [found.vocabulary[k] for k in np.argsort(-found.mean[2], kind="stable")[:5]]
