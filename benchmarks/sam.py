"""Topic draws per second of `SAM` on 20News-different, and where the time goes.

    published      S = 50, L = 10, 60 proportions of 10 leapfrogs per document, one batch for all inner steps, as in the
                   authors' C++ (1.3 to 1.4 draws per second on two cores of this class)
    fresh batches  the same sizes with a batch for every inner step: ten times the work in the proportions
    default        what `SAM()` does: fresh batches, 20 proportions, the memory of the documents
    documents      the default on 1,666 and on 150,000 made-up documents: the cost must not depend on their number

With ORTHODROME_DATA the real documents are used, else made-up ones of the same shape. Prints a table and writes
benchmarks/results/sam.json: `python -m benchmarks.sam [--quick]`. With `--before FOLDER` whole fits of two versions of
the package are timed in turns instead (`benchmarks.sam_versions`), with `--authors PROGRAM SETTINGS` the published
settings and the authors' program, built elsewhere (`benchmarks.sam_authors`).
"""

from __future__ import annotations

import argparse
import json
import os
import time
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse

from benchmarks import sam_authors
from benchmarks.sam_versions import compare
from orthodrome.kernels.threads.computing import computing
from orthodrome.kernels.timing import stopwatch
from orthodrome.models.sam import SAM
from orthodrome.models.sam.methods import sampler_of
from orthodrome.random.keys import new_key
from orthodrome.run.loop import init_key, transition_key

AUTHORS = 1.35
LAW: dict[str, Any] = {"corpus_concentration": 1e4, "topic_concentration": 1e4, "document_concentration": 3e4}
SIXTY: dict[str, Any] = {"proportion_warmup": 40, "proportion_draws": 20, "proportion_steps": 10}


def made_up(count: int, num_words: int = 5000, per_row: int = 70) -> scipy.sparse.csr_matrix:
    """Rows with Zipf's frequencies."""
    rng = np.random.default_rng(0)
    words = np.minimum(rng.zipf(1.3, (count, per_row)), num_words) - 1
    rows = np.repeat(np.arange(count), per_row)
    table = scipy.sparse.csr_matrix((rng.random(rows.size), (rows, words.ravel())), shape=(count, num_words))
    return table


def newsgroups() -> scipy.sparse.csr_matrix:
    """The documents of the paper, if they are there."""
    path = Path(os.environ.get("ORTHODROME_DATA", ".")) / "20news_different" / "train_tfidf.npz"
    return scipy.sparse.load_npz(path).tocsr() if path.exists() else made_up(1666)


def measure(x: Any, seconds: float, **settings: Any) -> dict[str, Any]:
    """Draws per second after compilation, by the wall clock and by the processor's, and the shares of the parts."""
    model = SAM(20, rows="normalize", random_state=0, doc_topic_prior=10.0, **LAW, **settings)
    documents = model.prepare(x)
    sampler, key = sampler_of(model, model.law_, documents), new_key(np.uint32(model.seed_))
    chain, step = np.uint32(0), lambda t, state: sampler.step(transition_key(key, chain, np.uint32(t)), state)[0]
    with computing(model.n_jobs):
        state = sampler.init(None, init_key(key, chain))
        for t in range(3):
            state = step(t, state)
        with stopwatch() as parts:
            began, processor, count = time.perf_counter(), time.process_time(), 0
            while time.perf_counter() - began < seconds:
                state = step(3 + count, state)
                count += 1
    wall, busy = time.perf_counter() - began, time.process_time() - processor
    shares = {part: round(value / wall, 3) for part, value in parts.items()}
    rates = {"draws_per_second": count / wall, "ratio": count / wall / AUTHORS, "per_processor_second": count / busy}
    return {**rates, "shares": shares}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--threads", type=int, default=None)
    parser.add_argument("--before", type=Path, help="the source folder of another version, to be timed in turns")
    parser.add_argument("--authors", type=Path, nargs=2, help="their program and its settings, to be timed in turns")
    options = parser.parse_args()
    if options.before is not None:
        return compare(options.before, turns=2 if options.quick else 7)
    seconds, x, jobs = (0.5 if options.quick else 5.0), newsgroups(), {"n_jobs": options.threads}
    if options.authors is not None:
        ours = lambda: measure(x, seconds, method="sggmc", published=True, **jobs)["draws_per_second"]
        return sam_authors.compare(*options.authors, x, ours)
    many = made_up(5_000 if options.quick else 150_000)
    plain: dict[str, Any] = {"method": "sggmc", "variance_reduction": False, **SIXTY, **jobs}
    results = {
        "published": measure(x, seconds, method="sggmc", published=True, **jobs),
        "fresh batches": measure(x, seconds, **plain),
        "default": measure(x, seconds, **jobs),
        "1,666 documents": measure(made_up(1666), seconds, **jobs),
        f"{many.shape[0]:,} documents": measure(many, seconds, **jobs),
    }
    print(f"{'case':20s} {'draws/s':>9s} {'x authors':>10s} {'per cpu s':>10s}   shares")
    for name, found in results.items():
        shares = "  ".join(f"{part} {share:.0%}" for part, share in found["shares"].items())
        rates = (found["draws_per_second"], found["ratio"], found["per_processor_second"])
        print(f"{name:20s} {rates[0]:9.1f} {rates[1]:10.1f} {rates[2]:10.1f}   {shares}")
    folder = Path(__file__).parent / "results"
    folder.mkdir(exist_ok=True)
    (folder / "sam.json").write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
