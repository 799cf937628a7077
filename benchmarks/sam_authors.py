"""The authors' C++ program for SGGMC on the same documents, in turns with ours at the published settings.

Their program (github.com/changliu00/SG-Geod-MCMC) has no licence that lets us keep it, so it is built elsewhere, as its
README says, and named here:

    python -m benchmarks.sam --authors .../SAM_SGGMC/samsggmc .../SAM_SGGMC/settings_diff_batch.txt

It is run on one thread and on as many as there are cores; the time of a draw is what it prints of it ("local time"), so
that reading the documents and writing results do not count.
"""

from __future__ import annotations

import os
import re
import statistics
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import scipy.sparse

DRAWS, TURNS = 12, 3


def write_documents(documents: scipy.sparse.csr_matrix, path: Path) -> None:
    """Write unit rows as the program reads them: V and D, then the words of a document, its label, and word:value."""
    table = scipy.sparse.csr_matrix(documents, copy=True)
    table.sum_duplicates()
    lengths = np.sqrt(np.asarray(table.multiply(table).sum(axis=1)).ravel())
    with path.open("w") as out:
        print(table.shape[1], table.shape[0], file=out)
        for row, length in enumerate(lengths):
            part = slice(table.indptr[row], table.indptr[row + 1])
            pairs = zip(table.indices[part], table.data[part] / length, strict=True)
            print(part.stop - part.start, 0, *(f"{word}:{value:.8g}" for word, value in pairs), file=out)


def draws_per_second(program: Path, settings: Path, data: Path, threads: int) -> float:
    """Return the rate of a run of the program, without its first draw."""
    command = [program.resolve(), "tr", settings.resolve(), "tr_data", data, "ts_data", data, "Nmax", str(DRAWS)]
    environment = os.environ | {"OMP_NUM_THREADS": str(threads)}
    said = subprocess.run(command, cwd=data.parent, env=environment, check=True, capture_output=True, text=True).stdout
    times = [float(found) for found in re.findall(r"local time: ([0-9.]+)", said)]
    return 1 / statistics.mean(times[1:])


def compare(program: Path, settings: Path, documents: scipy.sparse.csr_matrix, ours: Callable[[], float]) -> None:
    """Print the rates of the program and of ours in turns, and their ratios; ours: returns draws per second."""
    cores = sorted({1, os.cpu_count() or 1})
    print("turn      ours   " + "   ".join(f"authors on {count} threads (ratio)" for count in cores))
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "documents.data"
        write_documents(documents, data)
        for turn in range(TURNS):
            now, theirs = ours(), [draws_per_second(program, settings, data, count) for count in cores]
            print(
                f"{turn:4d} {now:9.1f}   " + "   ".join(f"{rate:.3f} ({now / rate:.0f})" for rate in theirs), flush=True
            )
