"""One run of a stochastic method for LDA, evaluated as the papers do; and Gibbs on the same documents.

The clock is that of the processor, with one thread, and stands still while held-out words are predicted, so that a busy
machine does not change it. Chains start as in the papers: every weight of every topic is a Gamma(1, 1) number.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from orthodrome.core.types import Reals
from orthodrome.experiments.support.lda.articles import Articles
from orthodrome.kernels.threads.computing import computing
from orthodrome.models.lda import LDA
from orthodrome.models.lda.defaults import AllocationSettings, settings_for
from orthodrome.models.lda.documents import TokenDocuments, read_counts
from orthodrome.models.lda.methods import sampler_of
from orthodrome.models.lda.sampler import AllocationState
from orthodrome.models.topics.completion import RunningCompletion
from orthodrome.random.keys import new_key
from orthodrome.run.loop import init_key, transition_key

CHAIN = np.uint32(0)


class LDASetting(NamedTuple):
    """A method with the papers' symbols: alpha (documents), beta (words), and the step h (1 + m / tau)^(-kappa)."""

    method: str
    alpha: float
    beta: float
    step: tuple[float, float, float]

    def settings(self, batch_size: int, sweeps: int) -> AllocationSettings:
        """Return the settings of the sampler."""
        facts = (False, self.beta, batch_size, sweeps, self.step, (), 0, 1, 1)
        return AllocationSettings(self.method, self.alpha, *facts)


class Budget(NamedTuple):
    """The size of a run.

    num_topics: K; updates, batch_size, sweeps: of a run, of documents in an update, over them
    every: updates between two evaluations
    """

    num_topics: int
    updates: int
    batch_size: int
    sweeps: int
    every: int


class LDACurve(NamedTuple):
    """Perplexities of one run.

    rows: (updates, documents, perplexity at the topics, perplexity of the mean prediction so far)
    seconds: processor seconds per 100 documents; topics: the last ones, (K, V)
    """

    rows: list[tuple[int, int, float, float]]
    seconds: float
    topics: Reals

    @property
    def last(self) -> float:
        """The perplexity of the mean prediction at the end, as the papers plot it."""
        return self.rows[-1][3]

    @property
    def single(self) -> float:
        """The perplexity at the last topics."""
        return self.rows[-1][2]

    def at(self, share: float) -> float:
        """Return the perplexity at the topics after a share of the run."""
        return self.rows[max(0, round(share * len(self.rows)) - 1)][2]


def trace(setting: LDASetting, articles: Articles, budget: Budget, seed: int, total: int | None = None) -> LDACurve:
    """Run a stochastic method, and return its curve; total: D in the factor D / |S|, if not the number of articles."""
    documents = read_counts(articles.train)
    settings = setting.settings(min(budget.batch_size, documents.count), budget.sweeps)
    sampler = sampler_of(settings, budget.num_topics, documents, total=total)
    return _advance(sampler, gamma_start(sampler, seed), articles, setting.alpha, budget, seed)


def gamma_start(sampler: Any, seed: int) -> AllocationState:
    """Return a state whose weights theta, all of all topics, are independent Gamma(1, 1) numbers."""
    given = sampler.given
    theta = np.random.default_rng(seed).gamma(1.0, size=(given.num_topics, given.data.num_words)).T
    shares = theta / theta.sum(axis=0)
    position = {"topics": np.sqrt(shares.T), "doc_topic_prior": given.doc_topic_prior}
    state = sampler.init(position, init_key(new_key(np.uint32(seed)), CHAIN))
    return state._replace(weights=sampler.update.stored(np.ascontiguousarray(theta, np.float32)))


def trace_gibbs(setting: LDASetting, articles: Articles, budget: Budget, seed: int) -> LDACurve:
    """Run Gibbs sampling of all documents with the priors of a setting; `updates` are sweeps after its warm-up."""
    model = LDA(budget.num_topics, method="gibbs", doc_topic_prior=setting.alpha, topic_word_prior=setting.beta)
    documents: TokenDocuments = read_counts(articles.train).shuffled(seed)
    settings = settings_for(model, documents)
    whole = budget._replace(updates=settings.num_warmup + budget.updates, batch_size=documents.count)
    sampler = sampler_of(settings, budget.num_topics, documents)
    state = sampler.init(None, init_key(new_key(np.uint32(seed)), CHAIN))
    return _advance(sampler, state, articles, setting.alpha, whole, seed)


def _advance(
    sampler: Any, state: AllocationState, articles: Articles, alpha: float, budget: Budget, seed: int
) -> LDACurve:
    """Step a sampler and evaluate its topics now and then."""
    key, running, seconds = new_key(np.uint32(seed)), RunningCompletion(articles.task, alpha), 0.0
    rows = []
    with computing(1):
        for t in range(budget.updates):
            began = time.process_time()
            state, _ = sampler.step(transition_key(key, CHAIN, np.uint32(t)), state)
            seconds += time.process_time() - began if t > 0 else 0.0  # the first one compiles
            if (t + 1) % budget.every == 0 or t + 1 == budget.updates:
                rows.append((t + 1, (t + 1) * budget.batch_size, *running.evaluate(state.topics.T)))
    return LDACurve(rows, 100 * seconds / ((budget.updates - 1) * budget.batch_size), state.topics.T.copy())


def movement(curves: list[LDACurve], of: Callable[[LDACurve], float]) -> float:
    """Return by how much a perplexity moves over the last fifth of the runs, on average over them."""
    before = [run._replace(rows=run.rows[: -max(1, len(run.rows) // 5)] or run.rows) for run in curves]
    return abs(float(np.mean([of(run) for run in curves])) - float(np.mean([of(run) for run in before])))


def curve_rows(curves: dict[str, list[LDACurve]]) -> list[dict[str, Any]]:
    """Return all curves as rows of a table."""
    names = ("updates", "documents", "perplexity", "averaged")
    return [
        {"case": name, "run": i} | dict(zip(names, row, strict=True))
        for name, runs in curves.items()
        for i, run in enumerate(runs)
        for row in run.rows
    ]


def draw_curves(axis: Any, curves: dict[str, list[LDACurve]], colours: dict[str, tuple[str, str]]) -> None:
    """Draw the perplexity of mean predictions against documents, all runs; colours: of each case, with a line style."""
    for name, (colour, style) in colours.items():
        for i, run in enumerate(curves[name]):
            documents, averaged = [row[1] for row in run.rows], [row[3] for row in run.rows]
            axis.plot(documents, averaged, color=colour, ls=style, lw=0.9, label=name if i == 0 else None)
    axis.set(xlabel="documents", ylabel="perplexity", yscale="log")
    axis.legend(fontsize=7, frameon=False)
