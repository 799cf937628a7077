"""Warm-up on 1, 2 and 4 devices, and what a gradient costs in warm-up and in draws, law by law.

`sample` with `GeodesicHMC` that learns everything, four chains, 1,000 transitions of warm-up, nothing compiled in what
is timed; a process for each number of devices, in turns. Seconds of the clock, the least over seeds and turns, as
anything else that runs only adds to them.

    devices     the warm-up on 2 and on 4 devices takes at most 1.2 times what it takes on one
    gradients   a gradient in warm-up takes at most 1.5 times what it takes in the draws, on one device

    python -m benchmarks.warm_up [--quick] [--law NAME ...] [--devices N ...] [--sampler NAME]
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parent / "results"
DEVICES, PER_GRADIENT = 1.2, 1.5
NAMES = ("vMF d=3", "vMF d=100", "BVMF d=5", "Bingham d=10", "Dirichlet d=10", "matrix vMF Stiefel(20,3)")
SEEDS, TURNS, NUM_WARMUP = 5, 3, 1000


def measure(name: str, kind: str, seeds: int) -> dict[str, float]:
    """Return the seconds of the warm-up, and the microseconds of a gradient (of all chains) in warm-up and in draws."""
    import jax
    import jax.numpy as jnp

    import orthodrome as od
    from benchmarks.laws import all_laws
    from benchmarks.ours import NUM_CHAINS, SPACES

    law = next(law for law in all_laws() if law.name == name)
    sampler = getattr(od, kind)(od.Target(SPACES[law.space](), law.logdensity))
    start = jax.ShapeDtypeStruct(law.shape, jnp.float32)
    seen = []
    for seed in range(seeds + 1):
        tree = od.sample(sampler, start, seed=seed, num_chains=NUM_CHAINS, num_warmup=NUM_WARMUP, progress=False,
                         num_draws=law.num_draws, keep_warmup_stats=True, check=False)  # fmt: skip
        groups = ("warmup_sample_stats", "warmup_time"), ("sample_stats", "sampling_time")
        seen.append([(tree.attrs[time], float(tree[group]["n_steps"].sum())) for group, time in groups])
    runs = seen[1:]  # the first one compiles
    seconds, per_gradient = ([f(*pair) for pair in zip(*runs, strict=True)] for f in (_least, _least_each))
    return {"warm-up": seconds[0], "gradient in warm-up": per_gradient[0], "gradient in draws": per_gradient[1]}


def _least(*pairs: tuple[float, float]) -> float:
    return min(seconds for seconds, _ in pairs)


def _least_each(*pairs: tuple[float, float]) -> float:
    return 1e6 * min(seconds / gradients for seconds, gradients in pairs)


def in_process(name: str, kind: str, devices: int, seeds: int) -> dict[str, float]:
    """Return what `measure` finds in a new process with so many devices."""
    program = f"import orthodrome as od; od.use_cores({devices}); import json; from benchmarks.warm_up import measure; "
    program += f"print(json.dumps(measure({name!r}, {kind!r}, {seeds})))"
    environment = os.environ | {"JAX_PLATFORMS": "cpu"}
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{program}\nfailed:\n{done.stderr[-2000:]}")
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


def of_law(name: str, kind: str, devices: list[int], quick: bool) -> dict[str, Any]:
    """Return the least of what the turns find, for each number of devices."""
    seeds, rounds = (1, 1) if quick else (SEEDS, TURNS)
    turns = [{n: in_process(name, kind, n, seeds) for n in devices} for _ in range(rounds)]
    least = {str(n): {key: min(turn[n][key] for turn in turns) for key in turns[0][n]} for n in devices}
    return {"law": name, "sampler": kind} | least


def told(what: str, ratio: float, most: float) -> str:
    """Return a line about a ratio and its limit."""
    return f"  {'ok  ' if ratio <= most else 'MISS'} {what}: {ratio:.2f} (at most {most})"


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.warm_up", description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="one seed and one turn: does it run?")
    parser.add_argument("--law", nargs="+", default=list(NAMES), choices=NAMES)
    parser.add_argument("--devices", nargs="+", type=int, default=[1, 2, 4])
    parser.add_argument("--sampler", default="GeodesicHMC", choices=("GeodesicHMC", "GeodesicNUTS"))
    chosen = parser.parse_args(arguments)
    rows = []
    for name in chosen.law:
        row = of_law(name, chosen.sampler, chosen.devices, chosen.quick)
        rows.append(row)
        first = row[str(chosen.devices[0])]
        seconds = ", ".join(f"{row[str(n)]['warm-up']:.3f} s on {n}" for n in chosen.devices)
        print(f"{name}: warm-up {seconds}; a gradient {first['gradient in warm-up']:.2f} microseconds in warm-up, "
              f"{first['gradient in draws']:.2f} in draws", flush=True)  # fmt: skip
        for n in chosen.devices[1:]:
            print(told(f"on {n} over {chosen.devices[0]}", row[str(n)]["warm-up"] / first["warm-up"], DEVICES))
        ratio = first["gradient in warm-up"] / first["gradient in draws"]
        print(told("a gradient in warm-up over one in draws", ratio, PER_GRADIENT), flush=True)
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / "warm_up.json").write_text(json.dumps({"quick": chosen.quick, "table": rows}, indent=1))


if __name__ == "__main__":
    main()
