"""Stochastic gradients on a Bayesian logistic regression: cost and accuracy.

    rows          time per step of SGGMC at N = 1e4 and N = 1e6 rows (the same batch), for two sizes of batch: the cost
                  must not depend on N. Beside it what the machine's memory asks for as many rows: a compiled loop that
                  copies them and does nothing else
    overhead      time per step over the time of the gradient alone, where that takes over 200 microseconds
    peers         SGLD and SGHMC here and in BlackJAX, and SGGMC, at the same number of gradients of rows (a control
                  variate asks for two per row: half the batch): time per step (of BlackJAX's SGHMC: ten gradients of
                  one batch), and the mean and the variance against NUTS. Each with the keys that its users have
    variance      the error of the posterior variance with minibatches, with the empirical Fisher, and with control
                  variates at equal cost

Prints a table and writes benchmarks/results/stochastic.json. Takes about two minutes: `python
benchmarks/stochastic.py`.
"""

from __future__ import annotations

import json
import time
from functools import partial
from pathlib import Path
from typing import Any

import blackjax
import jax
import jax.numpy as jnp
import numba
import numpy as np
from jax import Array

from orthodrome import (
    ControlVariate,
    EmpiricalFisher,
    Euclidean,
    FullGradient,
    GeodesicNUTS,
    Minibatch,
    Posterior,
    sample,
)
from orthodrome.random.keys import new_key
from orthodrome.samplers import SGGMC, SGHMC, SGLD

BATCH, NUM_STEPS = 100, 60_000


def logprior(p: Array) -> Array:
    """A wide Gaussian."""
    return -0.5 * jnp.sum(p**2) / 25


def loglikelihood(p: Array, row: dict[str, Array]) -> Array:
    """One label."""
    logit = row["x"] @ p
    return row["y"] * logit - jax.nn.softplus(logit)


def regression(num_rows: int, dimension: int, seed: int = 0) -> Posterior:
    """Planted coefficients."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(num_rows, dimension)).astype(np.float32)
    y = (rng.random(num_rows) < 1 / (1 + np.exp(-x @ (rng.normal(size=dimension) / 2)))).astype(np.float32)
    return Posterior(Euclidean(), logprior, loglikelihood, {"x": jnp.asarray(x), "y": jnp.asarray(y)})


@partial(jax.jit, static_argnames=("count", "keep"))
def chain(sampler: Any, key: Array, state: Any, count: int, keep: bool = False) -> tuple[Any, Any]:
    """`count` steps of one chain."""

    def step(state: Any, t: Array) -> tuple[Any, Any]:
        state, _ = sampler.step(jax.random.fold_in(key, t), state)
        return state, state.position if keep else None

    return jax.lax.scan(step, state, jnp.arange(count))


def seconds(function: Any, repeats: int = 5) -> float:
    """Processor time, the best of a few runs after one to compile: other work on the machine disturbs it little."""
    jax.block_until_ready(function())
    times = []
    for _ in range(repeats):
        began = time.process_time()
        jax.block_until_ready(function())
        times.append(time.process_time() - began)
    return min(times)


def per_step(sampler: Any, dimension: int, count: int, repeats: int = 5) -> float:
    """Microseconds per step."""
    state = sampler.init(jnp.zeros(dimension), new_key(1))
    return seconds(lambda: chain(sampler, new_key(0), state, count), repeats) / count * 1e6


def rows() -> dict[str, dict[str, float]]:
    """Cost against N, measured in turns; the ratio is the median over the turns."""
    return {f"batch {batch}": cost_of_rows(batch, dimension=20) for batch in (BATCH, 10 * BATCH)}


def cost_of_rows(batch: int, dimension: int, turns: int = 25) -> dict[str, float]:
    """Of one size of batch."""
    count, few, many = 100_000 // batch, 10**4, 10**6
    data = {n: regression(n, dimension) for n in (few, many)}
    steps = {n: SGGMC(Minibatch(target, batch), 1e-3, 10.0) for n, target in data.items()}
    fetch = {n: np.asarray(target.data["x"]) for n, target in data.items()}
    cost = [{n: per_step(steps[n], dimension, count, repeats=1) for n in steps} for _ in range(turns)]
    fetching = [{n: seconds(partial(copy_rows, fetch[n], batch, count), 1) / count * 1e6 for n in fetch} for _ in cost]
    return {
        "us_per_step_1e4": min(c[few] for c in cost),
        "us_per_step_1e6": min(c[many] for c in cost),
        "ratio": float(np.median([c[many] / c[few] for c in cost])),
        "us_to_copy_1e4": min(c[few] for c in fetching),
        "us_to_copy_1e6": min(c[many] for c in fetching),
    }


@numba.njit
def copy_rows(table: np.ndarray, batch: int, count: int) -> np.ndarray:
    """`count` times: `batch` random rows, copied."""
    out = np.empty((batch, table.shape[1]), table.dtype)
    for _ in range(count):
        for i in range(batch):
            row = np.random.randint(table.shape[0])  # noqa: NPY002 - what numba knows
            for j in range(table.shape[1]):
                out[i, j] += table[row, j]
    return out


def overhead() -> dict[str, float]:
    """Step over gradient, with a batch that makes the gradient dear."""
    target = regression(20_000, 200)
    gradient = Minibatch(target, 4_000)
    step = per_step(SGGMC(gradient, 1e-4, 10.0), 200, 200)

    @jax.jit
    def alone(gradient: Any, key: Array) -> Array:
        ask = lambda x, t: (x + 1e-9 * gradient.estimate(jax.random.fold_in(key, t), x, None)[0].gradient, None)
        return jax.lax.scan(ask, jnp.zeros(200), jnp.arange(200))[0]

    estimate = seconds(lambda: alone(gradient, new_key(0))) / 200 * 1e6
    return {"us_per_gradient": estimate, "us_per_step": step, "ratio": step / estimate}


def reference(target: Posterior, dimension: int) -> tuple[np.ndarray, np.ndarray]:
    """Mean and variance by NUTS."""
    draws = sample(
        GeodesicNUTS(FullGradient(target)), jnp.zeros(dimension), seed=0, num_warmup=300, num_draws=1000, progress=False
    )
    x = np.asarray(draws["posterior"]["x"].values, float)
    return x.mean((0, 1)), x.var((0, 1))


def errors(x: np.ndarray, mean: np.ndarray, variance: np.ndarray) -> dict[str, float]:
    """Of the mean in standard deviations, and of the log variance, root mean square over coordinates."""
    late = np.asarray(x, float)[len(x) // 10 :]
    return {
        "mean_error": float(np.sqrt(np.mean((late.mean(0) - mean) ** 2 / variance))),
        "variance_error": float(np.sqrt(np.mean(np.log(late.var(0) / variance) ** 2))),
    }


def blackjax_chain(kind: Any, target: Posterior, h: float, count: int, start: Array, **settings: Any) -> Any:
    """BlackJAX's sampler in a scan, with the same minibatches."""
    gradient = blackjax.sgmcmc.gradients.grad_estimator(logprior, loglikelihood, target.num_data)
    sampler = kind(gradient, **settings)

    @partial(jax.jit, static_argnames="keep")
    def run(key: Array, keep: bool = False) -> Any:
        def step(x: Array, t: Array) -> Any:
            row_key, step_key = jax.random.split(jax.random.fold_in(key, t))
            index = jax.random.randint(row_key, (BATCH,), 0, target.num_data)
            batch = jax.tree.map(lambda a: a[index], target.data)
            x = sampler.step(step_key, x, batch, h)
            return x, x if keep else None

        return jax.lax.scan(step, start, jnp.arange(count))

    return run


def peers(target: Posterior, dimension: int, mean: np.ndarray, variance: np.ndarray) -> dict[str, Any]:
    """Same step sizes, same number of gradients, from the posterior mean."""
    start = jnp.asarray(mean, jnp.float32)
    sd = float(np.sqrt(variance.mean()))
    h1, h2, friction = 0.004 * sd**2, 0.01 * sd, 1 / sd
    plain, told = Minibatch(target, BATCH, replace=True), Minibatch(target, BATCH, noise=EmpiricalFisher())
    ours: dict[str, Any] = {
        "SGLD": SGLD(plain, h1),
        "SGLD, told of V": SGLD(told, h1),
        "SGLD, control variate": SGLD(ControlVariate(target, start, BATCH // 2), h1),
        "SGHMC": SGHMC(plain, h2, friction),
        "SGHMC, told of V": SGHMC(told, h2, friction),
        "SGHMC, control variate": SGHMC(ControlVariate(target, start, BATCH // 2), h2, friction),
        "SGGMC": SGGMC(plain, h2, friction),
        "SGGMC, told of V": SGGMC(told, h2, friction),
    }
    found: dict[str, Any] = {}
    for name, sampler in ours.items():
        state = sampler.init(start, new_key(3))
        _, x = chain(sampler, new_key(0), state, NUM_STEPS, keep=True)
        found[name] = {"us_per_step": per_step(sampler, dimension, 5000)} | errors(x, mean, variance)
    theirs: dict[str, Any] = {
        "BlackJAX SGLD": (blackjax.sgld, h1, 1, {}),
        # it draws the momentum anew at every call, so for its law it needs several gradients per call (of one batch)
        "BlackJAX SGHMC": (blackjax.sghmc, h2, 10, {"alpha": friction}),
    }
    for name, (kind, h, inner, settings) in theirs.items():
        several = {"num_integration_steps": inner} if inner > 1 else {}
        run = blackjax_chain(kind, target, h, NUM_STEPS // inner, start, **settings, **several)
        _, x = run(jax.random.key(0), keep=True)
        timed = blackjax_chain(kind, target, h, 5000, start, **settings, **several)
        cost = seconds(partial(timed, jax.random.key(0))) / 5000 * 1e6
        found[name] = {"us_per_step": cost, "gradients_per_step": inner} | errors(x, mean, variance)
    return found


def variances(target: Posterior, mean: np.ndarray, variance: np.ndarray) -> dict[str, Any]:
    """Three ways to spend 2 x 50 row gradients per step."""
    center, sd = jnp.asarray(mean, jnp.float32), float(np.sqrt(variance.mean()))
    ways: dict[str, Any] = {
        "minibatch": Minibatch(target, BATCH),
        "empirical Fisher": Minibatch(target, BATCH, noise=EmpiricalFisher()),
        "control variate": ControlVariate(target, center, BATCH // 2),
    }
    found = {}
    for name, gradient in ways.items():
        sampler = SGGMC(gradient, 0.01 * sd, 1 / sd)
        state = sampler.init(center, jax.random.key(3))
        _, x = chain(sampler, jax.random.key(0), state, NUM_STEPS, keep=True)
        found[name] = errors(x, mean, variance)
    return found


def main() -> None:
    """Everything, as a table and as JSON."""
    dimension = 10
    target = regression(10_000, dimension)
    mean, variance = reference(target, dimension)
    result = {
        "rows": rows(),
        "overhead": overhead(),
        "peers": peers(target, dimension, mean, variance),
        "variance": variances(target, mean, variance),
    }
    for group, values in result.items():
        print(group)
        for name, value in values.items():
            cells = value if isinstance(value, dict) else {"": value}
            print(f"  {name:24s}" + "  ".join(f"{key} {number:9.4g}" for key, number in cells.items()))
    (Path(__file__).parent / "results" / "stochastic.json").write_text(
        json.dumps(result, indent=2) + "\n", encoding="utf-8"
    )


if __name__ == "__main__":
    main()
