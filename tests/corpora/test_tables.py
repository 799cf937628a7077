"""Texts in a table, and in a list."""

from __future__ import annotations

import csv
import gzip
from pathlib import Path

import numpy as np
import pytest

from orthodrome.corpora import read_corpus
from orthodrome.errors import BadInput

ROWS = [
    {"id": "a", "review": 'Ships, and "harbours"\nat sea', "label": "sea", "stars": "5"},
    {"id": "b", "review": "Bread; salt and flour", "label": "kitchen", "stars": "1"},
    {"id": "c", "review": " ", "label": "nothing", "stars": "2"},
]


def write(path: Path, separator: str = ",") -> Path:
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(ROWS[0]), delimiter=separator)
        writer.writeheader()
        writer.writerows(ROWS)
    return path


@pytest.mark.parametrize(("name", "separator"), [("x.csv", ","), ("x.csv", ";"), ("x.tsv", "\t"), ("table", ",")])
def test_a_column_of_texts(tmp_path: Path, name: str, separator: str) -> None:
    corpus = read_corpus(write(tmp_path / name, separator), text_column="review")
    assert corpus.vocabulary == ("bread", "flour", "harbours", "salt", "sea", "ships")
    assert corpus.names == ("a", "b") and corpus.labels == ("sea", "kitchen")
    np.testing.assert_array_equal(corpus.counts.toarray(), [[0, 0, 1, 0, 1, 1], [1, 1, 0, 1, 0, 0]])


def test_a_packed_table(tmp_path: Path) -> None:
    path = tmp_path / "x.csv.gz"
    path.write_bytes(gzip.compress(write(tmp_path / "x.csv").read_bytes()))
    assert read_corpus(path, text_column="review").names == ("a", "b")


def test_the_column_called_text_and_the_only_column_need_no_name(tmp_path: Path) -> None:
    (tmp_path / "one.csv").write_text("text,n\nships harbour,1\n", encoding="utf-8-sig")
    (tmp_path / "two.csv").write_text("review\nships harbour\n")
    assert read_corpus(tmp_path / "one.csv").vocabulary == read_corpus(tmp_path / "two.csv").vocabulary


def test_a_long_field_is_read(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("text\n" + "ship " * 50_000)
    assert read_corpus(tmp_path / "x.csv").counts.sum() == 50_000
    assert csv.field_size_limit() == 131_072


@pytest.mark.parametrize(
    ("content", "column", "text"),
    [
        ("a,b\n1,2\n", None, "line 1: say which column holds the texts .*'a', 'b'"),
        ("a,b\n1,2\n", "c", "line 1: there is no column 'c'; the columns are 'a', 'b'"),
        ("a,text\n1,x\n2\n", None, "line 3: 1 fields, but the header has 2"),
        ('a,text\n1,"x\n2,y\n', None, "line"),
        ("", None, "line 1"),
        ("text\n\n", None, "there is no text in"),
    ],
)
def test_bad_tables(tmp_path: Path, content: str, column: str | None, text: str) -> None:
    (tmp_path / "x.csv").write_text(content)
    with pytest.raises(BadInput, match=text):
        read_corpus(tmp_path / "x.csv", text_column=column)


def test_a_column_of_what_is_no_table(tmp_path: Path) -> None:
    (tmp_path / "x.txt").write_text("ships\n")
    with pytest.raises(BadInput, match="is for tables"):
        read_corpus(tmp_path / "x.txt", format="text", text_column="a")


def test_a_list_of_strings() -> None:
    for texts in (["Ships at sea", "A ship"], ("Ships at sea", "A ship"), np.array(["Ships at sea", "A ship"])):
        corpus = read_corpus(texts)
        assert corpus.vocabulary == ("sea", "ship") and corpus.names == ("text-0", "text-1")
    with pytest.raises(BadInput, match="text 1 of the list is NoneType, not a string"):
        read_corpus(["Ships", None])
    with pytest.raises(BadInput, match="there is no text in the list"):
        read_corpus([])
