"""Compare the methods of `LDA` on one corpus at equal priors and equal time: perplexity of held-back words.

    python -m benchmarks.lda_methods --data DIR [--corpus kos] [--seconds 40] [--methods ...] [--seeds 0 1]

DIR holds `kos` and `20news_bydate`. A tenth of the documents are test documents, every 10th word of which is
predicted (`models.topics.completion`), folding in with alpha = 0.1. Each method has the same processor seconds, without
the evaluations, and runs from the same start. Predictions are averaged over twenty evaluations in the second half of
them, as the papers average theirs, and the mean of the perplexities of these single draws is given beside; both also
for a half, a quarter and an eighth of the time, which shows whether a chain has settled. Then the means over the seeds
with their standard errors, and each method against the first one. Step sizes are the defaults, unless given for `scir`
or `sgrld`. `scir-fresh` is `scir` without the memory of its assignments (remember=False), as in the papers.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse

from orthodrome import LDA
from orthodrome.kernels.threads.computing import computing
from orthodrome.models.lda.defaults import settings_for
from orthodrome.models.lda.documents import TokenDocuments, read_counts
from orthodrome.models.lda.methods import sampler_of
from orthodrome.models.topics.completion import completion_task, perplexity_of, predictions, split_documents
from orthodrome.random.keys import new_key
from orthodrome.run.loop import init_key, transition_key

FILES = {"kos": "kos/counts.npz", "20news": "20news_bydate/train_counts.npz"}
ALPHA, BETA, LOOKS = 0.1, 0.1, 20
TIMES = np.array([1 / 8, 1 / 4, 1 / 2, 1.0])
"""The parts of the time at which the second half so far is summed up."""


def read(folder: Path, corpus: str) -> tuple[TokenDocuments, Any]:
    """Return the training documents and the task of completing the test documents."""
    counts = scipy.sparse.load_npz(folder / FILES[corpus]).tocsr().astype(np.int64)
    rows = np.random.default_rng(0).permutation(counts.shape[0])
    test = rows[: counts.shape[0] // 10]
    return read_counts(counts[rows[len(test) :]]), completion_task(*split_documents(counts[test]))


def looks(seconds: float) -> np.ndarray:
    """Return the times of the evaluations: twenty in each second half of `TIMES`."""
    spots = (np.arange(LOOKS) + 1) / LOOKS
    return np.unique(np.round(seconds * np.concatenate([part / 2 * (1 + spots) for part in TIMES]), 6))


def race(
    method: str, documents: TokenDocuments, task: Any, topics: int, seconds: float, steps: dict[str, Any], seed: int
) -> np.ndarray:
    """Run a method for some processor seconds; return perplexities at `TIMES`: (averaged, of single draws)."""
    name, _, fresh = method.partition("-")
    priors = {"doc_topic_prior": ALPHA, "topic_word_prior": BETA}
    model = LDA(topics, method=name, remember=False if fresh else None, **priors, **steps)
    settings = settings_for(model, documents)._replace(num_warmup=0, stages=())
    sampler, key = sampler_of(settings, topics, documents), new_key(np.uint32(1 + seed))
    sampler.step(transition_key(key, np.uint32(0), np.uint32(0)), sampler.init(None, init_key(key, np.uint32(0))))
    state = sampler.init(None, init_key(key, np.uint32(0)))  # the step before was to compile
    spent, taken, times = 0.0, 0, looks(seconds)
    wanted, seen = list(times), []
    while wanted:
        began = time.process_time()
        state, _ = sampler.step(transition_key(key, np.uint32(0), np.uint32(taken)), state)
        spent, taken = spent + time.process_time() - began, taken + 1
        if spent >= wanted[0]:
            seen.append((wanted[0], predictions(task, state.topics.T, np.full(topics, ALPHA))))
            wanted = [t for t in wanted if t > spent]
    found = np.array([summary(task, seen, seconds * part) for part in TIMES])
    single = "  ".join(f"{averaged:8.1f} ({one:7.1f})" for averaged, one in found)
    print(f"{method:10} seed {seed}  {taken:6d} transitions   {single}", flush=True)
    return found


def summary(task: Any, seen: list[tuple[float, np.ndarray]], end: float) -> tuple[float, float]:
    """Return the perplexity of the mean prediction, and the mean perplexity, from half of the time `end` to it."""
    found = [p for t, p in seen if end / 2 < t <= end * (1 + 1e-9)]
    if not found:
        return float("nan"), float("nan")
    return perplexity_of(task, np.mean(found, axis=0)), float(np.mean([perplexity_of(task, p) for p in found]))


def report(found: dict[str, np.ndarray]) -> None:
    """Print means over seeds with standard errors; found: (seeds, times, 2) of each method."""
    first = next(iter(found.values()))
    error = lambda x: x.std(axis=0, ddof=1) / np.sqrt(len(x)) if len(x) > 1 else np.full(x.shape[1:], np.nan)
    for method, values in found.items():
        mean, spread = values.mean(axis=0)[-1], error(values)[-1]
        apart, doubt = 100 * (values / first - 1).mean(axis=0)[-1], 100 * error(values / first)[-1]
        print(
            f"{method:10} averaged {mean[0]:8.1f} +- {spread[0]:.1f} ({apart[0]:+.2f} +- {doubt[0]:.2f} %)"
            f"   single draws {mean[1]:8.1f} +- {spread[1]:.1f} ({apart[1]:+.2f} +- {doubt[1]:.2f} %)"
        )


def main() -> None:
    """Print a line for each method and seed, and a summary."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--corpus", choices=sorted(FILES), default="kos")
    parser.add_argument("--topics", type=int, default=50)
    parser.add_argument("--seconds", type=float, default=40.0, help="processor seconds of each method")
    parser.add_argument("--methods", nargs="+", default=["collapsed", "gibbs", "scir", "scir-fresh", "sgrld"])
    parser.add_argument("--seeds", type=int, nargs="+", default=[0])
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--step-size", type=float)
    parser.add_argument("--step-power", type=float, help="kappa of the schedule h (1 + m / tau)^(-kappa)")
    parser.add_argument("--batch-size", type=int)
    parser.add_argument("--sweeps", type=int)
    given = parser.parse_args()
    documents, task = read(given.data, given.corpus)
    print(f"{documents.count} documents, {documents.num_tokens} tokens, K = {given.topics}, alpha {ALPHA}, beta {BETA}")
    print(f"perplexities of mean predictions (of single draws) after {given.seconds * TIMES} processor seconds")
    names = ("step_size", "step_power", "batch_size", "sweeps")
    steps = {name: getattr(given, name) for name in names}
    found: dict[str, list[np.ndarray]] = {method: [] for method in given.methods}
    with computing(given.threads):
        for seed in given.seeds:
            for method in given.methods:
                stepping = {} if method in ("collapsed", "gibbs") else steps
                found[method].append(race(method, documents, task, given.topics, given.seconds, stepping, seed))
    report({method: np.stack(values) for method, values in found.items()})


if __name__ == "__main__":
    main()
