"""LDA in the job: counts as they are, and the perplexity of held-back words."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse

from orthodrome.corpora import Corpus
from orthodrome.errors import BadInput
from orthodrome.jobs.topics.job import Job
from orthodrome.jobs.topics.kinds import TopicKind, given, measured, named, schedule, trace_of
from orthodrome.jobs.topics.result import Traces
from orthodrome.jobs.topics.selection import is_counted, selected
from orthodrome.models.lda import LDA
from orthodrome.models.lda.methods import check_settings

DRAWS = 20
"""The draws that are kept where the job gives the iterations and leaves this open."""


class AllocatedTopics(TopicKind):
    """Latent Dirichlet allocation."""

    def estimator(self, job: Job, progress: bool) -> LDA:
        """Return `LDA` with the settings of the job."""
        plan: dict[str, Any] = {"num_draws": job.num_draws}
        if job.num_iterations is not None:
            plan = schedule(job.num_iterations, job.num_draws or DRAWS)
        names = ("batch_size", "sweeps", "topic_word_prior", "learn_prior")
        settings: dict[str, Any] = {**plan, **given(job, names), "doc_topic_prior": job.prior, "progress": progress}
        return LDA(job.num_topics, method=job.inference, random_state=job.seed, n_jobs=job.num_threads, **settings)

    def check(self, job: Job) -> None:
        """Raise if the settings of the model are invalid."""
        check_settings(self.estimator(job, progress=False))

    def rows(self, corpus: Corpus, job: Job) -> tuple[scipy.sparse.csr_array, Corpus]:
        """Return counts of words."""
        if not is_counted(corpus):
            raise BadInput(
                f"{job.input} holds {not_counted(corpus):.4g}, and LDA counts words: give whole numbers that are not "
                "negative, or use --model sam for weights"
            )
        kept = selected(corpus, job)
        return kept.counts, kept

    def corpus_mean(self, model: LDA, training: Any) -> np.ndarray:
        """Return the share of each word in the corpus."""
        total = np.asarray(training.sum(axis=0), float).ravel()
        return total / total.sum()

    def measure(self, model: LDA, training: Any, held_out: Any) -> dict[str, float]:
        """Return the perplexity of document completion, the coherence of the topics, and the sum of alpha."""
        numbers = {"sum of the document prior": float(model.doc_topic_prior_.sum())}
        numbers["coherence (NPMI)"] = float(np.mean(model.coherence(training)))
        if held_out.shape[0]:
            numbers["perplexity (held-back words)"] = model.perplexity(held_out)
        return numbers

    def traces(self, model: LDA) -> Traces:
        """Return the perplexities that were watched, and the sum of alpha if that was learnt."""
        thin = model.settings_.thin
        found = {
            "perplexity of single draws, held-back words": measured(trace_of(model, "perplexity", thin)),
            "perplexity of averaged predictions": measured(trace_of(model, "averaged_perplexity", thin)),
            "sum of the document prior": trace_of(model, "prior_total", thin) if model.learn_prior else None,
        }
        return named(found)


def not_counted(corpus: Corpus) -> float:
    """Return an entry that is negative or no whole number."""
    data = np.asarray(corpus.counts.data, float)
    return float(data[(data < 0) | (data != np.floor(data))][0])
