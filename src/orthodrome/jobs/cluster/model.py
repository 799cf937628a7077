"""From rows to a `ClusterResult`: a mixture with the settings of a job, and the summaries of its draws."""

from __future__ import annotations

import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from orthodrome.errors import BadInput, NotConverged
from orthodrome.jobs.cluster.job import ClusterJob
from orthodrome.jobs.cluster.profiles import PROFILES
from orthodrome.jobs.cluster.result import ClusterResult, Traces
from orthodrome.jobs.cluster.rows import ClusterRows
from orthodrome.jobs.cluster.summary import clusters_of
from orthodrome.jobs.cluster.verdict import verdict_of
from orthodrome.models.mixture import DirichletProcessMixture
from orthodrome.models.mixture.defaults import check_settings
from orthodrome.models.topics.chains import history

SAMPLED = 300
"""Rows of which all pairs are looked at."""


def estimator(job: ClusterJob, progress: bool) -> DirichletProcessMixture:
    """Return the mixture that the job asks for."""
    return DirichletProcessMixture(
        job.family,
        method=job.method,
        concentration=job.concentration,
        category_prior=job.category_prior,
        n_clusters_init=job.num_clusters_init,
        max_components=job.max_components,
        batch_size=job.batch_size,
        step_size=job.step_size,
        num_warmup=job.num_warmup,
        num_draws=job.num_draws,
        thin=job.thin,
        num_chains=job.num_chains,
        random_state=job.seed,
        n_jobs=job.num_threads,
        progress=progress,
    )


def check_rows(job: ClusterJob, rows: ClusterRows, path: Path) -> None:
    """Raise if the settings or the rows are not those of the family, before a folder is made."""
    model = estimator(job, progress=False)
    check_settings(model)
    try:
        model.prepare(rows.values)
    except BadInput as error:
        raise BadInput(f"{path}: {error} (rows are counted from 0, after the header)") from error


def learn(job: ClusterJob, rows: ClusterRows, state: Path, progress: bool) -> ClusterResult:
    """Draw the clusters (or resume drawing), and say what they are."""
    began, model = time.monotonic(), estimator(job, progress)
    training, held_out = rows.values[rows.training], rows.values[~rows.training]
    some = {"held_out": held_out} if held_out.shape[0] else {}
    with warnings.catch_warnings():  # the whole verdict follows; a quick look would give another ESS beside it
        warnings.simplefilter("ignore", NotConverged)
        model.fit(training, checkpoint=state, checkpoint_every=job.checkpoint_every, **some)
    if model.draws_.attrs["interrupted"]:
        raise KeyboardInterrupt  # what was drawn is in the checkpoint; only a whole run has a result
    clusters = clusters_of(model, model.rows(rows.values), model.predict(rows.values), PROFILES[job.family])
    sample = sampled(clusters.labels)
    numbers = measure(model, held_out) | {"seconds": round(time.monotonic() - began, 1)}
    pairs = model.co_clustering(rows.values[sample])
    return ClusterResult(job.family, clusters, sample, pairs, traces(model), numbers, verdict_of(model.draws_))


def sampled(labels: np.ndarray) -> np.ndarray:
    """Return some rows, evenly spaced in the order of their clusters."""
    order = np.argsort(labels, kind="stable")
    return order[np.unique(np.linspace(0, len(order) - 1, min(SAMPLED, len(order))).astype(np.int64))]


def measure(model: DirichletProcessMixture, held_out: Any) -> dict[str, float]:
    """Return the numbers of a fit."""
    group = model.draws_["posterior"]
    count, alpha = (np.asarray(group[name], float) for name in ("num_clusters", "concentration"))
    low, high = np.quantile(count, (0.05, 0.95))
    numbers = {"clusters (mean over draws)": float(count.mean()), "clusters (5 %)": float(low)}
    numbers |= {"clusters (95 %)": float(high), "concentration": float(alpha.mean())}
    if held_out.shape[0]:
        numbers["log predictive density (held-out rows)"] = model.score(held_out)
    return numbers


def traces(model: DirichletProcessMixture) -> Traces:
    """Return the number of clusters of every chain, and the held-out density where it was watched."""
    names = {"number of clusters": "num_clusters", "log predictive density of held-out rows": "score"}
    found = {name: history(model.draws_, own, model.settings_.thin) for name, own in names.items()}
    return {name: trace for name, trace in found.items() if trace is not None and np.isfinite(trace[1]).any()}
