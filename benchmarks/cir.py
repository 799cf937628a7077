"""Time 800,000 transitions of the Cox-Ingersoll-Ross process against NumPy's `noncentral_chisquare`, in one run.

    python -m benchmarks.cir [--rounds 15]

The state is that of a topic model: K = 100 topics over V = 8,000 words, counts of 7.6 million tokens with word
frequencies that fall like 1 / rank, 13 % of them not zero. Each round times every method once, one after the other, so
that whatever else the machine does hits all alike; the table gives medians of the rounds' times and ratios.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

import numba
import numpy as np

from orthodrome.kernels.transition import cir_transition, cir_transition_counts

TOPICS, WORDS, TOKENS = 100, 8_000, 7.6e6


def topic_counts(rng: np.random.Generator) -> np.ndarray:
    """Return a K x V matrix of counts: each word belongs to few topics."""
    frequency = 1 / np.arange(1, WORDS + 1)
    frequency /= frequency.sum()
    return rng.poisson(TOKENS * frequency * rng.dirichlet(np.full(TOPICS, 0.03), WORDS).T).astype(np.float32)


def methods(prior: float, step: float) -> dict[str, Callable[[int], object]]:
    """Return one function of the round for each way to draw the same transitions."""
    rng = np.random.default_rng(0)
    counts = topic_counts(rng)
    shapes = prior + counts.astype(np.float64)
    theta = rng.standard_gamma(shapes)
    log_theta = np.log(np.maximum(theta, 1e-300))
    noncentrality = 2 * theta * np.exp(-step) / -np.expm1(-step)
    short = log_theta.astype(np.float32)
    return {
        "NumPy noncentral_chisquare": lambda _: rng.noncentral_chisquare(2 * shapes, noncentrality),
        "ours, shapes, float64": lambda i: cir_transition(i, log_theta, shapes, step),
        "ours, counts, float32": lambda i: cir_transition_counts(i, short, prior, 1.0, counts, step),
    }


def timed(function: Callable[[int], object], number: int) -> tuple[float, float]:
    """Return the seconds on the clock and of the processors."""
    clock, processor = time.perf_counter(), time.process_time()
    function(number)
    return time.perf_counter() - clock, time.process_time() - processor


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=15)
    rounds = parser.parse_args().rounds
    print(f"{numba.get_num_threads()} threads; median of {rounds} rounds\n")
    print("prior   h    method                        ms    of NumPy's   processor ms")
    for prior in (0.01, 0.1, 0.5, 1.0):
        for step in (0.1, 0.5):
            report(prior, step, rounds)


def report(prior: float, step: float, rounds: int) -> None:
    """Print the lines of one prior and step size."""
    ways = methods(prior, step)
    for function in ways.values():
        function(0)
    times = np.array([[timed(function, 1 + i) for function in ways.values()] for i in range(rounds)])
    ratios = np.median(times[:, :, 0] / times[:, :1, 0], axis=0)
    medians = 1e3 * np.median(times, axis=0)
    for name, (clock, processor), ratio in zip(ways, medians, ratios, strict=True):
        print(f"{prior:5}  {step:3}  {name:27} {clock:6.1f}  {ratio:9.3f}  {processor:13.1f}")


if __name__ == "__main__":
    main()
