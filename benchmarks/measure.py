"""What is measured of a run: min-ESS per second and per gradient, and how far its moments are from the exact ones.

ESS is ArviZ's for the mean (`method="mean"`: split chains, no ranks), because the question is how well E x and E x^2
are known; the minimum is over all coordinates of x and x^2. Wrong samplers are found by z, the largest difference
from the exact moments in standard errors, over all coordinates and seeds together.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np

from benchmarks.laws import functionals

WRONG = 5.0
"""The |z| beyond which a method is marked wrong: some 1,000 functionals in the table, so 5e-4 for a false mark."""


class Run(NamedTuple):
    """One seed: draws (chain, draw, ...), seconds without compilation, gradient evaluations of the draws (0: none).

    compile_seconds: of the first call, tracing included, beyond what a call takes; 0: interpreted
    """

    draws: np.ndarray
    seconds: float
    warmup_seconds: float
    gradients: int
    note: str = ""
    compile_seconds: float = 0.0


class Compilations:
    """The seconds that JAX spends tracing and compiling; made once per process, before the first operation."""

    def __init__(self) -> None:
        import jax

        self.intervals: list[tuple[float, float]] = []
        self.count = 0
        jax.monitoring.register_event_duration_secs_listener(self._hear)

    def _hear(self, event: str, seconds: float, **_: Any) -> None:
        if event.startswith("/jax/core/compile"):
            now = time.perf_counter()
            self.intervals.append((now - seconds, now))
            self.count += event.endswith("backend_compile_duration")

    def between(self, begin: float, end: float) -> float:
        """The length of the union of the intervals (tracing nests)."""
        total, reached = 0.0, begin
        for start, stop in sorted(self.intervals):
            start, stop = max(start, reached), min(stop, end)
            total, reached = total + max(0.0, stop - start), max(reached, stop)
        return total

    def timed(self, function: Callable[..., Any], *arguments: Any) -> tuple[Any, float]:
        """A result that is ready, and the seconds it took without compiling."""
        import jax

        begin = time.perf_counter()
        result = jax.block_until_ready(function(*arguments))
        end = time.perf_counter()
        return result, end - begin - self.between(begin, end)


def ess(values: np.ndarray, method: str = "mean") -> np.ndarray:
    """Of each functional of (chain, draw, functional); "bulk": rank-normalised."""
    from arviz_stats.base import array_stats

    return np.asarray(array_stats.ess(values, chain_axis=0, draw_axis=1, method=method))


def min_ess(draws: np.ndarray) -> float:
    """Over x and x^2; 0 if the chains broke."""
    sizes = ess(functionals(draws))
    return float(np.min(sizes)) if np.all(np.isfinite(sizes)) else 0.0


def _min_rank_ess(draws: np.ndarray) -> float:
    """The smallest rank-normalised ESS over the coordinates, which small weights have too; 0 if the chains broke."""
    sizes = ess(np.asarray(draws, np.float64).reshape(*draws.shape[:2], -1), "bulk")
    return float(np.min(sizes)) if np.all(np.isfinite(sizes)) else 0.0


def figures(run: Run) -> dict[str, Any]:
    """One seed in numbers, small enough for JSON."""
    values = functionals(run.draws)
    sizes = ess(values)
    usable = np.all(np.isfinite(sizes))
    smallest = float(np.min(sizes)) if usable else 0.0
    return {
        "min_ess": smallest,
        "per_second": smallest / run.seconds,
        "per_second_with_warmup": smallest / (run.seconds + run.warmup_seconds),
        "per_gradient": smallest / run.gradients if run.gradients else None,
        "ranks_per_gradient": _min_rank_ess(run.draws) / run.gradients if run.gradients else None,
        "compile_seconds": run.compile_seconds,
        "seconds": run.seconds,
        "warmup_seconds": run.warmup_seconds,
        "draws": int(np.prod(run.draws.shape[:2])),
        "note": run.note,
        "mean": values.mean(axis=(0, 1)).tolist(),
        "variance_of_mean": (values.var(axis=(0, 1)) / sizes).tolist() if usable else [float("nan")] * sizes.size,
    }


def median(seeds: Iterable[dict[str, Any]], name: str) -> float | None:
    """Over seeds."""
    values = [seed[name] for seed in seeds]
    return None if None in values else float(np.median(values))


def largest_z(seeds: list[dict[str, Any]], truth: tuple[np.ndarray, np.ndarray]) -> float:
    """All seeds together against the exact moments; inf if chains broke or stood still."""
    mean = np.mean([seed["mean"] for seed in seeds], axis=0)
    variance = np.sum([seed["variance_of_mean"] for seed in seeds], axis=0) / len(seeds) ** 2
    z = (mean - truth[0]) / np.sqrt(variance + truth[1] ** 2)
    return float(np.max(np.abs(z))) if np.all(np.isfinite(z)) else float("inf")
