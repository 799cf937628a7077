"""Time Gibbs sweeps over topic assignments, in tokens per second, beside tomotopy on the same documents.

    python -m benchmarks.topic_assignments --data DIR [--documents 40000] [--topics 100 1000] [--peer PYTHON]

DIR holds `wikipedia_simple`. PYTHON is an interpreter that has tomotopy and SciPy (default: this one). The peer waits
in a process of its own; rounds alternate, so that whatever else the machine does hits both alike; ratios are medians,
by the clock and by the seconds of all processors together, which a busy machine stretches less.
Ours sets the topics to their conditional mean after each sweep, so both are Gibbs sweeps near equilibrium;
`transform` is the folding in of documents with fixed topics, ten sweeps of which five are kept.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from collections.abc import Callable

import numba
import numpy as np
import scipy.sparse

from orthodrome.kernels.assignments import Tokens, assign_topics, sweep_order, tokens

CONCENTRATION, SMOOTHING, SETTLING = 0.1, 0.01, 20

PEER = """
import sys, time
import numpy, scipy.sparse, tomotopy
path, documents, topics, settling = sys.argv[1], *map(int, sys.argv[2:])
counts = scipy.sparse.load_npz(path)[:documents].astype(numpy.int64)
model = tomotopy.LDAModel(k=topics, alpha=0.1, eta=0.01, seed=1)
for d in range(counts.shape[0]):
    row = slice(counts.indptr[d], counts.indptr[d + 1])
    words = numpy.repeat(counts.indices[row], counts.data[row])
    if words.size:
        model.add_doc([str(w) for w in words])
model.optim_interval = 0
model.train(settling, workers=2)
print("ready", flush=True)
for line in sys.stdin:
    start, used = time.perf_counter(), time.process_time()
    model.train(int(line), workers=2)
    print(time.perf_counter() - start, time.process_time() - used, flush=True)
"""

Seconds = np.ndarray
"""Seconds by the clock, and of all processors."""


def now() -> Seconds:
    """Return both clocks."""
    return np.array([time.perf_counter(), time.process_time()])


class Ours:
    """A Gibbs sampler for LDA made of the kernel, with topics at their conditional mean."""

    def __init__(self, documents: Tokens, num_words: int, num_topics: int) -> None:
        rng = np.random.default_rng(0)
        self.documents, self.step = documents, 0
        self.weights = rng.standard_gamma(1.0, (num_words, num_topics))
        self.prior = np.full(num_topics, CONCENTRATION, np.float32)
        self.assignments: np.ndarray | None = None
        self.order = sweep_order(documents, num_words, num_topics)

    def topics(self) -> np.ndarray:
        """Return the topics, words x topics."""
        return (self.weights / self.weights.sum(axis=0)).astype(np.float32)

    def sweep(self, sweeps: int = 1, burn: int = 0) -> Seconds:
        """Sweep and return the seconds that the kernel took."""
        topics, self.step = self.topics(), self.step + 1
        start = now()
        found = assign_topics(
            1,
            self.documents,
            topics,
            self.prior,
            assignments=self.assignments,
            sweeps=sweeps,
            burn=burn,
            step=self.step,
            order=self.order,
        )
        seconds = now() - start
        self.assignments = found.assignments
        self.weights = np.full_like(self.weights, SMOOTHING)
        self.weights[found.words] += found.counts / found.kept
        return seconds

    def fold_in(self) -> Seconds:
        """Return the seconds that ten sweeps with fixed topics from no assignments take."""
        topics = self.topics()
        start = now()
        assign_topics(2, self.documents, topics, self.prior, sweeps=10, burn=5, mixes=True)
        return now() - start


def start_peer(python: str, path: str, documents: int, topics: int) -> subprocess.Popen[str] | None:
    """Start tomotopy, or say why not."""
    command = [python, "-W", "ignore", "-c", PEER, path, str(documents), str(topics), str(SETTLING)]
    peer = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    if peer.stdout is None or peer.stdout.readline().strip() != "ready":
        print("tomotopy did not start; ours alone")
        return None
    return peer


def peer_seconds(peer: subprocess.Popen[str], sweeps: int) -> Seconds:
    """Let the peer sweep and return its seconds."""
    assert peer.stdin is not None and peer.stdout is not None
    print(sweeps, file=peer.stdin, flush=True)
    return np.array(peer.stdout.readline().split(), float)


def report(name: str, seconds: list[Seconds], work: float, rival: list[Seconds]) -> None:
    """Print a line of the table: millions of tokens per second by both clocks, and how many times the peer's."""
    rates = work / np.array(seconds) / 1e6
    ratios = np.median(rates / np.array(rival), axis=0) if rival else np.full(2, np.nan)
    clock, processor = np.median(rates, axis=0)
    print(f"{name:34} {clock:10.2f} {ratios[0]:8.2f} {processor:14.2f} {ratios[1]:8.2f}", flush=True)


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", required=True)
    parser.add_argument("--documents", type=int, default=40_000)
    parser.add_argument("--topics", type=int, nargs="+", default=[100, 1000])
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--peer", default=sys.executable)
    options = parser.parse_args()
    path = f"{options.data}/wikipedia_simple/simple2021_counts.npz"
    counts = scipy.sparse.load_npz(path)[: options.documents].astype(np.int64)
    documents = tokens(counts)
    print(f"{counts.shape[0]} documents, {documents.words.size} tokens, {numba.get_num_threads()} threads")
    for topics in options.topics:
        peer = start_peer(options.peer, path, counts.shape[0], topics)
        compare(Ours(documents, counts.shape[1], topics), topics, peer, options.rounds)
        if peer is not None and peer.stdin is not None:
            peer.stdin.close()
            peer.wait()


def compare(ours: Ours, topics: int, peer: subprocess.Popen[str] | None, rounds: int) -> None:
    """Time one number of topics."""
    for _ in range(SETTLING):
        ours.sweep()
    size = ours.documents.words.size
    ways: dict[str, tuple[Callable[[], Seconds], int]] = {
        "ours, one sweep": (ours.sweep, size),
        "ours, five sweeps": (lambda: ours.sweep(5), 5 * size),
        "ours, transform": (ours.fold_in, 10 * size),
    }
    for function, _ in ways.values():
        function()  # compile
    seconds: dict[str, list[Seconds]] = {name: [] for name in ways}
    rival: list[Seconds] = []
    for _ in range(rounds):
        for name, (function, _) in ways.items():
            seconds[name].append(function())
        if peer is not None:
            rival.append(size / peer_seconds(peer, 1) / 1e6)
    print(f"\nK = {topics:<31} M tokens/s    times  per processor s    times (tomotopy's)")
    for name, (_, work) in ways.items():
        report(name, seconds[name], work, rival)
    if rival:
        report("tomotopy, one sweep", list(size / np.array(rival) / 1e6), size, rival)


if __name__ == "__main__":
    main()
