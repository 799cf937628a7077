"""Runs that die by SIGKILL at a chosen write of theirs, and can be called again: in child processes of `test_kills`.

A run commits after every chunk and writes short blocks, so that it has hundreds of writes. It dies at a write whose
number is given, never by a clock: before the file takes its place, with half of it written, or just after.

    python kill_cases.py CASE FOLDER NUMBER      NUMBER 0: it is not killed, and prints "finished"
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from orthodrome.run import pace
from orthodrome.storage import blocks, checkpoint
from support.run_cases import draws

COUNTS = np.random.default_rng(0).poisson(1.0, (40, 12)) + np.eye(12, dtype=int)[np.arange(40) % 12]
ROWS = COUNTS / np.linalg.norm(COUNTS, axis=1, keepdims=True)
TOPICS: dict[str, Any] = {"num_warmup": 40, "num_draws": 80, "thin": 1, "random_state": 0, "n_jobs": 1}


def inside(folder: Path | None) -> Any:
    """A run with its draws in the checkpoint."""
    return draws(num_warmup=60, num_draws=200, keep_warmup=True, **at(folder))


def beside(folder: Path | None) -> Any:
    """A run with a store beside the checkpoint."""
    store = {} if folder is None else {"store": folder / "store"}
    return draws(num_warmup=60, num_draws=200, **at(folder and folder / "run"), **store)


def sam(folder: Path | None) -> Any:
    """Spherical topics, with held-out documents that are watched."""
    from orthodrome import SAM  # here: a child that does without is spared the import

    return SAM(3, method="gsgnht", num_steps=2, **TOPICS).fit(ROWS, held_out=ROWS[:9], **at(folder)).draws_


def lda(folder: Path | None) -> Any:
    """Topics of words by Gibbs sweeps, with a learnt prior."""
    from orthodrome import LDA

    return LDA(3, method="gibbs", learn_prior=True, **TOPICS).fit(COUNTS, held_out=COUNTS[:9], **at(folder)).draws_


CASES: dict[str, Callable[[Path | None], Any]] = {"inside": inside, "beside": beside, "sam": sam, "lda": lda}


def at(folder: Path | None) -> dict[str, Any]:
    return {} if folder is None else {"checkpoint": folder, "checkpoint_every": 0.0}


def die_at(number: int, folder: str) -> None:
    """Kill this process at the write with this number into the folder."""
    replace, count = os.replace, 0

    def dying(source: Any, target: Any) -> None:
        nonlocal count
        count += str(target).startswith(folder)
        if count == number and number % 3 == 0:
            os.truncate(source, os.path.getsize(source) // 2)
        if count == number and number % 3 < 2:
            os.kill(os.getpid(), signal.SIGKILL)
        replace(source, target)
        if count == number:
            os.kill(os.getpid(), signal.SIGKILL)

    os.replace = dying


if __name__ == "__main__":
    name, place, number = sys.argv[1], sys.argv[2], int(sys.argv[3])
    pace.SECONDS, checkpoint.COST_SHARE, blocks.LONGEST_BLOCK = 1e-9, np.inf, 8
    if number:
        die_at(number, place)
    CASES[name](Path(place))
    print("finished", flush=True)
