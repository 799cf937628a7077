"""First contact: how long until something happens, in fresh processes.

    import orthodrome             at most `import jax` + 0.2 s; with the names of the first example touched, too
    orthodrome --help             at most 0.5 s
    500 + 500 draws on Sphere(3)  from the start of Python to draws, 4 chains, self-tuned NUTS: at most 1.5 x NumPyro
                                  (its NUTS on z / |z|, 4 vectorized chains, the same law)
    traces                        how often the user's function is called by Python in that run: at most 4

Processes of the kinds take turns, medians over the turns.

    python -m benchmarks.first_contact [--quick]
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

RESULTS = Path(__file__).parent / "results"

OURS = """
import jax, jax.numpy as jnp
import orthodrome as od
calls = 0
def logdensity(x):
    global calls
    calls += 1
    return 10 * x[0]
target = od.Target(od.Sphere(), logdensity)
sampler = od.GeodesicNUTS(od.FullGradient(target))
start = jax.ShapeDtypeStruct((3,), jnp.float32)
draws = od.sample(sampler, start, seed=0, num_warmup=500, num_draws=500, progress=False)
assert draws["posterior"]["x"].shape == (4, 500, 3)
print(calls)
"""

NUMPYRO = """
import jax, jax.numpy as jnp
import numpyro, numpyro.distributions as dist
from numpyro.infer import MCMC, NUTS
def model():
    z = numpyro.sample("z", dist.Normal(0, 1).expand((3,)).to_event())
    x = numpyro.deterministic("x", z / jnp.sqrt(z @ z))
    numpyro.factor("law", 10 * x[0])
mcmc = MCMC(NUTS(model), num_warmup=500, num_samples=500, num_chains=4, chain_method="vectorized", progress_bar=False)
mcmc.run(jax.random.key(0))
assert mcmc.get_samples(group_by_chain=True)["x"].shape == (4, 500, 3)
"""

PROGRAMS = {
    "import jax": [sys.executable, "-c", "import jax"],
    "import orthodrome": [sys.executable, "-c", "import orthodrome"],
    "from orthodrome import ...": [
        sys.executable,
        "-c",
        "from orthodrome import FullGradient, GeodesicNUTS, Sphere, Target, sample",
    ],
    "orthodrome --help": [str(Path(sys.executable).parent / "orthodrome"), "--help"],
    "cold run, orthodrome": [sys.executable, "-c", OURS],
    "cold run, NumPyro": [sys.executable, "-c", NUMPYRO],
}


def seconds(command: list[str]) -> tuple[float, str]:
    """Of one fresh process, and what it printed."""
    began = time.perf_counter()
    done = subprocess.run(command, env=os.environ | {"JAX_PLATFORMS": "cpu"}, capture_output=True, text=True)
    elapsed = time.perf_counter() - began
    if done.returncode:
        raise SystemExit(f"{command[:2]} failed:\n{done.stderr[-2000:]}")
    return elapsed, done.stdout


def measure(turns: int) -> dict[str, float]:
    """Medians, after one turn that warms the disk (a single turn counts as it is)."""
    times: dict[str, list[float]] = {name: [] for name in PROGRAMS}
    printed = ""
    for turn in range(turns):
        for name, command in PROGRAMS.items():
            elapsed, output = seconds(command)
            printed = output if name == "cold run, orthodrome" else printed
            if turn or turns == 1:
                times[name].append(elapsed)
    return {name: statistics.median(values) for name, values in times.items()} | {"traces": int(printed)}


def verdicts(found: dict[str, float]) -> list[tuple[str, float, float, bool]]:
    """What is asked: (text, measured, at most, holds)."""
    ratio = found["cold run, orthodrome"] / found["cold run, NumPyro"]
    names = found["from orthodrome import ..."] - found["import jax"]
    asked = [
        ("import orthodrome, beyond import jax (s)", found["import orthodrome"] - found["import jax"], 0.2),
        ("import of the first example's names, beyond import jax (s)", names, 0.2),
        ("orthodrome --help (s)", found["orthodrome --help"], 0.5),
        ("cold 500 + 500 draws on Sphere(3), over NumPyro's", ratio, 1.5),
        ("traces of the user's density in it", found["traces"], 4),
    ]  # fmt: skip
    return [(text, value, most, value <= most) for text, value, most in asked]


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.first_contact", description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true")
    quick = parser.parse_args(arguments).quick
    found = measure(1 if quick else 6)
    for name, value in found.items():
        print(f"{name:32s} {value:6.2f}" + (" s" if name != "traces" else ""))
    for text, value, most, holds in verdicts(found):
        print(f"{'ok  ' if holds else 'MISS'}  {text}: {value:.2f} (at most {most})")
    RESULTS.mkdir(exist_ok=True)
    report = {"quick": quick, "measured": found, "asked": verdicts(found)}
    (RESULTS / "first_contact.json").write_text(json.dumps(report, indent=1))


if __name__ == "__main__":
    main()
