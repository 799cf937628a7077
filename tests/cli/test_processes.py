"""Commands in several processes, as `srun` and `orthodrome launch` start them: all draw, the first reads and writes."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from pathlib import Path

import pytest

import orthodrome.cli.main as cli
from orthodrome.cli import terminal
from orthodrome.core.processes import COORDINATOR, PROCESS, PROCESSES
from orthodrome.errors import BadInput

LIMIT = 900
"""Seconds after which processes are ended, on a machine as busy as can be."""


def one_of_two(patch: pytest.MonkeyPatch, number: int) -> None:
    for name, value in ((COORDINATOR, "127.0.0.1:9"), (PROCESSES, "2"), (PROCESS, str(number))):
        patch.setenv(name, value)


def test_the_first_process_speaks(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    for number, said in ((0, "a line\n"), (1, "")):
        one_of_two(monkeypatch, number)
        terminal.console().print("a line")
        assert capsys.readouterr().out == said


@pytest.mark.parametrize(
    "words", [["reproduce", "gmc-bvmf"], ["demo"], ["check", "sde.py"], ["topics", "compare", "a", "b"]], ids=" ".join
)
def test_what_would_be_done_twice_is_refused(
    words: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    one_of_two(monkeypatch, 1)
    assert cli.main(words) == 1
    assert "works in one process, and this is process 1 of 2" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_a_command_may_be_alone_among_the_tasks_of_a_scheduler(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SLURM_PROCID", "3")
    monkeypatch.setenv("SLURM_STEP_NUM_TASKS", "8")
    monkeypatch.setenv(COORDINATOR, "node1:9437")
    with pytest.raises(BadInput, match=f"process 3 of 8 .says Slurm.: start it once, or set {PROCESSES}=1"):
        terminal.refuse_processes("demo")
    monkeypatch.setenv(PROCESSES, "1")
    monkeypatch.setenv(PROCESS, "0")
    terminal.refuse_processes("demo")
    assert not terminal.join_processes()


def run(*words: str, folder: Path, processes: int = 1, code: int = 0) -> str:
    """Run a command in so many processes and return what it printed."""
    command = [sys.executable, "-m", "orthodrome"]
    launch = [*command, "launch", "-n", str(processes), "--"] if processes > 1 else []
    clean = {name: value for name, value in os.environ.items() if not name.startswith("JAX_")}
    done = subprocess.run(
        [*launch, *command, *words, "--quiet"], env=clean, cwd=folder, capture_output=True, text=True, timeout=LIMIT
    )
    assert done.returncode == code, done.stderr
    return done.stdout + done.stderr


@pytest.mark.slow
def test_topics_of_two_processes_are_those_of_one(tmp_path: Path) -> None:
    rng = random.Random(0)
    subjects = ("alpha beta gamma delta", "red green blue yellow")
    texts = [" ".join(rng.choices(subjects[number % 2].split(), k=30)) for number in range(60)]
    (tmp_path / "texts.csv").write_text("text\n" + "\n".join(texts))
    line = ["topics", "fit", "--model", "lda", "--input", "texts.csv", "--num-topics", "2", "--max-df", "1.0"]
    line += ["--num-iterations", "60"]
    said = run(*line, "--output", "two", "--output-topic-keys", "keys.txt", folder=tmp_path, processes=2)
    assert said.count("report, to be opened") == 1
    run(*line, "--output", "one", folder=tmp_path)
    for name in ("topic-keys.txt", "doc-topics.txt"):
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes(), name
    assert (tmp_path / "keys.txt").read_bytes() == (tmp_path / "one" / "topic-keys.txt").read_bytes()


@pytest.mark.slow
def test_a_fit_of_two_processes_is_one_folder(tmp_path: Path) -> None:
    (tmp_path / "sets.csv").write_text("winners,losers\na,b\nb,c\na,c\nc,b\n")
    line = ["compare-teams", "fit", "--input", "sets.csv", "--num-warmup", "100", "--num-draws", "100"]
    said = run(*line, "--output", "fit", folder=tmp_path, processes=2)
    assert said.count("4 contests of 3 players") == said.count("report, to be opened") == 1
    before = (tmp_path / "fit" / "strengths.csv").read_bytes()
    run("compare-teams", "resume", "fit", folder=tmp_path, processes=2)
    assert (tmp_path / "fit" / "strengths.csv").read_bytes() == before
    assert "is not empty" in run(*line, "--output", "fit", folder=tmp_path, processes=2, code=1)
    alone = run("compare-teams", "resume", "fit", folder=tmp_path, code=1)
    assert "belongs to another run: 2 processes then, 1 now. Use" in alone
    line[line.index("sets.csv")] = "nowhere.csv"
    assert "process 0 of 2 failed: cannot read nowhere.csv" in run(
        *line, "--output", "other", folder=tmp_path, processes=2, code=1
    )
    assert not (tmp_path / "other").exists()
