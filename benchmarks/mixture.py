"""Speed and mixing of `DirichletProcessMixture`.

    python -m benchmarks.mixture [--quick] [--data DIR] [PART ...]

Seconds are those of the wall and, for machines that do other things as well, those of the processor (all threads).

Parts, each a table:
    batches    seconds of 1,000 SCIR transitions of 1,000 users of MSWeb (DIR/msweb), beside a plain NumPy sampler of
               the same algorithm in the same run
    rows       seconds of a SCIR transition with 1e4 and 1e6 simulated users
    sweeps     100 exact sweeps over 1e6 rows of 6 planted clusters, from 1 and from 200 clusters: Gaussian d = 2 and
               multinomial d = 100; the adjusted Rand index at the end, beside that of labels drawn with the true
               parameters; the seconds are those of the search for a start and of all sweeps
    starts     the predictive score after equal time from 1 and from 200 clusters, MSWeb
    peers      held-out log density and seconds beside scikit-learn's `BayesianGaussianMixture`
    sphere     planted clusters on S^9: number and adjusted Rand index
"""

from __future__ import annotations

import argparse
import itertools
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse
from sklearn.metrics import adjusted_rand_score
from sklearn.mixture import BayesianGaussianMixture

from orthodrome import DirichletProcessMixture
from orthodrome.kernels.threads.computing import computing
from orthodrome.models.mixture.components.sphere import draw_directions
from orthodrome.models.mixture.methods import sampler_of
from orthodrome.random.keys import drawn_seeds, new_key
from orthodrome.run.loop import init_key, transition_seeds

BASE = new_key(np.uint32(0))
CHAIN = np.uint32(0)


class Seconds(NamedTuple):
    """What a piece of work took: on the wall, and of the processor."""

    wall: float
    cpu: float

    def __str__(self) -> str:
        return f"{self.wall:.2f} s ({self.cpu:.2f} s of the processor)"


@contextmanager
def measured() -> Iterator[list[Seconds]]:
    """Append the seconds of the block to a list."""
    found: list[Seconds] = []
    wall, cpu = time.perf_counter(), time.process_time()
    yield found
    found.append(Seconds(time.perf_counter() - wall, time.process_time() - cpu))


def chain(
    model: DirichletProcessMixture, x: Any, count: int, warm: int = 3, from_start: bool = False
) -> tuple[Any, Seconds, Any]:
    """Return the last state, the seconds of `count` transitions after the compiling ones, and the sampler.

    Seeds are drawn for many transitions at once, as a run does.

    from_start: the seconds are those of the search for the first state and of all transitions (compile before)
    """
    rows = model.prepare(x)
    sampler = sampler_of(model, model.settings_, model.components_law_, rows)
    seeds = drawn_seeds(transition_seeds(BASE, CHAIN, np.arange(warm + count, dtype=np.uint32)))
    with computing(model.n_jobs):
        if from_start:
            with measured() as seconds:
                state = sampler.init(None, init_key(BASE, CHAIN))
                for seed in seeds:
                    state, _ = sampler.step(seed, state)
            return state, seconds[0], sampler
        state = sampler.init(None, init_key(BASE, CHAIN))
        for seed in seeds[:warm]:
            state, _ = sampler.step(seed, state)
        with measured() as seconds:
            for seed in seeds[warm:]:
                state, _ = sampler.step(seed, state)
        return state, seconds[0], sampler


def our_steps(model: DirichletProcessMixture, x: Any, count: int) -> Iterator[None]:
    """Take transitions, one at a time."""
    rows = model.prepare(x)
    sampler = sampler_of(model, model.settings_, model.components_law_, rows)
    state = sampler.init(None, init_key(BASE, CHAIN))
    for seed in drawn_seeds(transition_seeds(BASE, CHAIN, np.arange(count, dtype=np.uint32))):
        state, _ = sampler.step(seed, state)
        yield


def numpy_steps(
    x: Any, count: int, batch: int = 1_000, h: float = 0.1, a: float = 0.5, clusters: int = 20
) -> Iterator[None]:
    """Take transitions of the same algorithm (erratum 1.3, corrected) in vectorised NumPy, one at a time."""
    rng, x = np.random.default_rng(0), scipy.sparse.csr_matrix(x, dtype=float)
    n, d = x.shape
    z, alpha = rng.integers(clusters, size=n), 1.0
    g, theta = np.ones((clusters, 2)), rng.gamma(1.0, size=(clusters, d)) * 100
    cir = lambda v, s: 0.5 * -np.expm1(-h) * rng.noncentral_chisquare(2 * s, 2 * v * np.exp(-h) / -np.expm1(-h))
    for _ in range(count):
        rows = rng.choice(n, batch, replace=False)
        k = g.shape[0]
        own = x[rows]
        hot = scipy.sparse.csr_matrix((np.ones(batch), (z[rows], np.arange(batch))), (k, batch))
        m = np.asarray(hot.sum(axis=1)).ravel() * n / batch
        g = cir(g, np.stack([1 + m, alpha + np.cumsum(m[::-1])[::-1] - m], axis=1))
        theta = np.maximum(cir(theta, a + np.asarray((hot @ own).todense()) * n / batch), 1e-300)
        v = g[:, 0] / g.sum(axis=1)
        w = v * np.cumprod(np.append(1.0, 1 - v[:-1]))
        u = rng.random(batch) * w[z[rows]]
        alpha = rng.gamma(1 + k, 1 / (1 - np.log1p(-v).sum()))
        rest = max(1 - w.sum(), 0.0)
        while rest > u.min():
            pair = rng.gamma([1.0, alpha])
            g, theta = np.vstack([g, pair]), np.vstack([theta, np.maximum(rng.gamma(a, size=d), 1e-300)])
            w, rest = np.append(w, rest * pair[0] / pair.sum()), rest * pair[1] / pair.sum()
        logs = own @ np.log(theta / theta.sum(axis=1, keepdims=True)).T
        logs[w <= u[:, None]] = -np.inf
        p = np.exp(logs - logs.max(axis=1, keepdims=True))
        z[rows] = (p.cumsum(axis=1) < (rng.random(batch) * p.sum(axis=1))[:, None]).sum(axis=1)
        g, theta = g[: z.max() + 1], theta[: z.max() + 1]
        yield


def scir(**more: Any) -> DirichletProcessMixture:
    settings: dict[str, Any] = {"method": "scir", "n_clusters_init": 20, "batch_size": 1_000, "random_state": 0}
    return DirichletProcessMixture("multinomial", **settings | more)


def batches(options: Any) -> None:
    """The chains take turns of 50 transitions: clocks of processors change by a third within seconds."""
    x, (turns, size, warm) = msweb(options)[0], (2, 50, 20) if options.quick else (20, 50, 20)
    count, bare = turns * size, {"split_merge": 0, "label_swaps": 0}
    ours = {"as published": bare | {"control_variates": False}, "by sums": bare, "with all moves": {}}
    chains = {name: our_steps(scir(**more), x, warm + count) for name, more in ours.items()}
    chains["vectorised NumPy"] = numpy_steps(x, warm + count)
    seconds = {name: np.zeros(2) for name in chains}
    with computing(None):
        for turn in range(-1, turns):
            for name, steps in chains.items():
                with measured() as found:
                    for _ in itertools.islice(steps, warm if turn < 0 else size):
                        pass
                seconds[name] += np.array(found[0]) if turn >= 0 else 0.0
    for name, taken in seconds.items():
        share = taken / seconds["vectorised NumPy"]
        print(f"{count} transitions, {name:16s} {Seconds(*taken)}, {share[0]:.3f} ({share[1]:.3f}) of NumPy's")


def rows(options: Any) -> None:
    rng = np.random.default_rng(0)
    for count in (10_000, 100_000 if options.quick else 1_000_000):
        x = scipy.sparse.csr_matrix((np.ones(3 * count), rng.integers(0, 294, 3 * count), np.arange(count + 1) * 3))
        x = scipy.sparse.csr_matrix((x.data, x.indices, x.indptr), (count, 294))
        seconds = chain(scir(split_merge=0), x, 200, 20)[1]
        print(
            f"{count:8d} users: {seconds.wall * 5:.3f} ms for each transition, {seconds.cpu * 5:.3f} of the processor",
            flush=True,
        )


def planted(kind: str, count: int, seed: int = 0) -> tuple[Any, np.ndarray]:
    """Return rows of 6 clusters."""
    x, truth, _ = planted_and_known(kind, count, seed)
    return x, truth


def planted_and_known(kind: str, count: int, seed: int = 0) -> tuple[Any, np.ndarray, np.ndarray]:
    """Return rows of 6 clusters, their clusters, and labels drawn given the true parameters.

    The last are what an exact sampler's labels are like that has found the clusters.
    """
    rng = np.random.default_rng(seed)
    truth = rng.integers(6, size=count)
    if kind == "gaussian":
        means = rng.standard_normal((6, 2)) * 8
        x = means[truth] + rng.standard_normal((count, 2))
        return x, truth, _labels(rng, x @ means.T - np.sum(means**2, axis=1) / 2)
    p = rng.dirichlet(np.full(100, 0.5), 6)
    parts = np.array_split(truth, max(1, count // 50_000))
    x = scipy.sparse.vstack([_counts(rng, p[part]) for part in parts]).tocsr()
    return x, truth, _labels(rng, x @ np.log(np.maximum(p, 1e-300)).T)


def _labels(rng: np.random.Generator, logs: np.ndarray) -> np.ndarray:
    """Draw labels from log densities up to a constant of each row."""
    shares = np.exp(logs - logs.max(axis=1, keepdims=True)).cumsum(axis=1)
    return (shares < (rng.random(shares.shape[0]) * shares[:, -1])[:, None]).sum(axis=1)


def _counts(rng: np.random.Generator, p: np.ndarray) -> Any:
    return scipy.sparse.csr_matrix(rng.multinomial(100, p).astype(np.int32))


def sweeps(options: Any) -> None:
    count, number = (50_000, 30) if options.quick else (1_000_000, 100)
    for kind in options.kinds.split(","):
        few, _ = planted(kind, 9_000)
        x, truth, drawn = planted_and_known(kind, count, options.seed)
        print(f"{kind:12s} labels drawn with the true parameters: ARI {adjusted_rand_score(truth, drawn):.4f}")
        for start in (1, 200):
            model = DirichletProcessMixture(kind, n_clusters_init=start, num_warmup=number, random_state=0)
            chain(model, few, 5)  # compiles
            state, seconds, _ = chain(model, x, number, 0, from_start=True)
            score = adjusted_rand_score(truth, state.labels)
            sizes = np.sort(state.sizes[state.sizes > 0])[::-1]
            print(
                f"{kind:12s} from {start:3d}: search and {number} sweeps in {seconds}, ARI {score:.4f}, {sizes[:9]}",
                flush=True,
            )


def starts(options: Any) -> None:
    train, test = msweb(options)
    for method, more in (("gibbs", {"num_warmup": 60}), ("scir", {"num_warmup": 3_000, "split_merge": 5})):
        scores: dict[int, list[float]] = {1: [], 200: []}
        for seed, start in itertools.product(range(1 if options.quick else 4), scores):
            model = DirichletProcessMixture(
                "multinomial", method=method, n_clusters_init=start, num_draws=20, thin=1, random_state=seed, **more
            )
            with measured() as seconds:
                model.fit(train)
            scores[start].append(model.score(test))
            print(
                f"{method:6s} from {start:3d}: {scores[start][-1]:.4f} nats, {model.n_clusters_} clusters,",
                seconds[0],
                flush=True,
            )
        mean = {start: float(np.mean(each)) for start, each in scores.items()}
        print(f"{method:6s} means {mean[1]:.4f} and {mean[200]:.4f}: {abs(mean[1] - mean[200]):.4f} apart", flush=True)


def peers(options: Any) -> None:
    count = 5_000 if options.quick else 50_000
    x, _ = planted("gaussian", count)
    for name, model in {
        "DirichletProcessMixture": DirichletProcessMixture(random_state=0, num_warmup=50, num_draws=20),
        "BayesianGaussianMixture": BayesianGaussianMixture(n_components=20, random_state=0, max_iter=500),
    }.items():
        with measured() as seconds:
            model.fit(x[: count // 2])
        print(f"{name}: held-out {model.score_samples(x[count // 2 :]).mean():.4f} nats, {seconds[0]}", flush=True)


def sphere(options: Any) -> None:
    rng = np.random.default_rng(1)
    means = rng.standard_normal((8, 10))
    means /= np.sqrt(np.sum(means**2, axis=1, keepdims=True))
    truth = rng.integers(8, size=4_000)
    x = draw_directions(rng, means[truth], np.full(truth.size, 60.0))
    for start in (1, 50):
        with measured() as seconds:
            model = DirichletProcessMixture("vmf", n_clusters_init=start, random_state=0, num_warmup=60).fit(x)
        found = np.bincount(np.asarray(model.draws_["posterior"]["num_clusters"]).ravel()).argmax()
        score = adjusted_rand_score(truth, model.labels_)
        print(f"from {start:2d}: {found} clusters (8 planted), ARI {score:.4f}, {seconds[0]}", flush=True)


def msweb(options: Any) -> tuple[Any, Any]:
    """Return the training and the test users."""
    folder = Path(options.data) / "msweb"
    return scipy.sparse.load_npz(folder / "train.npz"), scipy.sparse.load_npz(folder / "test.npz")


PARTS = {"batches": batches, "rows": rows, "sweeps": sweeps, "starts": starts, "peers": peers, "sphere": sphere}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.mixture", description=__doc__)
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"of {', '.join(PARTS)}; all by default")
    parser.add_argument("--quick", action="store_true", help="does everything run? The numbers mean little")
    parser.add_argument("--data", default="data", help="the folder with msweb/")
    parser.add_argument("--kinds", default="gaussian,multinomial", help="of `sweeps`")
    parser.add_argument("--seed", type=int, default=0, help="of the planted clusters of `sweeps`")
    options = parser.parse_args()
    for name in options.parts or PARTS:
        print(f"-- {name}", flush=True)
        PARTS[name](options)


if __name__ == "__main__":
    main()
