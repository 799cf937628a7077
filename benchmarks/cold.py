"""From cold to answer: new processes, from the start of Python to a printed summary, ours and NumPyro's in turns.

Four chains, 1,000 transitions of warm-up and 1,000 draws, the plain call of each: `sample(law, start, seed=0)`, and
NUTS with vectorized chains. Seconds of the wall and of the processor (children too), medians over the turns.

    cold      nothing compiled is on disk: at most 0.7 of NumPyro's is wanted
    again     ours, in a second process with the same model and the cache of the first: at most 2 s beside `import jax`

    python -m benchmarks.cold [--quick] [--law NAME ...]
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parent / "results"
RATIO, BESIDE_JAX = 0.7, 2.0

LAWS = {
    "vMF d=3": (
        """
c = np.full(3, 10 / np.sqrt(3), np.float32)
law, start = od.Target(od.Sphere(), lambda x: x @ c), jax.ShapeDtypeStruct((3,), jnp.float32)
""",
        """
c = np.full(3, 10 / np.sqrt(3), np.float32)
def model():
    z = numpyro.sample("z", dist.Normal(0, 1).expand((3,)).to_event())
    x = numpyro.deterministic("x", z / jnp.sqrt(z @ z))
    numpyro.factor("law", x @ c)
""",
    ),
    "README's posterior": (
        """
data = jnp.array([[0.6, 0.1, 0.8], [0.5, 0.4, 0.8], [0.7, 0.2, 0.7], [0.4, 0.3, 0.9], [0.6, 0.5, 0.6]])
data = data / jnp.linalg.norm(data, axis=1, keepdims=True)
manifold = od.Product({"direction": od.Sphere(), "concentration": od.LogPositive()})
law = od.Posterior(
    manifold, lambda p: -p["concentration"] / 50,
    lambda p, y: od.VonMisesFisher(p["direction"], p["concentration"]).logdensity(y), data,
)
start = {"direction": data[0], "concentration": jnp.array(10.0)}
""",
        """
data = jnp.array([[0.6, 0.1, 0.8], [0.5, 0.4, 0.8], [0.7, 0.2, 0.7], [0.4, 0.3, 0.9], [0.6, 0.5, 0.6]])
data = data / jnp.linalg.norm(data, axis=1, keepdims=True)
def model():
    z = numpyro.sample("z", dist.Normal(0, 1).expand((3,)).to_event())
    direction = numpyro.deterministic("direction", z / jnp.sqrt(z @ z))
    k = numpyro.sample("concentration", dist.Exponential(1 / 50))
    numpyro.factor("likelihood", jnp.sum(k * (data @ direction) + jnp.log(k) - k - jnp.log1p(-jnp.exp(-2 * k))))
""",
    ),
    "matrix vMF (20, 3)": (
        """
f = (np.eye(20, 3) * np.array([30.0, 20, 10])).astype(np.float32)
law, start = od.Target(od.Stiefel(), lambda x: (f * x).sum()), jax.ShapeDtypeStruct((20, 3), jnp.float32)
""",
        """
f = (np.eye(20, 3) * np.array([30.0, 20, 10])).astype(np.float32)
def model():
    z = numpyro.sample("z", dist.Normal(0, 1).expand((20, 3)).to_event())
    x = jax.scipy.linalg.solve_triangular(jnp.linalg.cholesky(z.T @ z), z.T, lower=True).T
    numpyro.factor("law", (f * numpyro.deterministic("x", x)).sum())
""",
    ),
    "Dirichlet d=10": (
        """
a = np.geomspace(0.3, 10, 10).astype(np.float32)
law = od.Target(od.LogRatioSimplex(), lambda p: (a - 1) @ jnp.log(p))
start = jax.ShapeDtypeStruct((10,), jnp.float32)
""",
        """
a = np.geomspace(0.3, 10, 10).astype(np.float32)
def model():
    numpyro.sample("x", dist.Dirichlet(a))
""",
    ),
}
"""Law -> the program of ours and of NumPyro's, as a user writes them."""

OURS = """
import numpy as np, jax, jax.numpy as jnp
import orthodrome as od
{law}
print(od.summary(od.sample(law, start, seed=0, progress=False)))
"""
NUMPYRO = """
import numpy as np, jax, jax.numpy as jnp
import numpyro, numpyro.distributions as dist
from numpyro.infer import MCMC, NUTS
{law}
mcmc = MCMC(NUTS(model), num_warmup=1000, num_samples=1000, num_chains=4, chain_method="vectorized", progress_bar=False)
mcmc.run(jax.random.key(0))
mcmc.print_summary()
"""


def run(program: str, cache: str = "off") -> tuple[float, float]:
    """Return the seconds of the wall and of the processor of one new process."""
    bytecode = {"PYTHONDONTWRITEBYTECODE": ""}  # an installed package has it, as NumPyro here; a checkout must write it
    environment = os.environ | {"JAX_PLATFORMS": "cpu", "ORTHODROME_CACHE": cache} | bytecode
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True)
    wall, after = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        raise SystemExit(f"{program}\nfailed:\n{done.stderr[-2000:]}")
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def measure(name: str, turns: int) -> dict[str, Any]:
    """Return medians over the turns, in which the kinds of processes follow each other."""
    ours, theirs = OURS.format(law=LAWS[name][0]), NUMPYRO.format(law=LAWS[name][1])
    seen: dict[str, list[tuple[float, float]]] = {"import jax": [], "ours": [], "NumPyro": [], "again": []}
    with tempfile.TemporaryDirectory() as cache:
        run(ours, cache)  # fills the cache, and warms the disk
        for _ in range(turns):
            seen["import jax"].append(run("import jax"))
            seen["ours"].append(run(ours))
            seen["NumPyro"].append(run(theirs))
            seen["again"].append(run(ours, cache))
    middle = {kind: [statistics.median(column) for column in zip(*rows, strict=True)] for kind, rows in seen.items()}
    ratios = [a[i] / b[i] for i in (0, 1) for a, b in zip(seen["ours"], seen["NumPyro"], strict=True)]
    return {
        "law": name,
        "seconds": {kind: {"wall": wall, "processor": cpu} for kind, (wall, cpu) in middle.items()},
        "cold / NumPyro, wall": statistics.median(ratios[:turns]),
        "cold / NumPyro, processor": statistics.median(ratios[turns:]),
        "again, beside import jax": middle["again"][0] - middle["import jax"][0],
    }


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.cold", description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="one turn instead of five")
    parser.add_argument("--law", nargs="+", default=list(LAWS), choices=LAWS)
    chosen = parser.parse_args(arguments)
    rows = []
    for name in chosen.law:
        row = measure(name, 1 if chosen.quick else 5)
        rows.append(row)
        seconds = ", ".join(f"{kind} {s['wall']:.1f} ({s['processor']:.1f})" for kind, s in row["seconds"].items())
        ratio, again = row["cold / NumPyro, wall"], row["again, beside import jax"]
        print(f"{name}: wall (processor) s: {seconds}", flush=True)
        print(f"  {'ok  ' if ratio <= RATIO else 'MISS'} cold over NumPyro's: {ratio:.2f}, "
              f"of the processor {row['cold / NumPyro, processor']:.2f} (at most {RATIO})")  # fmt: skip
        print(f"  {'ok  ' if again <= BESIDE_JAX else 'MISS'} again, beside import jax: {again:.1f} s (at most 2)")
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / "cold.json").write_text(json.dumps({"quick": chosen.quick, "table": rows}, indent=1))


if __name__ == "__main__":
    main()
