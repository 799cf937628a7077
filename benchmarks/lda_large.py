"""Large corpora: `LDA` from memory-mapped files, its time for each sweep and its memory; and a run that is killed.

    python -m benchmarks.lda_large made-up --folder DIR [--documents 100000] [--words 80000] [--length 2000]
    python -m benchmarks.lda_large killed --folder DIR --data DATA [--topics 100]

`made-up` writes documents of planted topics block by block into DIR (once), then takes exact Gibbs sweeps over all of
them. `killed` writes `wikipedia_en` en2014 of DATA, fits it with a checkpoint in a process that is killed with -9,
resumes, and compares the draws with those of a run that was left alone. Memory is the peak of the fitting process.
"""

from __future__ import annotations

import argparse
import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import scipy.sparse

from orthodrome import LDA
from orthodrome.corpora import MappedCorpus, open_mapped, write_mapped

BLOCK, PLANTED, OF_A_DOCUMENT = 1_000, 200, 8
"""Documents of a block, planted topics, and those of one document."""


def made_up(documents: int, words: int, length: int) -> Iterator[scipy.sparse.csr_array]:
    """Yield blocks of documents: eight topics each, whose words fall off like 1 / rank."""
    for block in range(0, documents, BLOCK):
        rng, size = np.random.default_rng(block), min(BLOCK, documents - block)
        own = rng.integers(0, PLANTED, (size, OF_A_DOCUMENT))
        topic = np.take_along_axis(own, rng.integers(0, OF_A_DOCUMENT, (size, length)), axis=1)
        rank = np.floor(np.exp(rng.random((size, length)) * np.log(5_000))).astype(np.int64)
        word = (rank * 7_919 + topic * 104_729 + (rank * topic) % 1_009) % words
        starts = length * np.arange(size + 1)
        yield scipy.sparse.csr_array((np.ones(size * length, np.int64), word.ravel(), starts), (size, words))


def opened(folder: Path, documents: int, words: int, length: int) -> MappedCorpus:
    """Return the made-up corpus of a folder, written if it is not there."""
    if (folder / "about.json").exists():
        return open_mapped(folder)
    began = time.perf_counter()
    corpus = write_mapped(made_up(documents, words, length), folder, documents=documents)
    print(f"written in {time.perf_counter() - began:.0f} s")
    return corpus


def peak() -> float:
    """Return the largest memory of this process so far, in GB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6


def sweep_made_up(folder: Path, documents: int, words: int, length: int, topics: int, sweeps: int) -> None:
    """Print the seconds of a sweep and the memory."""
    corpus = opened(folder, documents, words, length)
    size = corpus.indices.size
    print(f"{len(corpus)} documents, {corpus.num_words} words, {size} tokens; {peak():.2f} GB", flush=True)
    LDA(topics, num_warmup=0, num_draws=1, random_state=0).fit(corpus.rows(0, 20))  # compile
    spent = []
    for count in (1, 1 + sweeps):
        clock, processors = time.perf_counter(), time.process_time()
        LDA(topics, method="gibbs", num_warmup=0, num_draws=count, random_state=0).fit(corpus)
        spent.append((time.perf_counter() - clock, time.process_time() - processors))
        print(f"{count} sweeps: {spent[-1][0]:.1f} s, {spent[-1][1]:.1f} processor s; {peak():.2f} GB", flush=True)
    clock, processors = (np.array(spent[1]) - np.array(spent[0])) / sweeps
    print(f"a sweep: {clock:.1f} s, {processors:.1f} processor s, {corpus.indices.size / clock / 1e6:.1f} M tokens/s")


def fit_once(folder: Path, run: str, topics: int) -> None:
    """Fit the corpus with a checkpoint and save the topics: the child process of `killed`."""
    model = LDA(topics, method="gibbs", num_warmup=40, num_draws=10, random_state=0)
    model.fit(open_mapped(folder / "corpus"), checkpoint=folder / run, checkpoint_every=0.3)
    np.save(folder / f"{run}.npy", model.draws_["posterior"]["topics"])
    print(f"{run}: peak {peak():.2f} GB", flush=True)


def wait_for_commits(folder: Path, process: subprocess.Popen[bytes], count: int = 3) -> None:
    """Return when the checkpoint has changed so many times, or the run has ended."""
    seen: set[int] = set()
    while len(seen) < count and process.poll() is None:
        time.sleep(0.05)
        seen |= {path.stat().st_mtime_ns for path in folder.glob("commit*")}


def killed(folder: Path, data: Path, topics: int) -> None:
    """Compare a killed and resumed run with one that was left alone."""
    if not (folder / "corpus" / "about.json").exists():
        counts = scipy.sparse.load_npz(data / "wikipedia_en" / "en2014_counts.npz").tocsr()
        write_mapped(counts, folder / "corpus", shuffle=0)
    command = [sys.executable, "-m", "benchmarks.lda_large", "once", "--folder", str(folder), "--topics", str(topics)]
    subprocess.run([*command, "--run", "whole"], check=True)
    process = subprocess.Popen([*command, "--run", "cut"])
    wait_for_commits(folder / "cut", process)
    if process.poll() is not None:
        sys.exit("the run ended before it could be killed; let it take more sweeps")
    os.kill(process.pid, signal.SIGKILL)
    print(f"killed at a commit of its checkpoint: exit {process.wait()}", flush=True)
    subprocess.run([*command, "--run", "cut"], check=True)
    same = np.array_equal(np.load(folder / "whole.npy"), np.load(folder / "cut.npy"))
    print(f"the draws of both runs are {'the same' if same else 'NOT the same'}")


def main() -> None:
    """Run one of the two."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=("made-up", "killed", "once"))
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--documents", type=int, default=100_000)
    parser.add_argument("--words", type=int, default=80_000)
    parser.add_argument("--length", type=int, default=2_000)
    parser.add_argument("--topics", type=int, default=100)
    parser.add_argument("--sweeps", type=int, default=2)
    parser.add_argument("--run", default="whole")
    given = parser.parse_args()
    if given.what == "made-up":
        sweep_made_up(given.folder, given.documents, given.words, given.length, given.topics, given.sweeps)
    elif given.what == "once":
        fit_once(given.folder, given.run, given.topics)
    elif given.data is None:
        parser.error("killed needs --data")
    else:
        killed(given.folder, given.data, given.topics)


if __name__ == "__main__":
    main()
