"""Two fits of topics side by side: the same topics are matched whatever their numbers, words and documents."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse

import orthodrome.cli.main as cli
from orthodrome.errors import BadInput
from orthodrome.jobs.topics.compare import LoadedFit, compared, shared_words
from orthodrome.jobs.topics.documents import TopicCorpus
from orthodrome.jobs.topics.result import Result

WORDS = ("rose", "tulip", "ship", "sail", "=bread", "oven")


def planted(order: list[int], columns: list[int], model: str = "lda") -> LoadedFit:
    """Three topics of two words each, in some order, over some of the words."""
    topics = np.kron(np.eye(3), np.full((1, 2), 0.45))[order][:, columns] + 0.01
    documents = np.kron(np.eye(3), np.full((4, 2), 3))[:, columns]
    shares = np.kron(np.eye(3), np.full((4, 1), 0.9))[:, order] + 0.03
    corpus = TopicCorpus(
        scipy.sparse.csr_array(documents),
        np.ones(12, bool),
        tuple(WORDS[c] for c in columns),
        tuple(map(str, range(12))),
    )
    zeros = np.zeros_like(topics)
    return LoadedFit(Result(model, topics, zeros, topics[0], shares, shares, {}, {}), corpus, model)


def test_topics_are_matched() -> None:
    found = compared(planted([0, 1, 2], [0, 1, 2, 3, 4, 5]), planted([2, 0, 1], [5, 3, 2, 1, 0], "sam"), 2)
    rows = found.tables["topics"].rows
    assert {(row[0], row[5]) for row in rows} == {(0, 1), (1, 2), (2, 0)}
    assert all(row[3] > 0.99 for row in rows) and {row[4] for row in rows[:2]} <= {1, 2}
    assert next(value for name, value in found.numbers.items() if "agreement" in name) == pytest.approx(1)
    assert next(value for name, value in found.numbers.items() if "in common" in name) == 5


def test_fits_of_other_words_are_refused() -> None:
    with pytest.raises(BadInput, match="1 words in common"):
        shared_words(("a", "b"), ("b", "c"))


@pytest.mark.slow
def test_two_fits_from_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rng = np.random.default_rng(0)
    texts = [" ".join(WORDS[2 * (n % 3) + int(rng.integers(2))].strip("=") for _ in range(9)) for n in range(40)]
    (tmp_path / "texts.csv").write_text("\n".join(["id,body", *(f"{n},{text}" for n, text in enumerate(texts))]))
    size = ["--num-topics", "3", "--num-iterations", "60", "--min-df", "1", "--max-df", "1", "--num-threads", "1"]
    for model in ("sam", "lda"):
        line = ["topics", "fit", "--input", str(tmp_path / "texts.csv"), "--text-column", "body", "--model", model]
        assert cli.main([*line, *size, "--quiet", "--output", str(tmp_path / model)]) == 0
    capsys.readouterr()
    line = ["topics", "compare", str(tmp_path / "sam"), str(tmp_path / "lda"), "--output", str(tmp_path / "both")]
    assert cli.main(line) == 0
    assert "coherence" in capsys.readouterr().out
    with open(tmp_path / "both" / "comparison.csv", newline="") as file:
        assert len(list(csv.DictReader(file))) == 3
    assert cli.main(line) == 1
    assert "is not empty" in capsys.readouterr().err
