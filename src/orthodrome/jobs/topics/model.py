"""From documents to a `Result`: SAM with the settings of a job, and the summaries of its draws.

Of `num_iterations` draws of the topics the first `WARMUP` are warm-up; of the rest at most `num_draws`, evenly spaced,
are kept. The log-perplexity is that of the documents held out, by two estimators: the published one, which is hundreds
of nats too high and comparable with the literature, and the annealed one, which is nearly unbiased.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np

from orthodrome.jobs.topics.inputs import TopicCorpus
from orthodrome.jobs.topics.job import Job
from orthodrome.jobs.topics.result import Result, Traces
from orthodrome.models.sam import SAM
from orthodrome.models.sam.settings import check_settings
from orthodrome.models.topics.chains import all_topics, history

WARMUP = 0.6
"""The share of the iterations that are warm-up."""


def schedule(job: Job) -> dict[str, int]:
    """Return the numbers of draws in warm-up, of draws kept, and of draws made for each one kept."""
    left = max(1, job.num_iterations - int(WARMUP * job.num_iterations))
    thin = -(-left // job.num_draws)
    kept = left // thin
    return {"num_warmup": job.num_iterations - kept * thin, "num_draws": kept, "thin": thin}


def new_model(job: Job, progress: bool) -> SAM:
    """Return the estimator that the job asks for; what the job leaves open is left to SAM."""
    open_ = ("batch_size", "corpus_concentration", "topic_concentration", "document_concentration", "doc_topic_prior")
    given = {name: getattr(job, name) for name in open_ if getattr(job, name) is not None}
    settings: dict[str, Any] = {**schedule(job), **given, "random_state": job.seed, "n_jobs": job.num_threads}
    return SAM(job.num_topics, method=job.method, progress=progress, **settings)


def check_model(job: Job) -> None:
    """Raise if the settings of the model are invalid."""
    check_settings(new_model(job, progress=False))


def learn(job: Job, documents: TopicCorpus, state: Path, progress: bool) -> Result:
    """Draw the topics (or resume drawing), then the proportions of every document."""
    began = time.monotonic()
    model = new_model(job, progress)
    held_out = documents.vectors[~documents.training]
    watched = held_out if held_out.shape[0] else None
    training = documents.vectors[documents.training]
    settings = {"vocabulary": documents.vocabulary, "held_out": watched}
    model.fit(training, checkpoint=state, checkpoint_every=job.checkpoint_every, **settings)
    if model.draws_.attrs["interrupted"]:
        raise KeyboardInterrupt  # what was drawn is in the checkpoint; only a whole run has a result
    proportions, deviations = model.proportions(documents.vectors)
    spread = all_topics(model.draws_).std(axis=0, dtype=np.float64)
    numbers, traces = measure(model, held_out), run_traces(model)
    numbers["seconds"] = round(time.monotonic() - began, 1)
    return Result(model.components_, spread, model.law_.mean, proportions, deviations, traces, numbers)


def measure(model: SAM, held_out: Any) -> dict[str, float]:
    """Return the temperature of the chain, and the log-perplexities."""
    found = {"temperature": model.temperature_, "acceptance": model.acceptance_}
    found |= {"document concentration": model.law_.document_concentration}
    numbers = {name: float(value) for name, value in found.items() if value is not None}
    if held_out.shape[0]:
        numbers["log-perplexity (published)"] = model.log_perplexity(held_out, estimator="prior", num_topics=25)
        numbers["log-perplexity (annealed)"] = model.log_perplexity(held_out, num_topics=4)
    return numbers


def run_traces(model: SAM) -> Traces:
    """Return the traces of chain 0: the kinetic temperature, how near documents are to their topics, and the
    log-perplexity."""
    names = {"temperature": "temperature", "cosine": "cosine of documents and their topics"}
    found = {label: history(model.draws_, name, model.thin) for name, label in names.items()}
    traces = {label: (trace[0], trace[1][0]) for label, trace in found.items() if trace is not None}
    watched = history(model.draws_, "log_perplexity", model.thin)
    if watched is not None:
        traces["log-perplexity of single draws, held-out documents"] = measured(watched[0], watched[1][0])
    return traces


def measured(at: np.ndarray, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the iterations at which a statistic that is measured only now and then was measured."""
    new = np.isfinite(values) & np.concatenate([[True], values[1:] != values[:-1]])
    return at[new], values[new]
