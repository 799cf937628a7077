"""Sixty kills: runs that die by SIGKILL again and again, at writes that a seed chooses, end bit by bit as if never cut.

A kill that finds the run finished would not count: each child must die by the signal before the last ends by itself.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from orthodrome.storage.events import read_events
from support.kill_cases import CASES

TESTS = Path(__file__).parents[1]
FARTHEST = 14
"""The latest write of a child at which it dies: some commits have been made by then, or none."""


def child(case: str, folder: Path, number: int) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(TESTS), str(TESTS.parent / "src")])}
    # only to spare the time of compiling the same program in every child
    cache = str(folder.parent / "cache")
    environment |= {"JAX_COMPILATION_CACHE_DIR": cache, "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0"}
    command = [sys.executable, str(TESTS / "support" / "kill_cases.py"), case, str(folder), str(number)]
    return subprocess.run(command, env=environment, capture_output=True, text=True)


def content(tree: Any) -> dict[str, Any]:
    groups = [group for group in ("posterior", "sample_stats", "warmup_sample_stats") if group in tree]
    arrays = {f"{group}/{name}": a for group in groups for name, a in tree[group].to_dataset().variables.items()}
    return {name: (a.dims, a.dtype.str, a.values.tobytes()) for name, a in arrays.items()}


def killed_and_resumed(case: str, folder: Path, kills: int) -> None:
    """Let children die in the same folder, then one of them finish; compare with a run that never stopped."""
    random = np.random.default_rng(kills)
    for number in random.integers(1, FARTHEST + 1, kills).tolist():
        done = child(case, folder, number)
        assert done.returncode == -signal.SIGKILL, f"{number}: {done.stdout}{done.stderr[-2000:]}"
    last = child(case, folder, 0)
    assert last.stdout == "finished\n", last.stderr[-2000:]
    assert content(CASES[case](folder)) == content(CASES[case](None))


@pytest.mark.parametrize("kills", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_a_few_kills(kills: int, tmp_path: Path) -> None:
    killed_and_resumed("beside", tmp_path / "run", kills)
    told = [event["event"] for event in read_events(tmp_path / "run" / "run")]
    assert told.count("begin") >= kills + 1 and told.count("end") == 1  # a killed run begins again, and ends once


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
def test_sixty_kills(case: str, tmp_path: Path) -> None:
    """Fifteen of each kind of run."""
    killed_and_resumed(case, tmp_path / "run", 15)
