"""From documents to a `Result`: a topic model with the settings of a job, and the summaries of its draws."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np

from orthodrome.jobs.topics.allocation import AllocatedTopics
from orthodrome.jobs.topics.documents import TopicCorpus
from orthodrome.jobs.topics.job import Job
from orthodrome.jobs.topics.kinds import TopicKind
from orthodrome.jobs.topics.result import Result
from orthodrome.jobs.topics.spherical import SphericalTopics
from orthodrome.models.topics.chains import all_topics

KINDS: dict[str, TopicKind] = {"sam": SphericalTopics(), "lda": AllocatedTopics()}


def learn(job: Job, documents: TopicCorpus, state: Path, progress: bool) -> Result:
    """Draw the topics (or resume drawing), then the proportions of every document."""
    began, kind = time.monotonic(), KINDS[job.model]
    model = kind.estimator(job, progress)
    training, held_out = documents.rows[documents.training], documents.rows[~documents.training]
    settings = {"vocabulary": documents.vocabulary, "held_out": held_out if held_out.shape[0] else None}
    model.fit(training, checkpoint=state, checkpoint_every=job.checkpoint_every, **settings)
    if model.draws_.attrs["interrupted"]:
        raise KeyboardInterrupt  # what was drawn is in the checkpoint; only a whole run has a result
    proportions, deviations = model.proportions(documents.rows)
    spread = all_topics(model.draws_).std(axis=0, dtype=np.float64)
    numbers, traces = kind.measure(model, training, held_out), kind.traces(model)
    numbers["seconds"] = round(time.monotonic() - began, 1)
    mean = kind.corpus_mean(model, training)
    return Result(job.model, model.components_, spread, mean, proportions, deviations, traces, numbers)
