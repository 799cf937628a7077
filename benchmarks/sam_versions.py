"""Whole fits of `SAM` by two versions of the package, in turns on one machine: which draws topics faster?

Each version runs in a process of its own, which compiles first; then they fit in turns. A fit is what a user calls, so
everything that is not drawing (the loop, progress, draws, states) is in it. The rate of a version is that of its
fastest turn: whatever else the machine does only makes a turn slower. Python calls `python -m benchmarks.sam_versions`
by itself, as the process of one version.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

CASES: dict[str, dict[str, Any]] = {
    "default": {},
    "published": {"method": "sggmc", "published": True},
    "vi": {"method": "vi"},
}
TRANSITIONS = {"default": 200, "published": 300, "vi": 10}
LAW: dict[str, Any] = {"corpus_concentration": 1e4, "topic_concentration": 1e4, "document_concentration": 3e4}


def fit_once(case: str, documents: Any) -> float:
    """Return the transitions per processor second of one fit on one thread; half of them are warm-up."""
    from orthodrome import SAM

    half = TRANSITIONS[case] // 2
    settings = {"num_warmup": half, "num_draws": max(1, half // 10), "thin": min(half, 10), **LAW, **CASES[case]}
    model = SAM(20, rows="normalize", random_state=0, doc_topic_prior=10.0, n_jobs=1, **settings)
    began = time.process_time()
    model.fit(documents)
    return TRANSITIONS[case] / (time.process_time() - began)


def serve() -> None:
    """Answer each case read from the standard input with a rate."""
    import warnings

    import numpy as np
    import scipy.sparse

    warnings.simplefilter("ignore")
    rng = np.random.default_rng(0)
    rows, words = np.repeat(np.arange(1666), 70), np.minimum(rng.zipf(1.3, 1666 * 70), 5000) - 1
    documents = scipy.sparse.csr_matrix((rng.random(rows.size), (rows, words)), shape=(1666, 5000))
    for line in sys.stdin:
        print(fit_once(line.strip(), documents), flush=True)


class Version:
    """A process that fits with the package of one source folder."""

    def __init__(self, source: Path) -> None:
        environment = os.environ | {"PYTHONPATH": f"{source}{os.pathsep}{Path(__file__).parents[1]}"}
        command = [sys.executable, "-m", "benchmarks.sam_versions"]
        pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
        self.process = subprocess.Popen(command, env=environment, **pipes)

    def rate(self, case: str) -> float:
        """Return the transitions per processor second of a fit."""
        assert self.process.stdin is not None and self.process.stdout is not None
        print(case, file=self.process.stdin, flush=True)
        return float(self.process.stdout.readline())

    def close(self) -> None:
        """End the process."""
        self.process.communicate()


def compare(before: Path, turns: int) -> None:
    """Print the rates of the version in a source folder and of this one, and their ratio."""
    versions = [Version(before), Version(Path(__file__).parents[1] / "src")]
    print(f"{'case':12s} {'before':>8s} {'now':>8s} {'ratio':>7s}   transitions per processor second, one thread")
    for case in CASES:
        for version in versions:
            version.rate(case)  # compiles
        found = [[version.rate(case) for version in versions] for _ in range(turns)]
        then, now = (max(rates) for rates in zip(*found, strict=True))
        ratios = sorted(b / a for a, b in found)
        spread = f"ratios of single turns {ratios[0]:.3f} to {ratios[-1]:.3f}, median {ratios[len(ratios) // 2]:.3f}"
        print(f"{case:12s} {then:8.1f} {now:8.1f} {now / then:7.3f}   {spread}", flush=True)
    for version in versions:
        version.close()


if __name__ == "__main__":
    serve()
