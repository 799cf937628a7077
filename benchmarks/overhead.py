"""What the package adds to the user's density: to a leapfrog step, and to a call made again.

**Leapfrog over gradient.** The law is the posterior of a logistic regression on directions, 20,000 rows in 100
dimensions, whose gradient takes far more than 50 microseconds. Seconds per leapfrog of `sample` (all that a run does,
over all leapfrogs) over seconds per gradient in a bare loop of them; one chain on one device for both, in turns, the
median of the ratios. At most 1.3 is wanted.

**Again.** The same call with another seed must compile nothing.

    python -m benchmarks.overhead [--quick]
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

import orthodrome as od
from benchmarks.measure import Compilations

RESULTS = Path(__file__).parent / "results"
WANTED_RATIO = 1.3


def log_likelihood(x: Array, data: tuple[Array, Array]) -> Array:
    """Labels +-1 and covariates, folded into one matrix, slope 10."""
    signed, scale = data
    return -jnp.sum(jax.nn.softplus(-(signed @ x) * scale))


def regression(rows: int, d: int = 100) -> od.Target:
    """Synthetic, with a true direction."""
    rng = np.random.default_rng(0)
    truth = np.eye(d)[0]
    covariates = rng.normal(size=(rows, d)) / np.sqrt(d)
    labels = np.where(rng.random(rows) < 1 / (1 + np.exp(-10 * covariates @ truth)), 1.0, -1.0)
    data = jnp.asarray(labels[:, None] * covariates, jnp.float32), jnp.asarray(10.0, jnp.float32)
    return od.Target(od.Sphere(), log_likelihood, data)


def seconds(function: Callable[[], Any]) -> float:
    began = time.perf_counter()
    jax.block_until_ready(function())
    return time.perf_counter() - began


def gradient_loop(target: od.Target, count: int) -> Callable[[], Any]:
    """The gradient `count` times, each at a point that depends on the one before."""
    x0 = jnp.asarray(np.eye(100)[0], jnp.float32)

    def body(x: Array, _: None) -> tuple[Array, None]:
        value, g = jax.value_and_grad(target.embedded_logdensity)(x)
        return x + 1e-12 * g + 1e-20 * value, None

    loop = jax.jit(lambda x: jax.lax.scan(body, x, None, count)[0])
    return lambda: loop(x0)


def leapfrogs(sampler: Any, num_draws: int, seed: int) -> tuple[float, int]:
    """Seconds of a run without warm-up, and its leapfrog steps."""
    start = jnp.asarray(np.eye(100)[0], jnp.float32)
    began = time.perf_counter()
    tree = od.sample(sampler, start, seed=seed, num_chains=1, num_warmup=0, num_draws=num_draws, progress=False)
    return time.perf_counter() - began, int(tree["sample_stats"]["n_steps"].sum())


def leapfrog_over_gradient(quick: bool) -> dict[str, float]:
    """For both samplers, with a step that NUTS makes trees of some 7 leaves with."""
    target = regression(20_000)
    count = 50 if quick else 1500
    gradient = gradient_loop(target, count)
    estimator = od.FullGradient(target)
    samplers = {
        "GeodesicHMC": (od.GeodesicHMC(estimator, step_size=0.02, num_steps=10), count // 10),
        "GeodesicNUTS": (od.GeodesicNUTS(estimator, step_size=0.02), count // 10),
    }
    gradient()
    for sampler, num_draws in samplers.values():
        leapfrogs(sampler, num_draws, 0)
    found: dict[str, list[float]] = {name: [] for name in ("gradient microseconds", *samplers)}
    for seed in range(1, 4 if quick else 6):
        one_gradient = seconds(gradient) / count
        found["gradient microseconds"].append(1e6 * one_gradient)
        for name, (sampler, num_draws) in samplers.items():
            total, steps = leapfrogs(sampler, num_draws, seed)
            found[name].append(total / steps / one_gradient)
    return {name: float(np.median(values)) for name, values in found.items()}


def again(clock: Compilations, quick: bool) -> dict[str, float]:
    """A small run, then the same with another seed."""
    sampler = od.GeodesicNUTS(od.FullGradient(od.Target(od.Sphere(), lambda x: 10 * x[0])))
    numbers = {"num_warmup": 200, "num_draws": 200} if quick else {"num_warmup": 1000, "num_draws": 1000}
    start = jax.ShapeDtypeStruct((3,), jnp.float32)
    call = lambda seed: od.sample(sampler, start, seed=seed, progress=False, **numbers)
    first = seconds(lambda: call(0))
    before = clock.count
    second = seconds(lambda: call(1))
    return {"first seconds": first, "second seconds": second, "compiled again": clock.count - before} | numbers


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.overhead", description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true")
    quick = parser.parse_args(arguments).quick
    clock = Compilations()
    ratios, repeated = leapfrog_over_gradient(quick), again(clock, quick)
    print(f"gradient of the regression: {ratios['gradient microseconds']:.0f} microseconds")
    for name in ("GeodesicHMC", "GeodesicNUTS"):
        print(f"{name}: a leapfrog takes {ratios[name]:.2f} gradients (at most {WANTED_RATIO} is wanted)")
    print(
        f"{repeated['num_warmup']} + {repeated['num_draws']} draws on Sphere(3): first call "
        f"{repeated['first seconds']:.2f} s, again "
        f"{repeated['second seconds']:.2f} s, {repeated['compiled again']} programs compiled again (0 is wanted)"
    )
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / "overhead.json").write_text(json.dumps({"quick": quick, "ratios": ratios, "again": repeated}, indent=1))


if __name__ == "__main__":
    main()
