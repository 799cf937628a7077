"""From the settings of `LDA` to the sampler of its method, and what the settings may be."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from orthodrome.errors import BadInput
from orthodrome.models.lda.collapsed import CollapsedGibbs
from orthodrome.models.lda.defaults import UPDATES, AllocationSettings
from orthodrome.models.lda.documents import TokenDocuments
from orthodrome.models.lda.gibbs import AllocationGibbs
from orthodrome.models.lda.sampler import AllocationProblem, AllocationSampler, CompletionWatch
from orthodrome.models.lda.stochastic import StochasticAllocation
from orthodrome.models.topics.completion import completion_task, split_documents
from orthodrome.schedules import Polynomial

METHODS = ("auto", "gibbs", "collapsed", *UPDATES)
LOOKS = 20
"""How often held-out documents are looked at in a run."""


def check_settings(model: Any) -> None:
    """Refuse what cannot be right, before anything is computed."""
    if model.method not in METHODS:
        raise BadInput(f"method is {model.method!r}; it must be one of {', '.join(map(repr, METHODS))}")
    counts = ("n_components", "num_chains", "batch_size", "sweeps", "num_draws", "thin", "total_documents")
    for name in counts:
        value = getattr(model, name)
        if (value is None and name in counts[:2]) or (value is not None and int(value) < 1):
            raise BadInput(f"{name} is {value!r}; it must be at least 1")
    if model.num_warmup is not None and int(model.num_warmup) < 0:
        raise BadInput(f"num_warmup is {model.num_warmup!r}; it must not be negative")
    for name in ("topic_word_prior", "step_size", "step_scale"):
        value = getattr(model, name)
        if value is not None and not (math.isfinite(value) and value > 0):
            raise BadInput(f"{name} is {value!r}; it must be a positive number")
    if model.step_power is not None and not model.step_power >= 0:
        raise BadInput(f"step_power is {model.step_power!r}; steps must not grow, so it must be at least 0")


def prior_of(value: Any, num_topics: int) -> NDArray[np.float32]:
    """Return alpha, one number for each topic."""
    alpha = np.asarray(value, np.float32)
    if alpha.shape not in ((), (num_topics,)) or not np.all(np.isfinite(alpha) & (alpha > 0)):
        raise BadInput(f"doc_topic_prior is {value!r}; it must be a positive number, or {num_topics} of them")
    return np.array(np.broadcast_to(alpha, (num_topics,)))


def sampler_of(
    settings: AllocationSettings,
    num_topics: int,
    documents: TokenDocuments,
    *,
    repeated: bool = False,
    total: int | None = None,
    watch: CompletionWatch | None = None,
) -> AllocationSampler:
    """Return the sampler that the settings ask for; total: the number of documents that these stand for."""
    size = documents.count if total is None else total
    prior = prior_of(settings.doc_topic_prior, num_topics)
    facts = (settings.topic_word_prior, settings.learn_prior, settings.num_warmup, size)
    problem = AllocationProblem(documents, prior, *facts, watch)
    if settings.method == "gibbs":
        return AllocationGibbs(problem, settings.stages)
    if settings.method == "collapsed":
        return CollapsedGibbs(problem)
    step = Polynomial(*settings.step)
    update = UPDATES[settings.method]
    return StochasticAllocation(problem, update, settings.batch_size, max(2, settings.sweeps), step, repeated)


def watch_of(settings: AllocationSettings, held_out: Any, seed: int) -> CompletionWatch:
    """Return the watch on held-out documents in a run."""
    total = settings.num_warmup + settings.num_draws * settings.thin
    return CompletionWatch(completion_task(*split_documents(held_out, seed), seed=seed), max(1, total // LOOKS), total)
