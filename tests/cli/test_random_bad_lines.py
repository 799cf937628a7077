"""Three hundred bad command lines end in one line and a code: no traceback, no hang, nothing of the user's touched.

A spoilt line may still be a good one (another seed, another word); it does not count, and must not harm either. Most
lines run in this process, where what takes minutes is replaced by something small; one of every seed runs as it is.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import orthodrome.cli.main as cli
from orthodrome.cli import terminal
from orthodrome.corpora import from_words
from orthodrome.experiments.support import contract
from orthodrome.jobs.cluster import fit as cluster_fit
from orthodrome.jobs.topics import demo, documents, fit
from support import bad_lines

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]

SEEDS, WANTED, PATIENCE = range(2026, 2038), 25, 900
SOURCE = Path(cli.__file__).parents[2]


class Hung(BaseException):
    """A line that does not end."""


@pytest.fixture(scope="module")
def workshop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Corpora, and for each model a finished fit and one that was stopped before its result."""
    folder = tmp_path_factory.mktemp("workshop") / "w"
    folder.mkdir()
    bad_lines.write_corpora(folder / "in")
    for model, options in bad_lines.FITS.items():
        for kind in ("done", "cut"):
            line = ["topics", "fit", "--input", str(folder / "in" / "words.npz"), *options, *bad_lines.USUAL]
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(fit, "write_figures", lambda *_: [])
                if kind == "cut":
                    patch.setattr(fit, "write_tables", lambda *_: (_ for _ in ()).throw(RuntimeError("killed")))
                assert cli.main([*line, "--output", str(folder / f"{model}-{kind}")]) == (kind == "cut")
    name, own = next(iter(bad_lines.ROWS.items()))
    for kind in ("done", "cut"):
        line = ["cluster", "fit", "--input", str(folder / "in" / name), *own, *bad_lines.CLUSTERS]
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(cluster_fit, "write_figures", lambda *_: [])
            if kind == "cut":
                patch.setattr(cluster_fit, "write_tables", lambda *_: (_ for _ in ()).throw(RuntimeError("killed")))
            assert cli.main([*line, "--output", str(folder / f"cluster-{kind}")]) == (kind == "cut")
    return folder


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """No figures, a small demonstration, experiments that claim one thing."""
    claim = contract.Claim("one", "a claim", 1, 1, True)
    tiny = {"num_topics": 2, "num_iterations": 5, "min_df": 1, "max_df": 1.0, "min_words": 1, "num_threads": 1}
    corpus = bad_lines.documents()
    names = [str(number) for number in range(len(corpus))]
    monkeypatch.setattr(fit, "write_figures", lambda *_: [])
    monkeypatch.setattr(cluster_fit, "write_figures", lambda *_: [])
    monkeypatch.setattr(demo, "SETTINGS", tiny)
    monkeypatch.setattr(documents, "python_docstrings", lambda: from_words(corpus, names))
    monkeypatch.setattr(contract, "run_in", lambda context, module: {"claims": [vars(claim)], "seconds": 0.0})
    monkeypatch.setattr(terminal, "use_all_cores", lambda: None)
    monkeypatch.setattr(cli, "two_instruments", lambda *_: None)


@pytest.fixture(autouse=True)
def impatience() -> Iterator[Any]:
    """Raise in a line that waits for ever."""

    def hung(*_: Any) -> None:
        raise Hung

    before = signal.signal(signal.SIGALRM, hung)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


def called(words: list[str], capsys: pytest.CaptureFixture[str]) -> tuple[int, str]:
    """Return the code of a line in this process, and what it said on the error stream."""
    capsys.readouterr()
    signal.alarm(PATIENCE)
    try:
        code = cli.main(words)
    except Hung:
        return -1, "HUNG"
    except BaseException as error:
        return -1, f"RAISED {type(error).__name__}: {error}"
    finally:
        signal.alarm(0)
    return code, capsys.readouterr().err


def executed(words: list[str], folder: Path) -> tuple[int, str]:
    """Return the same of a process of its own."""
    environment = os.environ | {"PYTHONPATH": str(SOURCE), "JAX_PLATFORMS": "cpu"}
    command = [sys.executable, "-m", "orthodrome", *words]
    try:
        done = subprocess.run(command, env=environment, cwd=folder, capture_output=True, timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        return -1, "HUNG"
    return done.returncode, done.stderr.decode("utf-8", "replace")


def fault(code: int, errors: str) -> str | None:
    """Return what is wrong with the end of a bad line, or None."""
    lines = [line for line in errors.splitlines() if line.startswith("orthodrome: ") and "warning: " not in line]
    if code < 0 or "Traceback" in errors or "--debug for the whole story" in errors or "\x1b" in errors:
        return errors[-400:]
    if len(lines) != 1 or not errors.endswith(lines[0] + "\n"):
        return f"{len(lines)} lines: {errors[-400:]}"
    return None


def untouched(folder: Path) -> bool:
    """Return whether the user's folder is as it was."""
    mine = {path.name: path.read_text() for path in (folder / "mine").iterdir() if path.is_file()}
    return mine == {"thesis.txt": "mine", "result.json": "mine"} and len(list((folder / "mine").iterdir())) == 2


def can_be_executed(words: list[str]) -> bool:
    """Return whether the words can be given to a process, and name a command that ends in seconds."""
    return words[:1] in (["topics"], ["cluster"]) and not any("\0" in word or "\ud800" in word for word in words)


CASES = [*((seed, bad_lines.LINES) for seed in SEEDS), *((seed, bad_lines.CLUSTER_LINES) for seed in (7, 8))]


@pytest.mark.parametrize(("seed", "working"), CASES, ids=lambda case: case if isinstance(case, int) else case[0][0])
def test_bad_lines(
    seed: int,
    working: list[list[str]],
    workshop: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    refused, executed_one, faults = 0, False, []
    for line in bad_lines.bad_lines(seed, workshop, tmp_path, working):
        folder = next(path for path in tmp_path.iterdir() if path.name.isdigit()) / "deep" / "down"
        monkeypatch.chdir(folder)
        real = not executed_one and can_be_executed(line.words)
        executed_one |= real
        code, errors = executed(line.words, folder) if real else called(line.words, capsys)
        refused += code != 0
        wrong = fault(code, errors) if code else None
        if wrong is not None or not untouched(folder):
            faults.append(f"{line.what}: {wrong or 'TOUCHED'}")
        monkeypatch.chdir(tmp_path)
        if refused == WANTED:
            break
    assert not faults, f"{len(faults)} faults:\n" + "\n".join(faults)
    assert executed_one
