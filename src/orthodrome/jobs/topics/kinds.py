"""What the job has to know of a topic model: its estimator, its documents, its numbers, and what a weight is."""

from __future__ import annotations

import abc
from typing import Any

import numpy as np
import scipy.sparse

from orthodrome.corpora import Corpus
from orthodrome.jobs.topics.job import Job
from orthodrome.jobs.topics.result import Traces
from orthodrome.models.topics.chains import history

WARMUP = 0.6
"""The share of the iterations that are warm-up."""


class TopicKind(abc.ABC):
    """A topic model as the job sees it."""

    @abc.abstractmethod
    def estimator(self, job: Job, progress: bool) -> Any:
        """Return the estimator that the job asks for; what the job leaves open is left to the model."""

    @abc.abstractmethod
    def check(self, job: Job) -> None:
        """Raise if the settings of the model are invalid."""

    @abc.abstractmethod
    def rows(self, corpus: Corpus, job: Job) -> tuple[scipy.sparse.csr_array, Corpus]:
        """Return the rows that the model is fitted to, and the corpus of these rows."""

    @abc.abstractmethod
    def corpus_mean(self, model: Any, training: Any) -> np.ndarray:
        """Return what a topic is compared with: the weights of the words in the whole corpus."""

    @abc.abstractmethod
    def measure(self, model: Any, training: Any, held_out: Any) -> dict[str, float]:
        """Return the numbers of a fit."""

    @abc.abstractmethod
    def traces(self, model: Any) -> Traces:
        """Return the traces of chain 0."""


def schedule(num_iterations: int, num_draws: int) -> dict[str, int]:
    """Return the numbers of draws in warm-up, of draws kept, and of draws made for each one kept."""
    left = max(1, num_iterations - int(WARMUP * num_iterations))
    thin = -(-left // num_draws)
    kept = left // thin
    return {"num_warmup": num_iterations - kept * thin, "num_draws": kept, "thin": thin}


def given(job: Job, names: tuple[str, ...]) -> dict[str, Any]:
    """Return the settings of the job that are not left open."""
    return {name: getattr(job, name) for name in names if getattr(job, name) is not None}


def trace_of(model: Any, name: str, thin: int) -> tuple[np.ndarray, np.ndarray] | None:
    """Return the iterations and the values of a statistic in chain 0, or None if the method has no such statistic."""
    found = history(model.draws_, name, thin)
    return None if found is None else (found[0], found[1][0])


def measured(trace: tuple[np.ndarray, np.ndarray] | None) -> tuple[np.ndarray, np.ndarray] | None:
    """Return a trace at the iterations at which its statistic, measured only now and then, was measured."""
    if trace is None:
        return None
    at, values = trace
    new = np.isfinite(values) & np.concatenate([[True], values[1:] != values[:-1]])
    return at[new], values[new]


def named(traces: dict[str, tuple[np.ndarray, np.ndarray] | None]) -> Traces:
    """Return the traces that are there."""
    return {name: trace for name, trace in traces.items() if trace is not None}
