"""Experiments in processes of their own, several at a time: most of them use one core for most of their time.

A child is this program again, `orthodrome reproduce NAME`, so that nothing is shared but the folder of results, in
which each has its own. The long ones begin first, or a core would wait for them at the end. Times of the processor,
which claims are about, do not count what a neighbour takes.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import IO, NamedTuple

LONG = ("minibatch-models", "sam-20news", "gmc-eigenmodel", "gmc-volleyball", "scir-dp", "scir-lda", "comets")
"""Those that take a minute of the processor and more at `quick` scale, the longest first."""
LOOK = 0.2
"""Seconds between two looks at the children."""


class EndedChild(NamedTuple):
    """An experiment that has ended: its name, and what it said went wrong; empty if nothing did."""

    name: str
    problem: str


class RunningChild(NamedTuple):
    """A process, and the file that takes what it says on the error stream."""

    process: subprocess.Popen[bytes]
    said: IO[bytes]


def longest_first(names: Iterable[str]) -> list[str]:
    """Return the experiments in the order in which they begin."""
    place = {name: k for k, name in enumerate(LONG)}
    return sorted(names, key=lambda name: place.get(name, len(LONG)))


def in_lanes(names: Iterable[str], lanes: int, options: Sequence[str]) -> Iterator[EndedChild]:
    """Run experiments, `lanes` at a time, and yield each as it ends; children that are left are ended with the loop.

    options: of `orthodrome reproduce`, the same for all
    """
    waiting, running = longest_first(names), dict[str, RunningChild]()
    try:
        while waiting or running:
            while waiting and len(running) < lanes:
                name = waiting.pop(0)
                running[name] = begin([sys.executable, "-m", "orthodrome", "reproduce", name, "--quiet", *options])
            ended = [name for name, child in running.items() if child.process.poll() is not None]
            for name in ended:
                yield EndedChild(name, problem(running.pop(name)))
            if not ended:
                time.sleep(LOOK)
    finally:
        for child in running.values():
            child.process.terminate()
            child.process.wait()


def begin(command: list[str]) -> RunningChild:
    """Start a child."""
    said = tempfile.TemporaryFile()  # noqa: SIM115 (it is closed when the child has ended)
    return RunningChild(subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=said), said)


def problem(child: RunningChild) -> str:
    """Return what a child that has ended said last if it failed, else nothing."""
    with child.said as said:
        said.seek(0)
        lines = said.read().decode("utf-8", "replace").strip().splitlines()
    if child.process.returncode == 0:
        return ""
    last = lines[-1].removeprefix("orthodrome: ") if lines else ""
    return last or f"its process ended with the code {child.process.returncode}"


def options_of(scale: str, seed: int, out: Path, data: Path | None) -> list[str]:
    """Return the options of the children."""
    found = ["--scale", scale, "--seed", str(seed), "--output", str(out)]
    return found if data is None else [*found, "--data", str(data)]
