"""From the parameters of `SAM` to the sampler of its method."""

from __future__ import annotations

from typing import Any

from orthodrome.models.sam.chain_settings import settings_of
from orthodrome.models.sam.documents import DocumentVectors, some_rows
from orthodrome.models.sam.exact import exact_topics
from orthodrome.models.sam.law import AdmixtureLaw
from orthodrome.models.sam.sampler import AdmixtureSampler, LogPerplexityWatch, TopicProblem
from orthodrome.models.sam.settings import EXACT, STOCHASTIC
from orthodrome.models.sam.spread.vectors import SpreadVectors
from orthodrome.models.sam.stochastic import StochasticTopics
from orthodrome.models.sam.variational import variational_topics

WATCHED, LOOKS = 300, 25
"""Held-out documents that are watched, and how often in a run."""


def sampler_of(
    model: Any,
    law: AdmixtureLaw,
    documents: DocumentVectors | SpreadVectors,
    *,
    total: int | None = None,
    watch: LogPerplexityWatch | None = None,
) -> AdmixtureSampler:
    """Return the sampler that the model asks for; total: the number of documents that these stand for."""
    size = documents.count if total is None else total
    facts = (model.n_components, int(model.num_warmup), size, str(model.dtype), watch)
    problem = TopicProblem(documents, law, *facts)
    if model.method in STOCHASTIC:
        return StochasticTopics(problem, settings_of(model, documents.count))
    return exact_topics(model, problem) if model.method in EXACT else variational_topics(model, problem)


def watch_of(model: Any, law: AdmixtureLaw, held_out: DocumentVectors, seed: int) -> LogPerplexityWatch:
    """Return the watch on some of the held-out documents in a run of the model."""
    total = int(model.num_warmup + model.num_draws * model.thin)
    return LogPerplexityWatch(law, some_rows(held_out, WATCHED), seed, max(1, total // LOOKS), total)
