"""`kill -9` of any process at random moments: all end, a line says who, and a new start ends in the same draws."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

CASE = Path(__file__).parents[1] / "support" / "hosts_kill_case.py"
KILLS, LONGEST, LIMIT = 20, 8.0, 900
"""How many kills, the longest time from the start of both processes to a kill, and a bound of a launch (seconds)."""


def launched(folder: Path, result: Path) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "orthodrome", "launch", "-n", "2", "--", sys.executable, CASE, folder, result]
    return subprocess.Popen(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def children(pid: int) -> list[int]:
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rsplit(")", 1)[1].split()
        except OSError:
            continue
        if int(fields[1]) == pid:
            found.append(int(path.parent.name))
    return sorted(found)


def killed_once(folder: Path, result: Path, rng: random.Random) -> bool:
    """Launch, kill one of the processes at a random moment; return whether it was killed before its end."""
    launch = launched(folder, result)
    assert launch.stdout is not None
    alive = [launch.stdout.readline() for _ in range(2)]
    assert all("alive" in line for line in alive)
    time.sleep(rng.uniform(0, LONGEST))
    processes = children(launch.pid)
    if launch.poll() is not None or len(processes) < 2:
        launch.communicate(timeout=LIMIT)
        return False
    os.kill(rng.choice(processes), signal.SIGKILL)
    _, said = launch.communicate(timeout=LIMIT)
    assert "was killed by SIGKILL" in said and launch.returncode == 137
    assert not any(Path(f"/proc/{pid}").exists() for pid in processes)
    return True


@pytest.mark.slow
def test_killed_and_started_again_it_ends_in_the_same_draws(tmp_path: Path) -> None:
    launch = launched(tmp_path / "whole", tmp_path / "whole.npy")
    launch.communicate(timeout=LIMIT)
    assert launch.returncode == 0
    rng, kills, run = random.Random(0), 0, 0
    while kills < KILLS:
        folder, result = tmp_path / f"run-{run}", tmp_path / f"run-{run}.npy"
        if killed_once(folder, result, rng):
            kills += 1
            continue
        assert np.array_equal(np.load(result), np.load(tmp_path / "whole.npy"))
        run += 1
    launch = launched(tmp_path / f"run-{run}", tmp_path / f"run-{run}.npy")
    launch.communicate(timeout=LIMIT)
    assert np.array_equal(np.load(tmp_path / f"run-{run}.npy"), np.load(tmp_path / "whole.npy"))
