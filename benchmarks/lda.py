"""Race `LDA` against tomotopy to low perplexity: one corpus, one evaluation, one run.

    python -m benchmarks.lda --data DIR [--corpus wikipedia_simple] [--topics 100] [--seconds 120]

Both go through the same documents on all cores; whoever has used less time goes on, sweep by sweep, so that whatever
else the machine does hits both alike. Evaluations are not counted. Times are given twice: by the clock, and as seconds
of all processors together, which a busy machine stretches less. `LDA` runs with its default settings; tomotopy with its
own (alpha 0.1, learnt every 10 sweeps; eta 0.01). Documents of 40 or more words are drawn for the test, 1,000 of them;
every 10th word of these is predicted (`models.topics.completion`), folding in with alpha = 0.1 for both.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse

from orthodrome import LDA
from orthodrome.kernels.assignments import tokens
from orthodrome.kernels.threads.computing import computing
from orthodrome.models.lda.defaults import settings_for
from orthodrome.models.lda.documents import TokenDocuments, read_counts
from orthodrome.models.lda.methods import sampler_of
from orthodrome.models.topics.completion import completion_task, perplexity_of, predictions
from orthodrome.random.keys import new_key
from orthodrome.run.loop import init_key, transition_key

FILES = {"wikipedia_simple": "simple2021", "wikipedia_en": "en2014"}
NUM_TEST, LEAST_WORDS, ALPHA = 1_000, 40, 0.1
TARGETS = (1278, 1141, 1035, 983, 960, 943)
AT = (3, 5, 7, 10, 15, 20, 30, 40, 60, 90, 120)


class Point(NamedTuple):
    """Where a racer stands: seconds by the clock, seconds of the processors, perplexity."""

    clock: float
    processors: float
    perplexity: float


def read(folder: Path, corpus: str, validation: bool = False) -> tuple[Any, Any, Any]:
    """Return the training counts, and the seen and the held-back part of the test documents.

    validation: other documents than those of the test, on which settings may be chosen; then those of the test are
    left out altogether
    """
    name = FILES[corpus]
    paths = (folder / corpus / f"{name}_{part}.npz" for part in ("counts", "heldout"))
    counts, held = (scipy.sparse.load_npz(path).astype(np.int64).tocsr() for path in paths)
    rng = np.random.default_rng(0)
    long = np.flatnonzero(np.asarray(counts.sum(axis=1)).ravel() >= LEAST_WORDS)
    test = np.sort(rng.choice(long, NUM_TEST, replace=False))
    train = np.setdiff1d(np.arange(counts.shape[0]), test)
    if validation:
        test = np.sort(rng.choice(np.setdiff1d(long, test), NUM_TEST, replace=False))
        train = np.setdiff1d(train, test)
    return counts[train], counts[test] - held[test], held[test]


def ours(documents: TokenDocuments, num_topics: int, seed: int, learn: bool) -> Iterator[Any]:
    """Yield the topics (a function that returns them) after every transition of `LDA`'s default sampler."""
    model = LDA(num_topics, learn_prior=learn)
    settings = settings_for(model, documents)
    sampler, key = sampler_of(settings, num_topics, documents.shuffled(seed)), new_key(np.uint32(seed))
    state, recent = sampler.init(None, init_key(key, np.uint32(0))), []
    for t in range(10**9):
        state, _ = sampler.step(transition_key(key, np.uint32(0), np.uint32(t)), state)
        if t >= settings.num_warmup:
            recent = [*recent, state.topics.copy()][-settings.num_draws :]
        yield lambda kept=recent, now=state: (np.mean(kept, axis=0) if kept else now.topics).T


def theirs(counts: Any, num_topics: int, seed: int) -> Iterator[Any]:
    """Return the topics after every sweep of tomotopy; its documents are read before the race."""
    import tomotopy

    words, starts = tokens(counts)
    model = tomotopy.LDAModel(k=num_topics, seed=seed)
    for d in range(len(starts) - 1):
        model.add_doc([str(word) for word in words[starts[d] : starts[d + 1]]])
    model.train(0, show_progress=False)
    return sweeps_of(model, counts.shape[1])


def sweeps_of(model: Any, size: int) -> Iterator[Any]:
    """Yield the topics after every sweep."""
    while True:
        model.train(1, workers=os.cpu_count() or 1, show_progress=False)
        yield lambda: whole_vocabulary(model, size)


def whole_vocabulary(model: Any, size: int) -> np.ndarray:
    """Return tomotopy's topics; words without a token in training have its prior's share."""
    columns = np.array([int(word) for word in model.used_vocabs])
    topics = np.zeros((model.k, size))
    for k in range(model.k):
        topics[k] = model.eta / (model.get_count_by_topics()[k] + model.eta * size)
        topics[k, columns] = model.get_topic_word_dist(k)
    return topics / topics.sum(axis=1, keepdims=True)


class Racer:
    """A racer, its times and its points."""

    def __init__(self, name: str, make: Iterator[Any], task: Any, every: float) -> None:
        self.name, self.steps, self.task, self.every = name, make, task, every
        self.clock, self.processors, self.sweeps, self.points = 0.0, 0.0, 0, [Point(0.0, 0.0, np.inf)]

    def advance(self) -> None:
        """Take one sweep; look if it is time."""
        clock, processors = time.perf_counter(), time.process_time()
        topics = next(self.steps)
        self.clock += time.perf_counter() - clock
        self.processors += time.process_time() - processors
        self.sweeps += 1
        if self.processors > self.points[-1].processors + max(self.every, 0.1 * self.processors):
            self.look(topics())

    def look(self, topics: np.ndarray) -> None:
        """Evaluate, outside of the race's time."""
        p = predictions(self.task, topics, np.full(topics.shape[0], ALPHA))
        self.points.append(Point(self.clock, self.processors, perplexity_of(self.task, p)))
        print(f"{self.name:9s} sweep {self.sweeps:4d}  {self.points[-1]}", flush=True)

    def reached(self, target: float, axis: str) -> float:
        """Return the time of the first point at most at the target."""
        return next((getattr(point, axis) for point in self.points if point.perplexity <= target), np.nan)

    def at(self, seconds: float, axis: str) -> float:
        """Return the best perplexity so far after some time."""
        return min(point.perplexity for point in self.points if getattr(point, axis) <= seconds)


def tables(racers: list[Racer], cores: int) -> None:
    """Print the time to each target, and the perplexity at each time (processor seconds / cores)."""
    names = [racer.name for racer in racers]
    print("\n| perplexity | " + " | ".join(f"{n}: clock, processor s" for n in names) + " | ratio of processor s |")
    print("|---" * (len(names) + 2) + "|")
    for target in TARGETS:
        found = [(racer.reached(target, "clock"), racer.reached(target, "processors")) for racer in racers]
        ratio = found[0][1] / found[-1][1]
        print(f"| {target} | " + " | ".join(f"{a:.1f}, {b:.1f}" for a, b in found) + f" | {ratio:.2f} |")
    print(f"\n| processor s / {cores} cores | " + " | ".join(names) + " |\n" + "|---" * (len(names) + 1) + "|")
    for seconds in AT:
        row = [f"{racer.at(seconds * cores, 'processors'):.0f}" for racer in racers]
        print(f"| {seconds} | " + " | ".join(row) + " |")


def main() -> None:
    """Race."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--corpus", choices=sorted(FILES), default="wikipedia_simple")
    parser.add_argument("--topics", type=int, default=100)
    parser.add_argument("--seconds", type=float, default=120.0, help="processor seconds of each, divided by the cores")
    parser.add_argument("--alone", action="store_true", help="without tomotopy")
    parser.add_argument("--validation", action="store_true", help="judge by other documents than those of the test")
    parser.add_argument("--learn-prior", action="store_true")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    cores = os.cpu_count() or 1
    train, seen, held = read(options.data, options.corpus, options.validation)
    task, documents = completion_task(seen, held), read_counts(train)
    with computing(cores):
        warm_up(num_topics=options.topics)
        racers = [Racer("orthodrome", ours(documents, options.topics, options.seed, options.learn_prior), task, 1.0)]
        if not options.alone:
            racers.append(Racer("tomotopy", theirs(train, options.topics, options.seed), task, 1.0))
        load = os.getloadavg()[0]
        while (behind := min(racers, key=lambda racer: racer.processors)).processors < cores * options.seconds:
            behind.advance()
    print(
        f"\n{documents.count} documents, {documents.num_tokens} tokens, K = {options.topics}, {cores} cores;", end=" "
    )
    print(f"load of the machine {load:.1f} at the start, {os.getloadavg()[0]:.1f} at the end")
    tables(racers, cores)


def warm_up(num_topics: int) -> None:
    """Compile before the race."""
    counts = scipy.sparse.csr_matrix(np.random.default_rng(0).poisson(0.5, (40, 200)))
    LDA(num_topics, num_warmup=3, num_draws=2, random_state=0).fit(counts)


if __name__ == "__main__":
    main()
