"""Streams that are closed, cut, full or in ASCII do no harm to a command, and bars stay out of files."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from pathlib import Path

import pytest
from rich.table import Table

from orthodrome.cli import terminal
from orthodrome.core.display import for_csv, for_figure, shown
from orthodrome.core.streams import Forgiving
from orthodrome.run import progress
from support.quick import quick

SOURCE = Path(terminal.__file__).parents[2]
COMMAND = f"{sys.executable} -m orthodrome"


def shell(text: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a line of shell; `pipefail` shows the code of the command before a pipe."""
    variables = os.environ | {"PYTHONPATH": str(SOURCE)} | environment
    return subprocess.run(["bash", "-c", f"set -o pipefail; {text}"], env=variables, capture_output=True, text=True)


@pytest.mark.parametrize("words", ["--help", "--version"])
def test_a_pipe_that_is_closed_early(words: str) -> None:
    done = shell(f"{COMMAND} {words} | head -c 1 > /dev/null")
    assert done.stderr == "" and done.returncode in (0, 1, 141)
    assert shell(f"{COMMAND} {words} | true").stderr == ""


WORK = """
import sys
from orthodrome.cli.terminal import console
screen = console()
for line in range(5_000):
    screen.print("a line of text", line)
open(sys.argv[1], "w").write("done")
"""


@pytest.mark.parametrize("sink", quick(["| head -1", "| true", ">&-", "> /dev/full"], "| head -1", "> /dev/full"))
def test_the_work_behind_the_output_is_done(sink: str, tmp_path: Path) -> None:
    (tmp_path / "work.py").write_text(WORK)
    done = shell(f"{sys.executable} {tmp_path}/work.py {tmp_path}/result {sink}")
    assert (tmp_path / "result").read_text() == "done"
    assert "Traceback" not in done.stderr and done.stderr.count("\n") <= 1


@pytest.mark.parametrize("closed", quick([">&-", "2>&-", "<&-", "<&- >&- 2>&-"], ">&-", "<&- >&- 2>&-"))
def test_closed_streams(closed: str) -> None:
    done = shell(f"{COMMAND} --version {closed}")
    assert done.returncode == 0 and done.stderr == ""
    assert shell(f"{COMMAND} nonsense {closed}").returncode == 2


def test_a_full_disk_under_the_output_is_one_line() -> None:
    done = shell(f"{COMMAND} --version > /dev/full")
    assert "No space left on device" in done.stderr and done.stderr.count("\n") == 1


def test_an_ascii_terminal() -> None:
    done = shell(f"{COMMAND} reproduce --list", PYTHONIOENCODING="ascii", LC_ALL="C")
    assert done.returncode == 0 and done.stdout.isascii() and "gmc-bvmf" in done.stdout
    done = shell(f"{COMMAND} ünknown", PYTHONIOENCODING="ascii", LC_ALL="C")
    assert done.returncode == 2 and done.stderr.isascii() and done.stderr.count("\n") == 1


def test_a_control_character_in_a_message_is_shown() -> None:
    done = shell(f"{COMMAND} $'\\x1b[31mred'")
    assert "\x1b" not in done.stderr and "x1b[31mred" in done.stderr


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_bar_does_not_go_into_a_redirected_file(monkeypatch: pytest.MonkeyPatch) -> None:
    """The output goes into a file, the terminal is the error stream: that is where the bar belongs."""
    output, screen = io.StringIO(), Terminal()
    monkeypatch.setattr(sys, "stdout", output)
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setenv("TERM", "xterm")
    with progress.new_progress(True) as bar:
        bar.say("going on in [/folder] :smile:")
        bar.begin("draws", 10, 0)
    assert output.getvalue() == ""
    assert "going on in [/folder] :smile:" in screen.getvalue() and "draws" in screen.getvalue()


@pytest.mark.parametrize("stream", [None, "closed"])
def test_progress_without_an_error_stream(stream: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    closed = io.StringIO()
    closed.close()
    monkeypatch.setattr(sys, "stderr", None if stream is None else closed)
    assert type(progress.new_progress(True)) is progress.Silent
    progress.Lines().say("nobody hears this")


def test_brackets_and_colons_are_no_markup(capsys: pytest.CaptureFixture[str]) -> None:
    table = Table("[/head]")
    table.add_row("[/bold] :smile: [red]")
    terminal.console().print(table)
    out = capsys.readouterr().out
    assert "[/head]" in out and "[/bold] :smile: [red]" in out


def test_what_an_encoding_lacks_is_escaped() -> None:
    raw = io.BytesIO()
    stream = Forgiving(io.TextIOWrapper(raw, encoding="ascii"))
    stream.write("1 ± 2")
    stream.flush()
    assert raw.getvalue() == b"1 \\xb1 2" and stream.encoding == "ascii"


def test_words_are_escaped_for_where_they_are_shown() -> None:
    assert shown("a\x1b[0m\u202eb\nc\ud800é…") == "a\\x1b[0m\\u202eb\\nc\\ud800é…"
    assert for_figure(r"$\frac1$") == r"\$\frac1\$"
    assert [for_csv(word) for word in ("=a", "+a", "-a", "@a", "a=", "")] == ["'=a", "'+a", "'-a", "'@a", "a=", ""]
