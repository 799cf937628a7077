"""Orthodrome as a user calls it: `sample` with a sampler that has no numbers, chains over the cores.

The first call compiles, which is its time less that of the second; the measured calls differ in the seed only. On the
Dirichlet the manifold is `LogRatioSimplex`; `square_root` is the other map, `Simplex`, which has poles at
concentrations below 1/2: how much they cost where the integrator's walls are soft.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp

import orthodrome as od
from benchmarks.laws import Law
from benchmarks.measure import Run

NUM_CHAINS = 4
SPACES = {"sphere": od.Sphere, "frame": od.Stiefel, "simplex": od.LogRatioSimplex}


def run(
    sampler_class: Any, law: Law, seeds: range, num_warmup: int, num_draws: int, manifold: Any = None
) -> Iterator[Run]:
    """One Run per seed."""
    target = od.Target(manifold or SPACES[law.space](), law.logdensity)
    call = partial(
        _call,
        sampler_class(od.FullGradient(target)),
        jax.ShapeDtypeStruct(law.shape, jnp.float32),
        num_warmup=num_warmup,
    )
    first, second = (_seconds(call, seed, num_draws) for seed in (1000, 1001))
    for seed in seeds:
        tree = call(seed=seed, num_draws=num_draws)
        gradients = int(tree["sample_stats"]["n_steps"].sum())
        seconds, warmup = tree.attrs["sampling_time"], tree.attrs["warmup_time"]
        note = _note(tree["sample_stats"])
        yield Run(tree["posterior"]["x"].values, seconds, warmup, gradients, note, max(0.0, first - second))


def _call(sampler: Any, start: Any, **numbers: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", od.OrthodromeWarning)
        return od.sample(sampler, start, num_chains=NUM_CHAINS, progress=False, **numbers)


def _seconds(call: Any, seed: int, num_draws: int) -> float:
    began = time.perf_counter()
    call(seed=seed, num_draws=num_draws)
    return time.perf_counter() - began


def _note(stats: Any) -> str:
    steps, acceptance = float(stats["n_steps"].mean()), float(stats["acceptance_rate"].mean())
    return f"step {float(stats['step_size'].values[0, -1]):.3g}, {steps:.1f} steps, acceptance {acceptance:.2f}"


hmc = partial(run, od.GeodesicHMC)
nuts = partial(run, od.GeodesicNUTS)
square_root = partial(run, od.GeodesicHMC, manifold=od.Simplex())
