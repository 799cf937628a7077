"""Draws in one kernel against the ordinary program: seconds to compile and microseconds per gradient, law by law.

Both programs have the same settings, set by hand, four chains on one device, and follow each other in one process;
processor time, the smallest of four runs of 1,000 draws. With the jaxlib that is installed, whether or not
`run.one_kernel` makes one kernel with it.

    python -m benchmarks.one_kernel [--quick] [--law NAME ...]
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import jaxlib
import numpy as np

import orthodrome as od
from benchmarks.laws import Law, all_laws
from benchmarks.ours import NUM_CHAINS, SPACES
from orthodrome.core import programs
from orthodrome.random.keys import new_key
from orthodrome.run import one_kernel
from orthodrome.run.engines.compiled import CompiledEngine, compiled_engine

RESULTS = Path(__file__).parent / "results"
DRAWS, ROUNDS = 1000, 4
SETTINGS = {
    "vMF d=3": (0.6, 3),
    "vMF d=100": (0.1, 5),
    "BVMF d=5": (0.1, 5),
    "Bingham d=10": (0.2, 6),
    "Dirichlet d=10": (0.3, 6),
    "matrix vMF Stiefel(20,3)": (0.12, 5),
}
"""Law -> step and number of steps."""


def samplers(law: Law) -> dict[str, Any]:
    target, (step, count) = od.Target(SPACES[law.space](), law.logdensity), SETTINGS[law.name]
    gradient, h = od.FullGradient(target), jnp.float32(step)
    return {"HMC": od.GeodesicHMC(gradient, h, jnp.int32(count)), "NUTS": od.GeodesicNUTS(gradient, h)}


def measure(sampler: Any, law: Law, draws: int) -> dict[str, float]:
    """Return the seconds of compiling and the microseconds per gradient."""
    programs.forget()
    engine = compiled_engine(new_key(np.uint32(0)), NUM_CHAINS, None, draws)
    keys = jax.random.split(jax.random.key(1), NUM_CHAINS)
    like = jax.ShapeDtypeStruct(law.shape, jnp.float32)
    starts = jax.vmap(lambda key: sampler.manifold.random_point(key, like))(keys)
    state = jax.vmap(sampler.init)(starts)
    began = time.process_time()
    engine.lowered(sampler, state, 1).compile()
    compiled = time.process_time() - began
    state, _ = engine.advance(sampler, state, 0, draws, 1)
    seconds = []
    for turn in range(1, ROUNDS + 1):
        state, used, gradients = one_run(engine, sampler, state, turn * draws, draws)
        seconds.append(used / gradients)
    return {"compile_seconds": compiled, "microseconds": 1e6 * min(seconds)}


def one_run(engine: CompiledEngine, sampler: Any, state: Any, first: int, draws: int) -> tuple[Any, float, int]:
    began = time.process_time()
    state, kept = engine.advance(sampler, state, first, draws, 1)
    return state, time.process_time() - began, int(np.sum(kept.info.n_steps))


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.one_kernel", description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a tenth of the draws: does it run?")
    parser.add_argument("--law", nargs="+", default=list(SETTINGS), choices=SETTINGS)
    chosen = parser.parse_args(arguments)
    this, rows = (jaxlib.__version__,), []
    for law in (law for law in all_laws() if law.name in chosen.law):
        for name, sampler in samplers(law).items():
            row: dict[str, Any] = {"law": law.name, "sampler": name}
            for kind, versions in (("ordinary", ("none",)), ("one kernel", this)):
                one_kernel.TESTED = versions
                row[kind] = measure(sampler, law, DRAWS // (10 if chosen.quick else 1))
            rows.append(row)
            old, new = row["ordinary"], row["one kernel"]
            print(f"{law.name:26}{name:5} compiling {old['compile_seconds']:5.1f} -> {new['compile_seconds']:4.1f} s, "
                  f"a gradient {old['microseconds']:6.2f} -> {new['microseconds']:5.2f} microseconds, "
                  f"{old['microseconds'] / new['microseconds']:.1f} times as fast", flush=True)  # fmt: skip
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / "one_kernel.json").write_text(json.dumps({"quick": chosen.quick, "table": rows}, indent=1))


if __name__ == "__main__":
    main()
