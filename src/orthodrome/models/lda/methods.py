"""From the settings of `LDA` to the sampler of its method, and what the settings may be."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from orthodrome import doors
from orthodrome.errors import BadInput
from orthodrome.models.lda.collapsed import CollapsedGibbs
from orthodrome.models.lda.defaults import UPDATES, AllocationSettings
from orthodrome.models.lda.documents import TokenDocuments
from orthodrome.models.lda.gibbs import AllocationGibbs
from orthodrome.models.lda.remembered import RememberedAllocation
from orthodrome.models.lda.sampler import AllocationProblem, AllocationSampler, CompletionWatch
from orthodrome.models.lda.spread import SpreadDocuments
from orthodrome.models.lda.stochastic import StochasticAllocation
from orthodrome.models.topics.completion import completion_task, split_documents
from orthodrome.schedules import Polynomial

METHODS = ("auto", "gibbs", "collapsed", *UPDATES)
LOOKS = 20
"""How often held-out documents are looked at in a run."""


def check_settings(model: Any) -> None:
    """Raise if a setting cannot be right, before anything is computed."""
    doors.check_choice("method", model.method, METHODS)
    for name in ("learn_prior", "replace"):
        doors.check_choice(name, getattr(model, name), (False, True))
    if model.remember is not None:
        doors.check_choice("remember", model.remember, (False, True))
    for name in ("n_components", "num_chains"):
        doors.check_whole(name, getattr(model, name), 1)
    for name in ("batch_size", "sweeps", "num_draws", "thin", "total_documents", "num_warmup", "n_jobs"):
        if getattr(model, name) is not None:
            doors.check_whole(name, getattr(model, name), {"num_warmup": 0, "n_jobs": -1}.get(name, 1))
    for name in ("topic_word_prior", "step_size", "step_scale"):
        if getattr(model, name) is not None:
            doors.check_positive(name, getattr(model, name))
    if model.doc_topic_prior is not None:
        prior_of(model.doc_topic_prior, model.n_components)
    check_power(model.step_power)


def check_power(power: Any) -> None:
    """Raise unless kappa is a finite number from which steps do not grow."""
    number = isinstance(power, int | float | np.integer | np.floating) and not isinstance(power, bool)
    if power is not None and not (number and np.isfinite(power) and power >= 0):
        raise BadInput(f"step_power is {power!r:.60}; steps must not grow, so it must be a number of at least 0")


def prior_of(value: Any, num_topics: int) -> NDArray[np.float32]:
    """Return alpha, one number for each topic, or raise unless it is positive numbers."""
    try:
        alpha = np.asarray(value, np.float32)
    except (TypeError, ValueError):
        alpha = np.zeros(0, np.float32)
    if alpha.shape not in ((), (num_topics,)) or not np.all(np.isfinite(alpha) & (alpha > 0)) or value is True:
        raise BadInput(f"doc_topic_prior is {value!r:.60}; it must be a positive number, or {num_topics} of them")
    return np.array(np.broadcast_to(alpha, (num_topics,)))


def sampler_of(
    settings: AllocationSettings,
    num_topics: int,
    documents: TokenDocuments | SpreadDocuments,
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
    if settings.remembers:
        return RememberedAllocation(problem, settings.batch_size, settings.sweeps, step)
    update = UPDATES[settings.method]
    return StochasticAllocation(problem, update, settings.batch_size, max(2, settings.sweeps), step, repeated)


def watch_of(settings: AllocationSettings, held_out: Any, seed: int) -> CompletionWatch:
    """Return the watch on held-out documents in a run."""
    total = settings.num_warmup + settings.num_draws * settings.thin
    return CompletionWatch(completion_task(*split_documents(held_out, seed), seed=seed), max(1, total // LOOKS), total)
