"""Slips of a new user answer at once, in one line that says what to give instead; figures are said in words."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from rich.console import Console

import orthodrome.cli.main as cli
from orthodrome.corpora import read_corpus
from orthodrome.errors import BadInput
from orthodrome.jobs.sampled.result import NamedTable, SampledResult, show_result

FITS = ("topics", "cluster", "compare-teams", "network", "directional")


def said(words: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    """Return the one line that a wrong command prints."""
    assert cli.main(words) != 0
    error = capsys.readouterr().err
    assert error.count("\n") == 1, error
    return error


@pytest.mark.parametrize("command", FITS)
def test_places_are_looked_at_first(command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    empty, full, out = tmp_path / "empty.csv", tmp_path / "full.csv", tmp_path / "out"
    empty.write_text("")
    full.write_text("a,b\n1,2\n")
    fit = lambda path, output: said([command, "fit", "--input", str(path), "--output", str(output)], capsys)
    assert f"{empty} is empty (0 bytes)" in fit(empty, out)
    assert str(tmp_path / "none.csv") in fit(tmp_path / "none.csv", out)
    assert f"{full} is a file, not a folder" in fit(full, full)
    assert not out.exists() and full.read_text() == "a,b\n1,2\n"


@pytest.mark.parametrize("command", ["report", "watch"])
def test_a_file_is_no_run(command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "report.html").write_text("a page")
    line = said([command, str(tmp_path / "report.html")], capsys)
    assert "is a file, not a folder; give the folder of a fit or of a run" in line


def test_columns_of_texts(tmp_path: Path) -> None:
    path = tmp_path / "texts.csv"
    for text, expected in (("body,body\na,b\n", "2 columns are called 'body'"), ("\na\n", "line 1: empty")):
        path.write_text(text)
        with pytest.raises(BadInput, match=expected):
            read_corpus(path, text_column="body")


def test_limits_of_frequencies_name_their_options(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "texts.csv"
    path.write_text("body\nrose tulip garden\n")
    line = ["topics", "fit", "--input", str(path), "--text-column", "body", "--output", str(tmp_path / "out")]
    error = said(line, capsys)
    assert "in 1 document; widen the limits (--min-df, --max-df" in error
    assert "--alpha is -3; it must be above 0" in said([*line, "--alpha", "-3"], capsys)


def test_what_is_so_or_not_is_said_in_words() -> None:
    out = io.StringIO()
    result = SampledResult({"t": NamedTable(("a",), [[1]])}, {"tempered": False, "edges": 3.0}, "Fine.")
    show_result(result, Console(file=out))
    assert "tempered: no, edges 3" in out.getvalue()
