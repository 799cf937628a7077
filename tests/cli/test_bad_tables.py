"""Generated bad tables and model files: one line and a code, no traceback, no hang, no file half written, and nothing
that a terminal or a spreadsheet would run.

What is drawn is replaced by a small result; reading, checks, folders, tables and the terminal are real.
"""

from __future__ import annotations

import csv
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import orthodrome.cli.main as cli
from orthodrome.cli import terminal
from orthodrome.jobs.sample import kind as sample_kind
from orthodrome.jobs.sampled import kind as sampled_kind
from orthodrome.jobs.sampled.result import NamedTable, SampledResult, save_result
from support import bad_tables

pytestmark = pytest.mark.filterwarnings("ignore")

PATIENCE = 600


class Hung(BaseException):
    """A line that does not end."""


def texts(content: Any) -> Iterator[str]:
    """Yield every text in plain data."""
    if isinstance(content, str):
        yield content
    elif isinstance(content, dict):
        yield from (text for value in content.values() for text in texts(value))
    elif isinstance(content, list | tuple):
        yield from (text for value in content for text in texts(value))


def small_result(content: Any) -> SampledResult:
    """A result with every text of the data in its table."""
    rows = [[text, 0.5] for text in dict.fromkeys(texts(content))] or [["none", 0.5]]
    return SampledResult(
        {"table": NamedTable(("name", "value"), rows)}, {"rows": float(len(rows))}, "nothing was drawn"
    )


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """No draws and no figures; a line that waits for ever raises."""

    def hung(*_: Any) -> None:
        raise Hung

    def learn(self: Any, job: Any, data: Any, folder: Path, progress: bool) -> Any:
        return sampled_kind.Fitted(None, small_result(self.plain(data)))

    def write(self: Any, job: Any, data: Any, found: Any, folder: Path) -> list[Path]:
        save_result(found.result, folder)
        return []

    monkeypatch.setattr(sampled_kind.SampledFitting, "learn", learn)
    monkeypatch.setattr(sampled_kind.SampledFitting, "write", write)
    drawn = lambda self, job, data, folder, progress: sample_kind.DrawnModel(None, small_result([data.text[:50]]))
    monkeypatch.setattr(sample_kind.SampleFitting, "learn", drawn)
    monkeypatch.setattr(sample_kind.SampleFitting, "write", write)
    monkeypatch.setattr(terminal, "use_all_cores", lambda: None)
    before = signal.signal(signal.SIGALRM, hung)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


def called(words: list[str], capsys: pytest.CaptureFixture[str]) -> tuple[int, str, str]:
    capsys.readouterr()
    path, modules = list(sys.path), set(sys.modules)
    signal.alarm(PATIENCE)
    try:
        code = cli.main(words)
    except Hung:
        return -1, "", "HUNG"
    except BaseException as error:
        return -1, "", f"RAISED {type(error).__name__}: {error}"
    finally:
        signal.alarm(0)
        sys.path[:] = path
        sys.modules.pop("orthodrome_model", None)
        assert "nosuchmodule" not in set(sys.modules) - modules
    return code, *capsys.readouterr()


def fault(code: int, out: str, errors: str, folder: Path) -> str | None:
    """Return what is wrong with the end of a line, or None."""
    lines = [line for line in errors.splitlines() if line.startswith("orthodrome: ") and "warning: " not in line]
    if code < 0 or "Traceback" in errors or "--debug for the whole story" in errors:
        return errors[-300:]
    if "\x1b" in out + errors or "‮" in out + errors:
        return "an escape reached the terminal"
    if code and not (len(lines) == 1 and errors.endswith(lines[0] + "\n")) and "NOT stationary" not in out:
        return f"{len(lines)} lines: {errors[-300:]}"
    half = [path.name for path in folder.rglob("*.part*")]
    if half:
        return f"half written: {half}"
    if code and (folder / "out" / "result.json").exists():
        return "a result of a line that failed"
    return formulas(folder)


def formulas(folder: Path) -> str | None:
    for path in folder.glob("out/*.csv"):
        with open(path, newline="", encoding="utf-8") as file:
            bad = [cell for row in csv.reader(file) for cell in row if cell[:1] in tuple("=+@")]
        if bad:
            return f"a formula in {path.name}: {bad[0]:.30}"
    return None


def refuse(seed: int, wanted: int, base: Path, patch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Call spoilt lines until so many were refused, and assert that none did harm."""
    refused, faults = 0, []
    for line in bad_tables.bad_tables(seed, base):
        patch.chdir(line.folder)
        code, out, errors = called(line.words, capsys)
        refused += code != 0
        if (wrong := fault(code, out, errors, line.folder)) is not None:
            faults.append(f"{line.what}: {wrong}")
        if refused == wanted:
            break
    assert not faults, f"{len(faults)} faults:\n" + "\n".join(faults)


def test_forty_bad_tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    refuse(17, 40, tmp_path, monkeypatch, capsys)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100, 110))
def test_many_bad_tables(
    seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    refuse(seed, 30, tmp_path, monkeypatch, capsys)


def test_what_works_is_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The unspoilt lines end well: the faults above are those of what was spoilt."""
    random = np.random.default_rng(0)
    for number, case in enumerate(bad_tables.CASES):
        made, path = case.text(random), tmp_path / f"{number}{case.suffix}"
        mark = "\t" if case.suffix == ".tsv" else ","
        path.write_text("\n".join(mark.join(row) for row in made) if isinstance(made, list) else made)
        source = [str(path)] if case.suffix == ".py" else ["--input", str(path)]
        output = [] if case.words[0] == "check" else ["--output", str(tmp_path / f"out{number}")]
        code, _, errors = called(
            [
                case.words[0],
                *(source if case.suffix == ".py" else []),
                *case.words[1:],
                *(source if case.suffix != ".py" else []),
                *output,
            ],
            capsys,
        )
        assert code == 0, (case.words, errors)


@pytest.mark.parametrize("name", bad_tables.NAMES)
def test_names_are_harmless(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A player's name that is a formula, an escape or markup comes back as text in CSV, JSON and terminal."""
    path = tmp_path / "in.csv"
    with open(path, "w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([["winners", "losers"], [name, "b"], ["b", "c"]])
    line = ["compare-teams", "fit", "--input", str(path), "--separator", "none", "--output", str(tmp_path / "out")]
    code, out, errors = called(line, capsys)
    assert code == 0, errors
    assert fault(code, out, errors, tmp_path) is None
    assert cli.main(["compare-teams", "show", str(tmp_path / "out")]) == 0
    assert "\x1b" not in capsys.readouterr().out
