"""What `tests/run/test_hosts.py` runs in one process with several devices and in several processes with one each.

    python hosts_script.py FOLDER [CASE ...]

Every case writes what it found to FOLDER/<case>.<process>.npz or .txt.
"""

from __future__ import annotations

import sys
import warnings
from pathlib import Path
from typing import Any, NamedTuple

import orthodrome

HOSTS = orthodrome.use_hosts()

import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402

from orthodrome import (  # noqa: E402
    SGGMC,
    SGLD,
    SVRG,
    ControlVariate,
    EmpiricalFisher,
    Euclidean,
    GeodesicHMC,
    Minibatch,
    Posterior,
    Sphere,
    Stop,
    Target,
    sample,
)
from orthodrome.core.pytree import pytree, static  # noqa: E402
from orthodrome.random.keys import seed_of  # noqa: E402
from orthodrome.samplers.contract import PythonSampler  # noqa: E402
from orthodrome.storage import files  # noqa: E402

OUT = Path(sys.argv[1])
START = jnp.array([0.0, 0.0, 1.0])
ROWS = np.random.default_rng(1).normal([1.0, -0.5], 1.0, (48, 2)).astype(np.float32)


def logdensity(x: Any, pull: Any) -> Any:
    return pull * x[0]


def steep(x: Any) -> Any:
    return -(x**4)


def tuned() -> GeodesicHMC:
    return GeodesicHMC(Target(Sphere(), logdensity, jnp.array(3.0)))


def draws(sampler: Any, start: Any = START, **settings: Any) -> Any:
    given = {"seed": 0, "num_chains": 4, "num_warmup": 60, "num_draws": 100, "progress": False, "check": False}
    return sample(sampler, start, **(given | settings))


def save(case: str, tree: Any, name: str = "x") -> None:
    values = {"draws": tree["posterior"][name], "chain": tree["posterior"]["chain"]}
    np.savez(OUT / f"{case}.{HOSTS.process}.npz", **{key: np.asarray(value) for key, value in values.items()})


def say(case: str, error: BaseException) -> None:
    (OUT / f"{case}.{HOSTS.process}.txt").write_text(f"{type(error).__name__}: {error}")


@pytree
class Urn(PythonSampler):
    """Polya's urn, stepped from Python."""

    first: np.ndarray
    manifold: None = static(default=None)

    class State(NamedTuple):
        """What is in the urn."""

        counts: np.ndarray

    class Info(NamedTuple):
        """The colour that was drawn."""

        colour: int

    def init(self, position: Any, key: Any = None) -> Any:
        return Urn.State(self.first.copy())

    def step(self, key: Any, state: Any) -> Any:
        rng = np.random.default_rng(seed_of(key))
        colour = int(rng.choice(len(state.counts), p=state.counts / state.counts.sum()))
        state.counts[colour] += 1
        return state, Urn.Info(colour)

    def draw(self, state: Any) -> Any:
        return {"share": state.counts / state.counts.sum()}


def memory() -> None:
    save("memory", draws(tuned()))


def extended() -> None:
    """A run on disk that is extended, as a killed one would be, ends as one that was never disturbed."""
    draws(tuned(), num_draws=40, checkpoint=OUT / f"checkpoint-{HOSTS.processes}", checkpoint_every=0.001)
    save("extended", draws(tuned(), checkpoint=OUT / f"checkpoint-{HOSTS.processes}"))


def own() -> None:
    save("own", draws(tuned(), gather=False, store=OUT / f"own-{HOSTS.processes}.zarr"))


def urn() -> None:
    tree = draws(Urn(np.array([1.0, 2.0])), None, checkpoint=OUT / f"urn-{HOSTS.processes}", num_warmup=0)
    save("urn", tree, "share")


def stopped() -> None:
    save("stopped", draws(tuned(), num_draws=2000, stop_when=Stop(ess=150, rhat=None)))


def diverged() -> None:
    """The last chain, which is the second process's, starts where the step is far too long."""
    starts = [jnp.array(0.1), jnp.array(0.2), jnp.array(0.3), jnp.array(30.0)]
    try:
        draws(SGLD(Target(Euclidean(), steep), step_size=0.01), starts, num_warmup=0)
    except orthodrome.Diverged as error:
        say("diverged", error)


def normal_prior(x: Any) -> Any:
    return -0.5 * jnp.sum(x**2)


def normal_likelihood(x: Any, row: Any) -> Any:
    return -0.5 * jnp.sum((row - x) ** 2)


def posterior(rows: Any = None) -> Posterior:
    """A normal mean, whose 48 rows are spread over the devices unless other rows are given."""
    spread = orthodrome.spread_rows(ROWS) if rows is None else rows
    return Posterior(Euclidean(), normal_prior, normal_likelihood, spread)


def by_rows(case: str, law: Posterior, num_chains: int = 3, **settings: Any) -> None:
    """A few short trajectories: an exchange for every gradient is slow where cores are busy."""
    sampler = GeodesicHMC(law, 0.1, 3)
    save(case, draws(sampler, jnp.zeros(2), num_chains=num_chains, num_warmup=5, num_draws=15, **settings))


def rows() -> None:
    """The full gradient over spread rows; each process may also pass its own."""
    law = posterior()
    assert not law.data.is_fully_replicated and law.num_data == 48
    by_rows("rows", law, checkpoint=OUT / f"rows-{HOSTS.processes}")
    own = np.concatenate([np.asarray(part.data) for part in law.data.addressable_shards])
    assert len(own) == 48 // HOSTS.processes
    spread = orthodrome.spread_rows(own, own=True)
    by_rows("own_rows", Posterior(Euclidean(), normal_prior, normal_likelihood, spread))
    if HOSTS.processes == 1:
        for case, some in (("plain", ROWS), ("half", ROWS[:24])):
            by_rows(case, Posterior(Euclidean(), normal_prior, normal_likelihood, some))


def batch() -> None:
    sampler = SGLD(Minibatch(posterior(), 12), step_size=0.01)
    save("batch", draws(sampler, jnp.zeros(2), num_chains=3, num_warmup=5, num_draws=30))


def estimators() -> None:
    """Estimators that keep an anchor or measure their noise, with rows that are spread and with rows that are not."""
    center, kept = jnp.array([1.0, -0.5]), [("", None)] + [("plain_", ROWS)] * (HOSTS.processes == 1)
    for prefix, table in kept:
        law = posterior(table)
        for case, gradient in (
            ("control", ControlVariate(law, center, 12, noise=EmpiricalFisher())),
            ("svrg", SVRG(law, 12, period=4)),
            ("fisher", Minibatch(law, 12, noise=EmpiricalFisher())),
        ):
            sampler = SGGMC(gradient, 0.05, 1.0, 2)
            save(prefix + case, draws(sampler, jnp.zeros(2), num_chains=4, num_warmup=2, num_draws=10))


def groups() -> None:
    """Chains and rows spread at once: two groups of devices, with half of the chains each."""
    by_rows(
        "groups", posterior(orthodrome.spread_rows(ROWS, chains=2)), 4, checkpoint=OUT / f"groups-{HOSTS.processes}"
    )
    if HOSTS.processes == 1:
        by_rows("plain_groups", posterior(ROWS), 4)


def corpus() -> Any:
    """Documents of two kinds of words."""
    rng = np.random.default_rng(0)
    rates = np.where(rng.random((90, 1)) < 0.5, [[2.0] * 12 + [0.2] * 12], [[0.2] * 12 + [2.0] * 12])
    return rng.poisson(rates)


def lda(method: str, **settings: Any) -> None:
    model = orthodrome.LDA(3, method=method, num_draws=4, random_state=0, learn_prior=True, n_jobs=1, **settings)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", orthodrome.OrthodromeWarning)  # the run is short
        model.fit(corpus(), checkpoint=OUT / f"{method}-{HOSTS.processes}")
        again = orthodrome.LDA.resume(OUT / f"{method}-{HOSTS.processes}", corpus())
    assert np.array_equal(model.components_, again.components_)
    save(method, model.draws_, "topics")
    np.save(OUT / f"{method}-prior.{HOSTS.process}.npy", model.doc_topic_prior_)


def gibbs() -> None:
    lda("gibbs", num_warmup=12)


def scir() -> None:
    lda("scir", num_warmup=6, batch_size=40)


def clusters(case: str, family: str, table: Any) -> None:
    """Clusters of rows that are spread."""
    settings: dict[str, Any] = {"split_merge": 0, "n_clusters_init": 4, "num_warmup": 6, "num_draws": 6}
    model = orthodrome.DirichletProcessMixture(family, random_state=0, n_jobs=1, **settings)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", orthodrome.OrthodromeWarning)  # the run is short
        model.fit(table, checkpoint=OUT / f"{case}-{HOSTS.processes}")
        again = type(model).resume(OUT / f"{case}-{HOSTS.processes}", table)
    assert np.array_equal(model.labels_, again.labels_)
    save(case, model.draws_, "weights")
    np.save(OUT / f"{case}-labels.{HOSTS.process}.npy", model.labels_)


def mixture() -> None:
    """Rows of counts of two kinds."""
    clusters("mixture", "multinomial", corpus()[:, ::3] + 1)


def gaussian() -> None:
    """Rows of real numbers of three kinds."""
    rng = np.random.default_rng(2)
    clusters("gaussian", "gaussian", rng.standard_normal((90, 2)) + rng.choice([-4.0, 0.0, 4.0], (90, 1)))


def vmf() -> None:
    """Directions of two kinds."""
    rng = np.random.default_rng(3)
    table = rng.standard_normal((90, 3)) + rng.choice([-3.0, 3.0], (90, 1))
    clusters("vmf", "vmf", table / np.sqrt((table**2).sum(axis=1, keepdims=True)))


def admixture(case: str, method: str) -> None:
    """Topics on the sphere, of documents that are spread."""
    model = orthodrome.SAM(2, method=method, rows="counts", batch_size=40, num_warmup=4, num_draws=4, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", orthodrome.OrthodromeWarning)  # the run is short
        model.fit(corpus() + 1, checkpoint=OUT / f"{case}-{HOSTS.processes}")
        again = type(model).resume(OUT / f"{case}-{HOSTS.processes}", corpus() + 1)
    assert np.array_equal(model.components_, again.components_)
    save(case, model.draws_, "topics")


def sam() -> None:
    """Batches, which are brought together."""
    admixture("sam", "sggmc")


def sam_all() -> None:
    """All documents, whose gradient is a sum of whole numbers."""
    admixture("sam_all", "gmc-bgibbs")


def other_documents() -> None:
    """Different documents on the two processes."""
    try:
        orthodrome.LDA(3, num_warmup=1, num_draws=1, random_state=0).fit(corpus() + HOSTS.process)
    except orthodrome.BadInput as error:
        say("other_documents", error)


def other_data() -> None:
    """Different data on the two processes."""
    pull = jnp.array(3.0 + HOSTS.process)
    try:
        draws(GeodesicHMC(Target(Sphere(), logdensity, pull)))
    except orthodrome.BadInput as error:
        say("other_data", error)


def full_disk() -> None:
    """The disk of the last process is full when it writes its state."""
    write = files.write_arrays

    def full(path: Path, arrays: Any) -> None:
        raise OSError(28, "No space left on device")

    if HOSTS.process == HOSTS.processes - 1:
        files.write_arrays = full
    try:
        draws(tuned(), checkpoint=OUT / f"full-{HOSTS.processes}")
    except orthodrome.OrthodromeError as error:
        say("full_disk", error)
    files.write_arrays = write


CASES = (memory, extended, own, urn, stopped, rows, batch, estimators, groups, gibbs, scir)
CASES += (mixture, gaussian, vmf, sam, sam_all)
FAILURES = (diverged, other_data, other_documents, full_disk)

if __name__ == "__main__":
    for case in CASES + FAILURES:
        if not sys.argv[2:] or case.__name__ in sys.argv[2:]:
            case()
