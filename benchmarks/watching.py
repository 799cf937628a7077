"""What being watched costs a run, in three numbers that a busy or virtual machine does not blur.

**Journal.** The processor time that the run itself spends on telling its events (every method of `Journal`), over the
processor time of the run, watched or not: from its `SETTLED`th chunk on, since the first hold the compilation.

**Watcher.** The processor time of `orthodrome watch` in a second of the clock, for a fifth of the time, once it has
started: what it can take from the cores of the run at most. It looks less often if looking takes longer.

**Beside.** One long run, beside which the watcher is stopped and woken in turns (SIGSTOP, SIGCONT). The processor time
of a draw while it is awake over that while it sleeps, paired between neighbouring turns, so that neither the drift of a
machine nor the difference between two runs counts; the mean with its 95 % interval. At most 1.01 is wanted. A watcher
that is woken looks at once, so in these turns it looks more often than one that is left alone.

The run goes on until it is asked to stop, so the whole takes as long as is asked for on any machine.

    python -m benchmarks.watching [--quick] [--seconds 200]
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import pty
import select
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from orthodrome.storage.events import EVENTS, ask_to_stop

RESULTS = Path(__file__).parent / "results"
WANTED = 0.01
TURN = 2.0
"""Seconds of a turn: the watcher looks every second."""
SETTLED = 5
ROWS = 1_000
"""Of the data of the run. They stay in the cache, and one thread computes: what a draw costs of larger ones, shared
between threads that wait for each other, differs between neighbouring turns by 13 % on a virtual machine."""


def run(folder: str) -> None:
    """The run that is watched; it prints the clock, the processor time, the draws and the journal's time so far of
    every chunk."""
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
                    chunks.append((time.monotonic(), time.process_time(), given[2], spent[0]))

        return told

    for name in ("begin", "chunk", "tell", "stop_wanted"):
        setattr(Journal, name, timed(name))
    od.sample(
        od.GeodesicHMC(od.FullGradient(regression(ROWS)), step_size=0.02, num_steps=10),
        jnp.asarray(np.eye(100)[0], jnp.float32),
        seed=0,
        num_chains=2,
        num_warmup=0,
        num_draws=1_000_000,
        progress=False,
        checkpoint=folder,
        check=False,
    )
    print(json.dumps(chunks))


def watcher(folder: Path) -> tuple[subprocess.Popen[bytes], int]:
    """`orthodrome watch` in a terminal of its own, which nobody reads but this."""
    ours, theirs = pty.openpty()
    os.set_blocking(ours, False)
    line = [sys.executable, "-m", "orthodrome", "watch", str(folder)]
    return subprocess.Popen(line, stdin=theirs, stdout=theirs, stderr=theirs), ours


def processor_seconds(process: int) -> float:
    """The processor time of a process so far, of all its threads, to the nanosecond."""
    threads = Path(f"/proc/{process}/task").iterdir()
    return sum(int((thread / "schedstat").read_text().split()[0]) for thread in threads) / 1e9


def waited(terminal: int, seconds: float) -> None:
    """Wait, and read away what was shown in the meantime."""
    time.sleep(seconds)
    try:
        while os.read(terminal, 65536):
            pass
    except BlockingIOError:
        pass


def measured(seconds: float) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as base:
        folder = Path(base) / "run"
        line = [sys.executable, "-m", "benchmarks.watching", "--run", str(folder)]
        flags = f"{os.environ.get('XLA_FLAGS', '')} --xla_cpu_multi_thread_eigen=false"
        process = subprocess.Popen(line, stdout=subprocess.PIPE, text=True, env=os.environ | {"XLA_FLAGS": flags})
        while chunks_told(folder) < SETTLED and process.poll() is None:
            time.sleep(0.5)
        watch, terminal = watcher(folder)
        select.select([terminal], [], [])  # its start is not counted
        waited(terminal, 2 * TURN)
        cpu, clock = processor_seconds(watch.pid), time.monotonic()
        waited(terminal, seconds / 5)
        used, clock = processor_seconds(watch.pid) - cpu, time.monotonic() - clock
        turns, awake = [], True
        for _ in range(2 * round(0.4 * seconds / TURN)):
            began = time.monotonic()
            waited(terminal, TURN)
            turns.append((began, time.monotonic(), awake))
            awake = not awake
            watch.send_signal(signal.SIGCONT if awake else signal.SIGSTOP)
        watch.send_signal(signal.SIGCONT)
        watch.terminate()
        watch.wait()
        ask_to_stop(folder)
        chunks = json.loads(process.communicate()[0])[SETTLED:]
    _, cpus, _, spent = zip(*chunks, strict=True)
    journal = (spent[-1] - spent[0]) / (cpus[-1] - cpus[0])
    return {"journal": journal, "watcher": used / clock, "chunks": len(chunks)} | beside(turns, chunks)


def chunks_told(folder: Path) -> int:
    """The chunks that the run in a folder has told."""
    events = folder / EVENTS
    return events.read_text().count('"chunk"') if events.exists() else 0


def beside(turns: list[tuple[float, float, bool]], chunks: list[tuple[float, float, int, float]]) -> dict[str, Any]:
    """The processor time of a draw with the watcher awake over that without, of neighbouring turns."""
    at, cpu, done, _ = map(np.array, zip(*chunks, strict=True))
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
    parser.add_argument("--seconds", type=float, default=200.0)
    given = parser.parse_args()
    if given.run:
        return run(given.run)
    found = measured(40.0 if given.quick else given.seconds)
    print(f"the journal takes {found['journal']:.3%} of the run's processor time ({found['chunks']} chunks)")
    print(f"the watcher takes {found['watcher']:.2%} of a core (at most {WANTED:.0%} is wanted)")
    print(f"a draw costs {found['beside']:+.2%} +- {found['interval']:.2%} with it awake ({found['pairs']} pairs)")
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / "watching.json").write_text(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
