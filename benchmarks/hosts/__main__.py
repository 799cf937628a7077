"""Two processes on two cores against one process on one core, side by side; exchange; memory of 1, 2 and 4 processes.

    python -m benchmarks.hosts [chains] [rows] [lda] [memory] [--data DIR] [--rounds 3] [--quick]

`chains`: 16 chains of a logistic regression with 1,000 rows. `rows`: the full gradient of one with 1,000,000 rows,
which are spread. `lda`: exact sweeps with 100 topics over `wikipedia_simple` of DIR. Each round runs the one process,
which has one thread and one device, then the two, and then two that know nothing of each other, each with the work of
the one: their throughput is what the machine allows. Cores of virtual machines share a way to memory or even a core now
and then, and two processes cannot gain more than that. The figures are medians over rounds. The share of exchange is
that of the time in which a process waits for an exchange to end, the other processes' delay included; where exchanges
are inside of a compiled program it is the difference to the same program with the rows of the process alone.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

ASKED, EXCHANGE = 1.8, 0.05
"""How many times the throughput of one process is asked of two, and the largest share of exchange."""
TABLE = (1 << 17, 1 << 9)
"""The shape of the table of `memory`, in float32."""
ONE_THREAD = {"OMP_NUM_THREADS": "1", "NUMBA_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}


def figures(case: str, processes: int, options: list[str]) -> list[dict[str, Any]]:
    """Return what each of some processes found; one process keeps to one core."""
    if processes == 1:
        return on_cores(case, sorted(os.sched_getaffinity(0))[:1], options)
    with tempfile.TemporaryDirectory() as folder:
        launcher = [sys.executable, "-m", "orthodrome", "launch", "-n", str(processes), "--"]
        subprocess.run(launcher + work(case, folder, options), check=True, env=environment())
        return [found_in(folder, case, number) for number in range(processes)]


def on_cores(case: str, cores: list[int], options: list[str]) -> list[dict[str, Any]]:
    """Return what processes found that know nothing of each other, at the same time, each with one of some cores."""
    before, found = os.sched_getaffinity(0), []
    with contextlib.ExitStack() as stack:
        folders = [stack.enter_context(tempfile.TemporaryDirectory()) for _ in cores]
        try:
            for core, folder in zip(cores, folders, strict=True):
                os.sched_setaffinity(0, {core})
                command = work(case, folder, options)
                found.append(subprocess.Popen(command, env=environment() | ONE_THREAD))
        finally:
            os.sched_setaffinity(0, before)
        if any([process.wait() for process in found]):
            raise SystemExit(f"{case}: a process failed")
        return [found_in(folder, case, 0) for folder in folders]


def work(case: str, folder: str, options: list[str]) -> list[str]:
    """Return the command of a process that writes its figures into a folder, which has what the case needs."""
    if case == "memory":
        np.save(Path(folder) / "table.npy", np.ones(TABLE, np.float32))
    return [sys.executable, "-m", "benchmarks.hosts.cases", case, folder, *options]


def environment() -> dict[str, str]:
    """Return the environment of a process without the numbers of devices of this one."""
    return {name: value for name, value in os.environ.items() if not name.startswith("JAX_NUM")}


def found_in(folder: str, case: str, number: int) -> dict[str, Any]:
    """Return the figures of a process."""
    found: dict[str, Any] = json.loads((Path(folder) / f"{case}.{number}.json").read_text())
    return found


def exchange_share(found: list[dict[str, Any]]) -> float:
    """Return the largest share of exchange of any process."""
    inside = [1 - each["seconds_without_exchange"] / each["seconds"] for each in found if "gradients" in each]
    return max(inside or [each["exchange_seconds"] / each["seconds"] for each in found])


def compare(case: str, rounds: int, options: list[str]) -> None:
    """Print the ratio of throughputs and the share of exchange."""
    ratios, shares, limits = [], [], []
    usable = sorted(os.sched_getaffinity(0))
    cores = [usable[0], usable[-1]]
    for number in range(rounds):
        one, two = figures(case, 1, options), figures(case, 2, options)
        slowest = max(each["seconds"] for each in two)
        ratios.append(one[0]["seconds"] / slowest)
        limits.append(2 * one[0]["seconds"] / max(each["seconds"] for each in on_cores(case, cores, options)))
        shares.append(exchange_share(two))
        work = one[0]["work"]
        print(
            f"{case} {number + 1}: one {1e3 * one[0]['seconds'] / work:.3f} ms, two {1e3 * slowest / work:.3f} ms for "
            f"each unit: {ratios[-1]:.2f} times; exchange {shares[-1]:.1%}, {two[0]['exchanges']:.0f} exchanges of "
            f"{two[0]['bytes'] / max(1, two[0]['exchanges']):.0f} bytes outside of programs; processor seconds "
            f"{one[0]['processor_seconds']:.2f}, {sum(each['processor_seconds'] for each in two):.2f}: "
            f"{one[0]['processor_seconds'] / max(each['processor_seconds'] for each in two):.2f} times without "
            f"waiting; two that exchange nothing: {limits[-1]:.2f} times",
            flush=True,
        )
    ratio, share = float(np.median(ratios)), float(np.median(shares))
    verdict = "as asked" if ratio >= ASKED and share <= EXCHANGE else "NOT as asked"
    print(
        f"{case}: {ratio:.2f} times (asked {ASKED}; two that exchange nothing {np.median(limits):.2f}), "
        f"exchange {share:.1%} (asked {EXCHANGE:.0%}): {verdict}",
        flush=True,
    )


def show_memory(options: list[str]) -> None:
    """Print how much of a table each process holds."""
    for processes in (1, 2, 4):
        for each in figures("memory", processes, options):
            print(
                f"memory: process {each['process']} of {processes} has {each['own'] / 1e6:.0f} MB of the table of "
                f"{each['table'] / 1e6:.0f} MB; it grew by {each['grown'] / 1e6:.0f} MB to {each['peak'] / 1e6:.0f}",
                flush=True,
            )


def main() -> None:
    """Run the cases that are asked for."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.hosts", description=__doc__)
    parser.add_argument("cases", nargs="*", metavar="CASE", help="of chains, rows, lda, memory; all by default")
    parser.add_argument("--data", type=Path, help="the folder that has wikipedia_simple")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--quick", action="store_true", help="does everything run? The numbers mean little")
    given = parser.parse_args()
    options = (["--data", str(given.data)] if given.data else []) + ["--quick"] * given.quick
    for case in given.cases or ["chains", "rows", "memory"] + ["lda"] * (given.data is not None):
        if case == "lda" and given.data is None:
            parser.error("lda needs --data")
        show_memory(options) if case == "memory" else compare(case, 1 if given.quick else given.rounds, options)


if __name__ == "__main__":
    main()
