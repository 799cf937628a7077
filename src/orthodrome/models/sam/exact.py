"""GMC-bGibbs and GMC-apprMH: geodesic Monte Carlo for the topics with all documents and a Metropolis test.

Given draws theta_dn of every document's proportions the topics move, by leapfrogs along great circles, in

    f(beta) = log p(beta) + kappa1 sum_d mean_n cos(v_d, beta theta_dn).

bGibbs has one draw per document and keeps it between iterations, as Gibbs' sampler must (erratum c-5): the proportions
move given the topics, then the topics given the proportions, both exactly. apprMH (Appendix B) has several, drawn at
the topics before the move and used in both energies, which leaves a term out: it is biased (erratum c-6). Everything is
in float64: the energies are of the order of 1e7 and only their differences count.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from orthodrome.core.pytree import pytree, static
from orthodrome.core.types import Reals
from orthodrome.kernels.timing import timed
from orthodrome.models.sam.batch import View, look
from orthodrome.models.sam.chain_settings import PUBLISHED_GMC, PUBLISHED_STEP, data_set
from orthodrome.models.sam.documents import DocumentVectors
from orthodrome.models.sam.kernels.topics import flow, normals_like
from orthodrome.models.sam.proportions import Drawn, Sweep, draw_proportions, first_guess, published_guess
from orthodrome.models.sam.sampler import AdmixtureSampler, TopicProblem
from orthodrome.models.sam.spread.sums import mean_of_all, sums_of_all
from orthodrome.models.sam.state import ExactState
from orthodrome.run.parallel import Team

TARGET = 0.8
"""The acceptance of the proportions' moves and of the topics' that the warm-up aims at."""
STREAM, TEST = 0, 1 << 40
"""The numbers of the streams of a transition: that of the moves, and that of the Metropolis test."""


class ExactInfo(NamedTuple):
    """What one topic draw did; acceptance is that of the proportions, acceptance_rate that of the topics."""

    acceptance_rate: float
    acceptance: float
    cosine: float
    step_size: float
    proportion_step: float
    log_perplexity: float | None = None


@pytree
class ExactTopics(AdmixtureSampler):
    """Topics by bGibbs (one draw of the proportions in the sweep) or apprMH (several).

    num_steps: leapfrogs of the topics; given_step: their step size, None for one that warm-up finds
    proportion_step: of the proportions' moves, None for one that warm-up finds; restart: whether the proportions begin
        anew in every iteration, by the authors' least squares, as their code does
    """

    given: TopicProblem
    sweep: Sweep = static()
    num_steps: int = static()
    given_step: float | None = static(default=None)
    proportion_step: float | None = static(default=None)
    restart: bool = static(default=False)

    def begin(self, topics: Reals, seed: int) -> ExactState:
        """Return the state at these topics; proportions by least squares."""
        topics, law, count = topics.astype(np.float64), self.given.law, topics.shape[0]
        first = 0.5 / math.sqrt(4 * law.doc_topic_prior * count + law.document_concentration)
        first = 2 * first / math.sqrt(count) if self.sweep.flat else first
        first = first if self.proportion_step is None else self.proportion_step
        curvature = law.document_concentration * self.given.data.count / count + law.topic_concentration
        step = 0.5 / math.sqrt(curvature) if self.given_step is None else self.given_step
        return ExactState(topics, self._no_proportions(count), math.log(first), math.log(step))

    def with_documents(self, data: DocumentVectors, total: int, state: ExactState) -> tuple[ExactTopics, ExactState]:
        """Return the same chain with other documents, whose proportions begin anew."""
        other = replace(self, given=replace(self.given, data=data.in_float64(), total=total))
        return other, state._replace(proportions=other._no_proportions(state.topics.shape[0]))

    def move(self, seed: int, state: ExactState, left: float) -> tuple[ExactState, ExactInfo]:
        """Draw the proportions given the topics, then the topics given the proportions."""
        drawn = self._proportions(state, seed)
        state = state._replace(proportions=drawn.last)
        state, chance, cosine = self._moved_topics(state, drawn.draws, seed)
        acceptance = mean_of_all(drawn.acceptance, self.given.data.count, Team())
        if left > 0:
            state = self._tuned(state, acceptance, chance)
        steps = math.exp(state.log_step), math.exp(state.log_proportion_step)
        return state, ExactInfo(chance, acceptance, cosine, *steps)

    def _tuned(self, state: ExactState, acceptance: float, chance: float) -> ExactState:
        rate = max((1 + int(state.taken) / 10) ** -0.6, 0.05)
        if self.proportion_step is None:
            learnt = min(state.log_proportion_step + rate * (acceptance - TARGET), 0.0)
            state = state._replace(log_proportion_step=learnt)
        moved = state.log_step + rate * (chance - TARGET)
        return state._replace(log_step=moved) if self.given_step is None else state

    @property
    def _rows(self) -> NDArray[np.int64]:
        """The rows of the documents that this process has, which are all in a lone one."""
        return np.arange(self.given.data.own.count)

    def _no_proportions(self, num_topics: int) -> Reals:
        return np.full((self.given.data.own.count, num_topics), np.nan)

    def _look(self, topics: Reals) -> View:
        return look(topics, self.given.data.own, self._rows)

    def _proportions(self, state: ExactState, seed: int) -> Drawn:
        view, law = timed("gradient", self._look, state.topics), self.given.law
        if self.restart:
            start = published_guess(view.gram, view.b)
        else:
            fresh = np.isnan(state.proportions[0, 0])
            start = first_guess(view.gram, view.b) if fresh else state.proportions
        settings = (law.document_concentration, law.doc_topic_prior, math.exp(state.log_proportion_step), self.sweep)
        args = (view.gram, view.b, start, *settings, seed, STREAM, self.given.data.names(view.rows))
        return timed("proportions", draw_proportions, *args)

    def _energy(self, topics: Reals, draws: Reals) -> tuple[float, Reals, float]:
        """Return the energy -f, the projected gradient of f, and the mean cosine."""
        law, count = self.given.law, self.given.data.count
        found = sums_of_all(self._look(topics), draws, count, Team())
        force = law.document_concentration * (found.linear - found.moment @ topics) + law.prior_gradient(topics)
        value = law.log_prior(topics) + law.document_concentration * count * found.cosine
        return -value, force - topics * np.sum(force * topics, axis=1, keepdims=True), found.cosine

    def _moved_topics(self, state: ExactState, draws: Reals, seed: int) -> tuple[ExactState, float, float]:
        """Follow a trajectory and test it; return also the acceptance probability and the mean cosine."""
        h, x = math.exp(state.log_step), state.topics.copy()
        noise = normals_like(x, np.uint64(seed), np.uint64(STREAM)).astype(np.float64)
        v = noise - x * np.sum(noise * x, axis=1, keepdims=True)
        before, force, cosine = timed("gradient", self._energy, x, draws)
        before += 0.5 * float(np.sum(v * v))
        for _ in range(self.num_steps):
            v += 0.5 * h * force
            timed("update", flow, x, v, h)
            after, force, moved = timed("gradient", self._energy, x, draws)
            v += 0.5 * h * force
        change = before - after - 0.5 * float(np.sum(v * v))
        chance = math.exp(min(0.0, change)) if math.isfinite(change) else 0.0
        u = np.random.Generator(np.random.Philox(key=[seed, TEST])).random()
        return (state._replace(topics=x), chance, moved) if u < chance else (state, chance, cosine)


def exact_topics(model: Any, problem: TopicProblem) -> ExactTopics:
    """Return the sampler with the settings of a `SAM`."""
    if model.published:
        return published_topics(model, problem)
    kept = 1 if model.method == "gmc-bgibbs" else model.proportion_draws
    sweep = Sweep(model.proportion_warmup, kept, model.proportion_steps, model.proportion_space == "flat")
    problem = replace(problem, data=problem.data.in_float64())
    return ExactTopics(problem, sweep, model.num_steps, model.step_size)


def published_topics(model: Any, problem: TopicProblem) -> ExactTopics:
    """Return the sampler with the authors' settings for a data set, which neither tune nor keep the proportions."""
    authors = PUBLISHED_GMC[model.method, data_set(model)]
    sweep = Sweep(authors.burn_in, authors.kept, 10, True)
    step = authors.step_size if model.step_size is None else model.step_size
    problem = replace(problem, data=problem.data.in_float64())
    return ExactTopics(problem, sweep, authors.num_steps, step, PUBLISHED_STEP, restart=True)
