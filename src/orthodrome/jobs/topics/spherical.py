"""SAM in the job: tf-idf vectors of length one, and log-perplexities by two estimators.

Whole numbers are counts and are weighted by tf-idf. Anything else is taken as it is, and then every row must be a unit
vector, as the model is one of directions; `normalize` makes them so. The published log-perplexity is hundreds of nats
too high and comparable with the literature, the annealed one is nearly unbiased.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse

from orthodrome.corpora import Corpus, nonempty, normalise, row_lengths
from orthodrome.errors import BadInput
from orthodrome.jobs.topics.job import Job
from orthodrome.jobs.topics.kinds import TopicKind, given, measured, named, schedule, trace_of
from orthodrome.jobs.topics.result import Traces
from orthodrome.jobs.topics.selection import is_counted, selected
from orthodrome.models.sam import SAM
from orthodrome.models.sam.settings import check_settings

TOLERANCE = 1e-3
"""The largest deviation from one of the length of a row."""
ITERATIONS, DRAWS = 2000, 50
"""Draws of the topics, and how many of them are kept, where the job leaves it open."""


class SphericalTopics(TopicKind):
    """The spherical admixture model."""

    def estimator(self, job: Job, progress: bool) -> SAM:
        """Return `SAM` with the settings of the job."""
        plan = schedule(job.num_iterations or ITERATIONS, job.num_draws or DRAWS)
        names = ("batch_size", "corpus_concentration", "topic_concentration", "document_concentration")
        settings: dict[str, Any] = {**plan, **given(job, names), "doc_topic_prior": job.prior, "progress": progress}
        return SAM(job.num_topics, method=job.inference, random_state=job.seed, n_jobs=job.num_threads, **settings)

    def check(self, job: Job) -> None:
        """Raise if the settings of the model are invalid."""
        check_settings(self.estimator(job, progress=False))

    def rows(self, corpus: Corpus, job: Job) -> tuple[scipy.sparse.csr_array, Corpus]:
        """Return unit vectors."""
        if is_counted(corpus):
            return selected(corpus, job).unit_vectors()
        return directions(corpus, job), corpus

    def corpus_mean(self, model: SAM, training: Any) -> np.ndarray:
        """Return the normalised mean of the documents."""
        return np.asarray(model.law_.mean)

    def measure(self, model: SAM, training: Any, held_out: Any) -> dict[str, float]:
        """Return the temperature of the chain, and the log-perplexities."""
        found = {"temperature": model.temperature_, "acceptance": model.acceptance_}
        found |= {"document concentration": model.law_.document_concentration}
        numbers = {name: float(value) for name, value in found.items() if value is not None}
        if held_out.shape[0]:
            numbers["log-perplexity (published)"] = model.log_perplexity(held_out, estimator="prior", num_topics=25)
            numbers["log-perplexity (annealed)"] = model.log_perplexity(held_out, num_topics=4)
        return numbers

    def traces(self, model: SAM) -> Traces:
        """Return the kinetic temperature, how near documents are to their topics, and the log-perplexity."""
        found = {
            "temperature": trace_of(model, "temperature", model.thin),
            "cosine of documents and their topics": trace_of(model, "cosine", model.thin),
            "log-perplexity of single draws, held-out documents": measured(
                trace_of(model, "log_perplexity", model.thin)
            ),
        }
        return named(found)


def directions(corpus: Corpus, job: Job) -> scipy.sparse.csr_array:
    """Return the vectors of a corpus that are weights already, or raise unless they are unit vectors or made so."""
    vectors = scipy.sparse.csr_array(corpus.counts, dtype=np.float64)
    empty = np.flatnonzero(~nonempty(vectors))
    if len(empty):
        raise BadInput(f"{len(empty)} rows of {job.input} are empty (the first is row {empty[0]}): remove them")
    if job.normalize:
        return normalise(vectors.copy())
    lengths = row_lengths(vectors)
    worst = int(np.argmax(np.abs(lengths - 1)))
    if abs(lengths[worst] - 1) > TOLERANCE:
        raise BadInput(
            f"row {worst} of {job.input} has length {lengths[worst]:.4g}, but the model takes unit vectors; divide "
            "each row by its length with --normalize"
        )
    return vectors
