"""The help of every command teaches by an example, the words are the same everywhere, and the page of options is made
from the jobs."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer

import orthodrome.cli.main as cli

ROOT = Path(__file__).parents[2]


def commands(one: Any = None, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Yield every command with its words; groups themselves not."""
    one = typer.main.get_command(cli.app) if one is None else one
    for name, inner in getattr(one, "commands", {}).items():
        if getattr(inner, "commands", None):
            yield from commands(inner, (*path, name))
        else:
            yield (*path, name), inner


ALL = dict(commands())


def test_the_commands_are_there() -> None:
    fits = {
        (name, verb)
        for name in ("topics", "cluster", "compare-teams", "network", "directional")
        for verb in ("fit", "resume", "show")
    }
    others = {("topics", "compare"), ("sample", "run"), ("sample", "resume"), ("sample", "show")}
    assert set(ALL) >= fits | others | {("check",), ("reproduce",), ("demo",)}


def test_the_first_help_lists_the_models_first_and_has_examples(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["--help"]) == 0
    text = capsys.readouterr().out
    places = [text.index(heading) for heading in cli.PANELS]
    assert places == sorted(places) and text.index("Examples:") > places[-1]


@pytest.mark.parametrize("words", ALL, ids=" ".join)
def test_every_help_has_an_example_of_its_command(words: tuple[str, ...]) -> None:
    text = ALL[words].epilog or ""
    called = " ".join(word for word in words if word != "run")
    assert text.startswith(f"Example:\n\northodrome {called} "), text
    assert max(map(len, text.split("\n"))) <= 76, "a terminal of 80 columns breaks it, and it cannot be copied"


@pytest.mark.parametrize("words", ALL, ids=" ".join)
def test_the_example_uses_options_that_exist(words: tuple[str, ...]) -> None:
    known = {name for part in ALL[words].params for name in (*part.opts, *part.secondary_opts)}
    used = {word for word in (ALL[words].epilog or "").split() if word.startswith("--") and word != "--"}
    assert used <= known


def test_the_same_words_everywhere() -> None:
    for words, command in ALL.items():
        options = {name for part in command.params for name in part.opts}
        if words[-1] in ("fit", "run") or words in (("reproduce",), ("demo",)):
            assert {"--output", "--seed", "--quiet"} <= options, words
        if words[-1] == "resume":
            assert "--quiet" in options
    for words in (("reproduce",), ("demo",)):
        assert "--out" in {name for part in ALL[words].params for name in part.opts}


def test_the_page_of_options_is_up_to_date() -> None:
    """`python docs/make_options.py` makes it."""
    spec = importlib.util.spec_from_file_location("make_options", ROOT / "docs" / "make_options.py")
    assert spec is not None and spec.loader is not None
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    assert script.PAGE.read_text(encoding="utf-8") == script.page()


@pytest.mark.parametrize("words", list(ALL), ids=" ".join)
def test_no_line_of_a_help_breaks_early_and_every_default_is_seen(words: tuple[str, ...]) -> None:
    later = (ALL[words].help or "").split("\n\n")[1:]
    assert all("\n" not in paragraph.strip() for paragraph in later)  # the lines of later paragraphs are kept
    blank = [one.name for one in ALL[words].params if one.default == " " and one.show_default is True]
    assert not blank
