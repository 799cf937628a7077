"""The peers written in NumPy, in float64: mici's constrained HMC, and geosss's samplers on the sphere.

mici: the sphere and the frames as level sets with their Jacobians given, the dynamic (NUTS-like) constrained sampler
with its own step-size adapter, two worker processes. geosss: its HMC with its own step-size rule and its default of
ten steps, and its geodesic slice sampler (shrinkage), which uses no gradients; two processes with two chains each.
Being interpreted, they make fewer draws; the rates are per second all the same.
"""

from __future__ import annotations

import logging
import multiprocessing
import time
from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

from benchmarks import laws
from benchmarks.laws import Law
from benchmarks.measure import Run

NUM_CHAINS = 4
WORKERS = 2


def first_point(law: Law, rng: np.random.Generator) -> np.ndarray:
    z = rng.normal(size=law.shape)
    return z / np.linalg.norm(z) if law.space == "sphere" else np.linalg.qr(z)[0]


class Constrained:
    """A law as mici wants it: functions of a flat position; a class, so that worker processes can be given it."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.law = law_called(name)
        columns = 1 if self.law.space == "sphere" else self.law.shape[1]
        self.pairs, self.identity = np.triu_indices(columns), np.eye(columns)

    def __reduce__(self) -> tuple[Any, ...]:
        return Constrained, (self.name,)

    def neg_log_dens(self, q: np.ndarray) -> float:
        return -self.law.logdensity(q.reshape(self.law.shape))

    def grad_neg_log_dens(self, q: np.ndarray) -> np.ndarray:
        return -self.law.gradient(q.reshape(self.law.shape)).ravel()

    def constr(self, q: np.ndarray) -> np.ndarray:
        x = q.reshape(self.law.shape[0], -1)
        return (x.T @ x - self.identity)[self.pairs]

    def jacob_constr(self, q: np.ndarray) -> np.ndarray:
        x = q.reshape(self.law.shape[0], -1)
        rows = np.zeros((self.pairs[0].size, *x.shape))
        for row, i, j in zip(rows, *self.pairs, strict=True):
            row[:, i] += x[:, j]
            row[:, j] += x[:, i]
        return rows.reshape(len(rows), -1)


def law_called(name: str) -> Law:
    return next(law for law in laws.all_laws() if law.name == name)


def mici_chmc(law: Law, seeds: range, num_warmup: int, num_draws: int) -> Iterator[Run]:
    """Constrained HMC with dynamic trajectories."""
    import mici

    logging.getLogger("mici").setLevel(logging.ERROR)
    parts = Constrained(law.name)
    for seed in seeds:
        rng = np.random.default_rng(seed)
        system = mici.systems.DenseConstrainedEuclideanMetricSystem(
            parts.neg_log_dens,
            parts.constr,
            grad_neg_log_dens=parts.grad_neg_log_dens,
            jacob_constr=parts.jacob_constr,
        )
        integrator = mici.integrators.ConstrainedLeapfrogIntegrator(system)
        sampler = mici.samplers.DynamicMultinomialHMC(system, integrator, rng)
        go = partial(sampler.sample_chains, n_worker=WORKERS, display_progress=False)
        start = [first_point(law, rng).ravel() for _ in range(NUM_CHAINS)]
        began = time.perf_counter()
        states = go(num_warmup, 1, start, adapters=[mici.adapters.DualAveragingStepSizeAdapter()]).final_states
        warm = time.perf_counter()
        states = go(0, 1, states, adapters=[]).final_states
        empty = time.perf_counter()
        result = go(0, num_draws, states, adapters=[])
        seconds = time.perf_counter() - empty - (empty - warm)  # without what it takes to start the workers
        draws = np.array(result.traces["pos"]).reshape(NUM_CHAINS, num_draws, *law.shape)
        gradients = int(np.sum(result.statistics["n_step"]))
        note = f"step {integrator.step_size:.3g}, {gradients / NUM_CHAINS / num_draws:.1f} steps"
        yield Run(draws, seconds if seconds > 0 else float("nan"), warm - began, gradients, note)


class Density:
    """A law as geosss wants it (its own Fisher-Bingham law leaves the linear term out of its gradient)."""

    def __init__(self, law: Law) -> None:
        self.log_prob, self.gradient = law.logdensity, law.gradient


def geosss_chain(kind: str, name: str, num_warmup: int, num_draws: int, seed: int) -> tuple[np.ndarray, float, float]:
    """One chain, in a worker: draws, seconds, warm-up seconds."""
    import geosss

    law = law_called(name)
    start = first_point(law, np.random.default_rng((seed, 1)))
    sampler_class = geosss.SphericalHMC if kind == "hmc" else geosss.ShrinkageSphericalSliceSampler
    sampler = sampler_class(Density(law), start, seed=seed)
    began = time.perf_counter()
    sampler.sample(num_warmup, burnin=num_warmup)
    warm = time.perf_counter()
    draws = sampler.sample(num_draws + 1)[1:]
    return draws, time.perf_counter() - warm, warm - began


def geosss(kind: str, law: Law, seeds: range, num_warmup: int, num_draws: int) -> Iterator[Run]:
    """Two processes with two chains each: the slower one's time counts."""
    with multiprocessing.get_context("spawn").Pool(WORKERS) as pool:
        for seed in seeds:
            jobs = [(kind, law.name, num_warmup, num_draws, NUM_CHAINS * seed + chain) for chain in range(NUM_CHAINS)]
            draws, seconds, warmup = zip(
                *pool.starmap(geosss_chain, jobs, chunksize=NUM_CHAINS // WORKERS), strict=True
            )
            slowest = lambda times: max(np.sum(np.reshape(times, (WORKERS, -1)), axis=1))
            gradients = NUM_CHAINS * num_draws * 11 if kind == "hmc" else 0
            note = "10 steps" if kind == "hmc" else "no gradients"
            yield Run(np.array(draws), slowest(seconds), slowest(warmup), gradients, note)


geosss_hmc = partial(geosss, "hmc")
geosss_slice = partial(geosss, "slice")
