"""The eigenmodel of a protein network (270 nodes, rank 3) beside NumPyro's NUTS: `python -m benchmarks.eigenmodel`.

    ours      `NetworkEigenmodel`'s own sampler (`EigenmodelHMC`), chains side by side
    NumPyro   NUTS on Z standard normal, U = Z (Z'Z)^-1/2 (the polar expansion: U is uniform on frames), L and c as ours

Four chains each, one after the other in one run. Ours start near the spectrum; NumPyro's start where ours ended, since
200 transitions of warm-up do not bring it there from the spectrum (R-hat 1.5, seven effective draws).
Printed are effective draws of the sorted eigenvalues and of the intercept, the least of them, by the second of sampling
and by the second of warm-up and sampling. NumPyro's times include some seconds of compiling, of minutes.
"""

from __future__ import annotations

import argparse
import os
import time
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

CHAINS, RANK = 4, 3


class Timed(NamedTuple):
    """Sorted eigenvalues and the intercept (chain, draw, 4); the seconds of the warm-up and of the draws; the ends."""

    draws: np.ndarray
    warmup: float
    seconds: float
    ends: dict[str, np.ndarray]


def starts(edges: np.ndarray, dtype: str) -> list[dict[str, np.ndarray]]:
    """Starts near the best mode: two positive eigenvalues."""
    from orthodrome.models.network.starts import near, split_spectrum

    found = split_spectrum(edges, RANK, "probit", 2)
    each = (near(found, np.random.default_rng(chain)) for chain in range(CHAINS))
    return [{name: np.asarray(value, dtype) for name, value in start.items()} for start in each]


def ours(edges: np.ndarray, dtype: str, num_warmup: int, num_draws: int) -> Timed:
    from orthodrome.models.network.hmc import eigenmodel_hmc
    from orthodrome.run import sample

    sampler = eigenmodel_hmc(edges, "probit", None, 10, num_warmup, dtype)
    run = partial(sample, sampler, starts(edges, dtype), num_chains=CHAINS, progress=False, check=False)
    run(num_draws=1, seed=1)
    began = time.perf_counter()
    run(num_draws=1, seed=0)
    warm = time.perf_counter()
    tree = run(num_draws=num_draws, seed=0)
    ended = time.perf_counter()
    posterior = tree["posterior"]
    values = np.sort(np.asarray(posterior["eigenvalues"]), axis=-1)
    draws = np.concatenate([values, np.asarray(posterior["intercept"])[..., None]], axis=-1)
    ends = {name: np.asarray(posterior[name])[:, -1] for name in ("frame", "eigenvalues", "intercept")}
    return Timed(draws, warm - began, (ended - warm) - (warm - began), ends)


def numpyro_model(sign: Any, weight: Any, m: int) -> None:
    import numpyro
    import numpyro.distributions as dist
    from jax.scipy.stats import norm

    z = numpyro.sample("z", dist.Normal(0, 1).expand((m, RANK)).to_event())
    values = numpyro.sample("values", dist.Normal(0, m**0.5).expand((RANK,)).to_event())
    intercept = numpyro.sample("intercept", dist.Normal(0, 10))
    root = jnp.linalg.eigh(z.T @ z)
    frame = z @ (root[1] / jnp.sqrt(root[0])) @ root[1].T
    eta = (frame * values) @ frame.T + intercept
    numpyro.factor("edges", jnp.sum(weight * norm.logcdf(sign * eta)))


def peer(edges: np.ndarray, dtype: str, num_warmup: int, num_draws: int, ends: dict[str, np.ndarray]) -> Timed:
    from numpyro.infer import MCMC, NUTS

    m = len(edges)
    sign = jnp.asarray(np.where(edges > 0, 1.0, -1.0), dtype)
    weight = jnp.asarray((1 - np.eye(m)) / 2, dtype)
    values, intercept = jnp.asarray(ends["eigenvalues"]), jnp.asarray(ends["intercept"])
    stacked = {"z": m**0.5 * jnp.asarray(ends["frame"]), "values": values, "intercept": intercept}
    mcmc = MCMC(
        NUTS(numpyro_model), num_warmup=num_warmup, num_samples=num_draws, num_chains=CHAINS,
        chain_method="parallel" if jax.local_device_count() >= CHAINS else "vectorized", progress_bar=False,
    )  # fmt: skip
    began = time.perf_counter()
    mcmc.warmup(jax.random.key(0), sign, weight, m, init_params=stacked)
    jax.block_until_ready(mcmc.post_warmup_state)
    warm = time.perf_counter()
    mcmc.run(jax.random.key(10), sign, weight, m)
    jax.block_until_ready(mcmc.get_samples())
    ended = time.perf_counter()
    found = mcmc.get_samples(group_by_chain=True)
    values = np.sort(np.asarray(found["values"]), axis=-1)
    draws = np.concatenate([values, np.asarray(found["intercept"])[..., None]], axis=-1)
    return Timed(draws, warm - began, ended - warm, ends)


def report(name: str, run: Timed) -> float:
    """Print one line, and return the least number of effective draws by the second of sampling."""
    from arviz_stats import ess, rhat

    sizes = np.array([float(ess(run.draws[..., i].astype(float))) for i in range(RANK + 1)])
    spread = max(float(rhat(run.draws[..., i].astype(float))) for i in range(RANK + 1))
    rate, whole = sizes.min() / run.seconds, sizes.min() / (run.seconds + run.warmup)
    print(
        f"{name:22s} {run.draws.shape[1]:6d} draws  warm-up {run.warmup:6.1f} s  draws {run.seconds:6.1f} s  "
        f"ESS {' '.join(f'{size:6.0f}' for size in sizes)}  R-hat {spread:.2f}  {rate:7.1f} /s  with warm-up "
        f"{whole:6.1f} /s  means {np.round(run.draws.mean((0, 1)), 2)}",
        flush=True,
    )
    return rate


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.eigenmodel", description=__doc__)
    parser.add_argument("--data", type=Path, default=os.environ.get("ORTHODROME_DATA"))
    parser.add_argument("--quick", action="store_true", help="does everything run? The numbers mean little")
    parser.add_argument("--dtypes", nargs="+", default=["float32", "float64"])
    options = parser.parse_args()
    from orthodrome.models.network.adjacency import read_network

    edges = read_network(Path(options.data) / "protein_network" / "edges_270.csv").edges
    warm, few = (20, 20) if options.quick else (200, 200)
    for dtype in options.dtypes:
        with jax.enable_x64(dtype == "float64"):
            run = ours(edges, dtype, *((50, 50) if options.quick else (500, 4000)))
            mine = report(f"ours, {dtype}", run)
            other = report(f"NumPyro NUTS, {dtype}", peer(edges, dtype, warm, few, run.ends))
        print(f"{dtype}: {mine / other:.0f} times NumPyro's effective draws by the second of sampling\n", flush=True)


if __name__ == "__main__":
    main()
