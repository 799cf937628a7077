"""Compare the methods of `LDA` on one corpus at equal priors and equal time: perplexity of held-back words.

    python -m benchmarks.lda_methods --data DIR [--corpus kos] [--topics 50] [--seconds 40] [--methods ...]

DIR holds `kos` and `20news_bydate`. A tenth of the documents are test documents, every 10th word of which is
predicted (`models.topics.completion`), folding in with alpha = 0.1. Each method has the same processor seconds, without
the evaluations; predictions are averaged over the second half of them, as the papers average theirs, and the last
single draw is given beside. Step sizes are the defaults, unless given for `scir` or `sgrld`. `scir-fresh` is `scir`
without the memory of its assignments (remember=False), as in the papers.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse

from orthodrome import LDA
from orthodrome.kernels.computing import computing
from orthodrome.models.lda.defaults import settings_for
from orthodrome.models.lda.documents import TokenDocuments, read_counts
from orthodrome.models.lda.methods import sampler_of
from orthodrome.models.topics.completion import RunningCompletion, completion_task, split_documents
from orthodrome.random.keys import new_key
from orthodrome.run.loop import init_key, transition_key

FILES = {"kos": "kos/counts.npz", "20news": "20news_bydate/train_counts.npz"}
ALPHA, BETA, LOOKS = 0.1, 0.1, 20


def read(folder: Path, corpus: str) -> tuple[TokenDocuments, Any]:
    """Return the training documents and the task of completing the test documents."""
    counts = scipy.sparse.load_npz(folder / FILES[corpus]).tocsr().astype(np.int64)
    rows = np.random.default_rng(0).permutation(counts.shape[0])
    test = rows[: counts.shape[0] // 10]
    return read_counts(counts[rows[len(test) :]]), completion_task(*split_documents(counts[test]))


def race(method: str, documents: TokenDocuments, task: Any, topics: int, seconds: float, steps: dict[str, Any]) -> str:
    """Run a method for some processor seconds; return a line of the table."""
    name, _, fresh = method.partition("-")
    priors = {"doc_topic_prior": ALPHA, "topic_word_prior": BETA}
    model = LDA(topics, method=name, remember=False if fresh else None, **priors, **steps)
    settings = settings_for(model, documents)._replace(num_warmup=0, stages=())
    sampler, key = sampler_of(settings, topics, documents), new_key(np.uint32(1))
    state = sampler.init(None, init_key(key, np.uint32(0)))
    looks, spent, taken, last = RunningCompletion(task, ALPHA), 0.0, 0, float("nan")
    averaged = float("nan")
    while spent < seconds:
        began = time.process_time()
        state, _ = sampler.step(transition_key(key, np.uint32(0), np.uint32(taken)), state)
        spent, taken = spent + time.process_time() - began, taken + 1
        if spent > seconds / 2 * (1 + (looks.count + 1) / LOOKS):
            last, averaged = looks.evaluate(state.topics.T)
    return f"{method:10} {taken:6d} transitions   averaged {averaged:8.1f}   last draw {last:8.1f}"


def main() -> None:
    """Print a line for each method."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--corpus", choices=sorted(FILES), default="kos")
    parser.add_argument("--topics", type=int, default=50)
    parser.add_argument("--seconds", type=float, default=40.0, help="processor seconds of each method")
    parser.add_argument("--methods", nargs="+", default=["collapsed", "gibbs", "scir", "scir-fresh", "sgrld"])
    parser.add_argument("--step-size", type=float)
    parser.add_argument("--step-power", type=float, help="kappa of the schedule h (1 + m / tau)^(-kappa)")
    parser.add_argument("--batch-size", type=int)
    parser.add_argument("--sweeps", type=int)
    given = parser.parse_args()
    documents, task = read(given.data, given.corpus)
    print(f"{documents.count} documents, {documents.num_tokens} tokens, K = {given.topics}, alpha {ALPHA}, beta {BETA}")
    with computing(2):
        for method in given.methods:
            names = ("step_size", "step_power", "batch_size", "sweeps")
            steps = {name: getattr(given, name) for name in names}
            print(race(method, documents, task, given.topics, given.seconds, steps), flush=True)


if __name__ == "__main__":
    main()
