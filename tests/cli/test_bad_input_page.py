"""The page on bad input shows command lines and what they say: each says that."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import orthodrome.cli.main as cli
from orthodrome.cli import terminal

PAGE = Path(__file__).parents[2] / "docs" / "guides" / "bad-input.md"


def shown() -> list[tuple[str, str]]:
    """Return the lines of the page after a prompt, each with its answer."""
    blocks = re.findall(r"^```console\n(.*?)^```$", PAGE.read_text(), flags=re.MULTILINE | re.DOTALL)
    return re.findall(r"^\$ orthodrome (.*)\n(.*\n)", "".join(blocks), flags=re.MULTILINE)


@pytest.mark.parametrize(("line", "answer"), shown())
def test_a_bad_line_says_what_the_page_says(
    line: str, answer: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(terminal, "use_all_cores", lambda: None)
    assert cli.main(line.split()) != 0
    assert capsys.readouterr().err == answer
    assert list(tmp_path.iterdir()) == []


def test_the_page_has_lines_of_every_command() -> None:
    models = {"topics", "cluster", "compare-teams", "network", "directional"}
    assert {line.split()[0] for line, _ in shown()} == models | {"sample", "check", "demo", "reproduce"}
