"""What a checkpoint costs, and whether memory grows.

**Overhead.** The same run of about ten seconds with draws in memory and with a checkpoint every second (ten times as
often as by default), in turns; the seconds beyond, as a share of the run; also with the default. At most 5 % is
wanted.

**Memory.** A million draws to a store on disk: the peak memory of the process at the end over the peak after the
first tenth. At most 50 MB is wanted.

    python -m benchmarks.checkpointing [--quick]
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parent / "results"
KINDS = {"in memory": None, "every 10 s": 10.0, "every second": 1.0}


def logdensity(x: Any) -> Any:
    return 50 * x[0]


def new_sampler() -> Any:
    """A law in 100 dimensions: a draw of it is 400 bytes to keep."""
    import orthodrome as od

    return od.GeodesicHMC(od.FullGradient(od.Target(od.Sphere(), logdensity)), step_size=0.1, num_steps=20)


def seconds(sampler: Any, num_draws: int, every: float | None, seed: int = 0) -> float:
    """Of one run, from the call to the draws."""
    import jax
    import jax.numpy as jnp

    import orthodrome as od

    start = jax.ShapeDtypeStruct((100,), jnp.float32)
    numbers = {"seed": seed, "num_warmup": 0, "num_draws": num_draws, "progress": False}
    with tempfile.TemporaryDirectory() as folder:
        began = time.perf_counter()
        if every is None:
            od.sample(sampler, start, **numbers)
        else:
            od.sample(sampler, start, checkpoint=Path(folder) / "run", checkpoint_every=every, **numbers)
        return time.perf_counter() - began


def overhead(length: float, turns: int) -> dict[str, float]:
    """Shares of the run's time, medians over turns."""
    import orthodrome as od

    od.use_cores(2)
    sampler, pilot = new_sampler(), 10_000
    for every in KINDS.values():
        seconds(sampler, pilot, every)
    num_draws = int(pilot * length / seconds(sampler, pilot, None))
    times: dict[str, list[float]] = {kind: [] for kind in KINDS}
    for turn in range(turns):
        for kind, every in KINDS.items():
            times[kind].append(seconds(sampler, num_draws, every, seed=turn))
    plain = statistics.median(times["in memory"])
    shares = {
        f"{kind} (%)": 100 * (statistics.median(times[kind]) / plain - 1) for kind in KINDS if kind != "in memory"
    }
    return {"run (s)": plain, "draws": num_draws} | shares


GROWTH = """
import jax, jax.numpy as jnp, resource, sys, tempfile
import orthodrome as od
peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
sampler = od.GeodesicHMC(od.FullGradient(od.Target(od.Sphere(), lambda x: 10 * x[0])), step_size=0.5, num_steps=1)
for count in (int(sys.argv[1]) // 10, int(sys.argv[1])):
    with tempfile.TemporaryDirectory() as folder:
        start = jax.ShapeDtypeStruct((3,), jnp.float32)
        numbers = dict(seed=0, num_warmup=0, num_draws=count // 4, progress=False)
        od.sample(sampler, start, store=folder + "/draws.zarr", **numbers)
    print(peak())
"""


def memory_growth(num_draws: int) -> float:
    """MB, in a fresh process: a tenth of the draws, then all of them."""
    done = subprocess.run([sys.executable, "-c", GROWTH, str(num_draws)], capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(done.stderr[-2000:])
    first, last = map(float, done.stdout.split())
    return last - first


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.checkpointing", description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true")
    quick = parser.parse_args(arguments).quick
    num_draws = 100_000 if quick else 1_000_000
    found = {"memory growth (MB)": memory_growth(num_draws)} | overhead(1.0 if quick else 10.0, 1 if quick else 3)
    for name, value in found.items():
        print(f"{name:24s} {value:10.2f}")
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / "checkpointing.json").write_text(json.dumps({"quick": quick} | found, indent=1))


if __name__ == "__main__":
    main()
