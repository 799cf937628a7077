"""What each process of `benchmarks.hosts` runs: `python -m benchmarks.hosts.cases CASE FOLDER [--data DIR] [--quick]`.

Every case is timed as the difference of a long and a short run of the same program in the same process, so that
neither compilation nor preparation counts: the figures are those of the work between. They are written to
FOLDER/<case>.<process>.json.
"""

from __future__ import annotations

import argparse
import json
import resource
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import orthodrome

HOSTS = orthodrome.use_hosts()

import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402
import scipy.sparse  # noqa: E402

from orthodrome import LDA, Euclidean, GeodesicHMC, Posterior, sample, spread_rows  # noqa: E402
from orthodrome.run.parallel import ledger  # noqa: E402

ROWS, COLUMNS, LEAPFROGS = 1_000_000, 20, 5
"""The rows and columns of the regression whose full gradient is spread, and the leapfrogs of a transition."""
CHAINS, FEW_ROWS, FEW_LEAPFROGS = 16, 1_000, 10
"""Chains, rows and leapfrogs of the regression whose chains are spread."""


def logprior(b: Any) -> Any:
    """Return the log density of N(0, I)."""
    return -0.5 * jnp.sum(b**2)


def loglikelihood(b: Any, row: Any) -> Any:
    """Return the log likelihood of one row (x, y) of a logistic regression, y being 0 or 1."""
    score = row["x"] @ b
    return row["y"] * score - jnp.logaddexp(0.0, score)


def regression(count: int, seed: int = 0) -> dict[str, np.ndarray]:
    """Return made-up rows."""
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((count, COLUMNS), np.float32)
    p = 1 / (1 + np.exp(-x @ np.linspace(-1, 1, COLUMNS, dtype=np.float32)))
    return {"x": x, "y": (rng.random(count, np.float32) < p).astype(np.float32)}


def timed(run: Callable[[int], Any], short: int, long: int) -> dict[str, float]:
    """Return the seconds and exchanges between the ends of a short and a long run; both are run once beforehand."""
    found = []
    run(short)
    for length in (short, long):
        clock, processors = time.perf_counter(), time.process_time()
        times, size, waited = ledger.times, ledger.bytes, ledger.seconds
        run(length)
        spent = (time.perf_counter() - clock, time.process_time() - processors)
        found.append((*spent, ledger.times - times, ledger.bytes - size, ledger.seconds - waited))
    names = ("seconds", "processor_seconds", "exchanges", "bytes", "exchange_seconds")
    differences = dict(zip(names, (np.array(found[1]) - np.array(found[0])).tolist(), strict=True))
    return differences | {"work": long - short}


def drawing(sampler: Any, chains: int) -> Callable[[int], Any]:
    """Return a function that draws so many times."""
    settings: dict[str, Any] = {"seed": 0, "num_chains": chains, "num_warmup": 0, "progress": False, "check": False}
    return lambda count: sample(sampler, jnp.zeros(COLUMNS), num_draws=count, **settings)


def chains(given: argparse.Namespace) -> dict[str, Any]:
    """Time transitions of all chains."""
    rows = jax.tree.map(jnp.asarray, regression(FEW_ROWS))
    sampler = GeodesicHMC(Posterior(Euclidean(), logprior, loglikelihood, rows), 0.02, FEW_LEAPFROGS)
    return timed(drawing(sampler, CHAINS), 100, 300 if given.quick else 1_500)


def rows(given: argparse.Namespace) -> dict[str, Any]:
    """Time transitions with all rows; then those with this process's own rows alone, which exchange nothing."""
    count = 50_000 if given.quick else ROWS
    table = regression(count)
    step, short, long = 0.5 / count**0.5, 2, 10 if given.quick else 102
    part = count // HOSTS.processes
    own = jax.tree.map(lambda leaf: leaf[HOSTS.process * part :][:part].copy(), table)
    found = timed(drawing(GeodesicHMC(law_of(spread_rows(own, own=True)), step, LEAPFROGS), 1), short, long)
    found["gradients"] = (long - short) * LEAPFROGS
    if HOSTS.processes > 1:
        found["seconds_without_exchange"] = own_seconds(law_of(jax.tree.map(jnp.asarray, own)), step, short, long)
    return found


def law_of(rows: Any) -> Posterior:
    """Return the posterior of the regression."""
    return Posterior(Euclidean(), logprior, loglikelihood, rows)


def own_seconds(law: Posterior, step: float, short: int, long: int) -> float:
    """Return the seconds of the same transitions with rows of this process alone, in a program without exchange."""
    sampler = GeodesicHMC(law, step, LEAPFROGS)

    def steps(sampler: Any, state: Any, count: Any) -> Any:
        return jax.lax.fori_loop(0, count, lambda t, s: sampler.step(jax.random.key(t), s)[0], state)

    program = jax.jit(steps)
    state = sampler.init(jnp.zeros(COLUMNS))
    seconds = []
    for count in (short, short, long):
        began = time.perf_counter()
        jax.block_until_ready(program(sampler, state, count))
        seconds.append(time.perf_counter() - began)
    return seconds[2] - seconds[1]


def lda(given: argparse.Namespace) -> dict[str, Any]:
    """Time exact sweeps over all documents, from the topics that a few of them have made."""
    counts = scipy.sparse.load_npz(given.data / "wikipedia_simple" / "simple2021_counts.npz").tocsr()
    counts = counts[:4_000] if given.quick else counts

    def fit(count: int) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", orthodrome.OrthodromeWarning)  # the run is short
            model = LDA(100, method="gibbs", num_warmup=2, num_draws=1, thin=count, random_state=0, n_jobs=1)
            model.fit(counts)

    return timed(fit, 2, 6 if given.quick else 14) | {"tokens": int(counts.sum())}


def memory(given: argparse.Namespace) -> dict[str, Any]:
    """Return by how much a table on disk, whose rows are spread and summed, enlarges this process."""
    table = np.load(given.folder / "table.npy", mmap_mode="r")
    total = jax.jit(jnp.sum)
    float(total(spread_rows(np.ones((16, table.shape[1]), np.float32))))
    before = resident()
    held = spread_rows(table)
    assert float(total(held)) == table.shape[0] * table.shape[1]
    own = sum(part.data.nbytes for part in held.addressable_shards)
    return {"table": table.nbytes, "own": own, "before": before, "grown": resident() - before}


def resident() -> int:
    """Return the memory that this process has now, pages of files included, in bytes."""
    fields = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    return 1024 * int(fields["VmRSS"].split()[0])


def main() -> None:
    """Run one case and write its figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("case", choices=("chains", "rows", "lda", "memory"))
    parser.add_argument("folder", type=Path)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--quick", action="store_true")
    given = parser.parse_args()
    found = {"chains": chains, "rows": rows, "lda": lda, "memory": memory}[given.case](given)
    found |= {"process": HOSTS.process, "peak": 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss}
    (given.folder / f"{given.case}.{HOSTS.process}.json").write_text(json.dumps(found))


if __name__ == "__main__":
    main()
