"""What being watched costs a run, in three numbers that a busy or virtual machine does not blur.

**Journal.** The processor time that the run itself spends on telling its events (every method of `Journal`), over the
processor time of the run.

**Watcher.** The processor time of `orthodrome watch` in a second of the clock: what it can take from the cores of the
run at most.

**Beside.** One long run, beside which the watcher is stopped and woken in turns (SIGSTOP, SIGCONT). The processor time
of a draw while it is awake over that while it sleeps, paired between neighbouring turns, so that neither the drift of a
machine nor the difference between two runs counts; the mean with its 95 % interval. At most 1.01 is wanted.

    python -m benchmarks.watching [--quick]
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import pty
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

RESULTS = Path(__file__).parent / "results"
WANTED = 0.01
TURN = 2.0
"""Seconds of a turn."""


def run(folder: str, seconds: float) -> None:
    """The run that is watched; it prints the clock, the processor time and the draws of every chunk."""
    import jax.numpy as jnp

    import orthodrome as od
    from benchmarks.overhead import regression
    from orthodrome.run.journal import Journal

    spent, chunks = [0.0], []

    def timed(name: str) -> Any:
        method = getattr(Journal, name)

        def told(*given: Any, **named: Any) -> Any:
            began = time.thread_time()
            try:
                return method(*given, **named)
            finally:
                spent[0] += time.thread_time() - began
                if name == "chunk" and given[1] == "draws":
                    chunks.append((time.monotonic(), time.process_time(), given[2]))

        return told

    for name in ("begin", "chunk", "tell", "stop_wanted"):
        setattr(Journal, name, timed(name))
    start = jnp.asarray(np.eye(100)[0], jnp.float32)
    sampler = od.GeodesicHMC(od.FullGradient(regression(20_000)), step_size=0.02, num_steps=10)
    rate = 1.0
    for count in (200, None):  # the first is to know how many draws the second has time for
        spent[0], cpu = 0.0, time.process_time()
        chunks.clear()
        place = f"{folder}/try" if count else f"{folder}/run"
        total = count or max(200, int(rate * seconds))
        od.sample(
            sampler,
            start,
            seed=0,
            num_chains=2,
            num_warmup=0,
            num_draws=total,
            progress=False,
            checkpoint=place,
            check=False,
        )
        early = chunks[len(chunks) // 2]
        rate = (total - early[2]) / max(1e-3, time.monotonic() - early[0]) if count else rate
    print(json.dumps({"journal": spent[0], "processor": time.process_time() - cpu, "chunks": chunks}))


def watcher(folder: Path) -> tuple[subprocess.Popen[bytes], int]:
    """`orthodrome watch` in a terminal of its own, which nobody reads but this."""
    ours, theirs = pty.openpty()
    os.set_blocking(ours, False)
    line = [sys.executable, "-m", "orthodrome", "watch", str(folder)]
    return subprocess.Popen(line, stdin=theirs, stdout=theirs, stderr=theirs), ours


def processor_seconds(process: int) -> float:
    """The processor time of a process so far."""
    fields = Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def drained(terminal: int) -> None:
    try:
        while os.read(terminal, 65536):
            pass
    except BlockingIOError:
        pass


def measured(seconds: float) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        line = [sys.executable, "-m", "benchmarks.watching", "--run", folder, "--seconds", str(seconds)]
        process = subprocess.Popen(line, stdout=subprocess.PIPE, text=True)
        events = Path(folder) / "run" / "_orthodrome" / "events.jsonl"
        while not events.exists() and process.poll() is None:
            time.sleep(0.1)
        watch, terminal = watcher(Path(folder) / "run")
        time.sleep(5 * TURN)  # its start is not counted
        turns, awake, cpu, clock = [], True, processor_seconds(watch.pid), 0.0
        while process.poll() is None and watch.poll() is None:
            began = time.monotonic()
            time.sleep(TURN)
            drained(terminal)
            turns.append((began, time.monotonic(), awake))
            clock += turns[-1][1] - began if awake else 0.0
            awake = not awake
            used = processor_seconds(watch.pid) - cpu
            watch.send_signal(signal.SIGCONT if awake else signal.SIGSTOP)
        watch.send_signal(signal.SIGCONT)
        watch.terminate()
        watch.wait()
        told = json.loads(process.communicate()[0])
    return {"journal": told["journal"] / told["processor"], "watcher": used / clock} | beside(turns, told["chunks"])


def beside(turns: list[tuple[float, float, bool]], chunks: list[tuple[float, float, int]]) -> dict[str, Any]:
    """The processor time of a draw with the watcher awake over that without, of neighbouring turns."""
    at, cpu, done = map(np.array, zip(*chunks, strict=True))
    costs = []
    for begin, end, awake in turns:
        inside = np.flatnonzero((at >= begin) & (at <= end))
        if len(inside) > 1 and done[inside[-1]] > done[inside[0]]:
            first, last = inside[0], inside[-1]
            costs.append((awake, (cpu[last] - cpu[first]) / (done[last] - done[first])))
    pairs = [(one, two) for one, two in itertools.pairwise(costs) if one[0] != two[0]][::2]
    logs = np.array([np.log(one[1] / two[1]) * (1 if one[0] else -1) for one, two in pairs])
    error = 1.96 * logs.std(ddof=1) / np.sqrt(len(logs))
    return {"beside": float(np.expm1(logs.mean())), "interval": float(error), "pairs": len(logs)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--run", help=argparse.SUPPRESS)
    parser.add_argument("--seconds", type=float, default=150.0)
    given = parser.parse_args()
    if given.run:
        return run(given.run, given.seconds)
    found = measured(40.0 if given.quick else given.seconds)
    print(f"the journal takes {found['journal']:.3%} of the run's processor time")
    print(f"the watcher takes {found['watcher']:.2%} of a core (at most {WANTED:.0%} is wanted)")
    print(f"a draw costs {found['beside']:+.2%} +- {found['interval']:.2%} with it awake ({found['pairs']} pairs)")
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / "watching.json").write_text(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
