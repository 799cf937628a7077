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

from orthodrome.kernels.timing import Timed
from orthodrome.models.sam.batch import look, slope, whole
from orthodrome.models.sam.documents import Documents
from orthodrome.models.sam.kernels.topics import flow, normals_like
from orthodrome.models.sam.law import Law, Reals
from orthodrome.models.sam.proportions import Sweep, draw_proportions, first_guess
from orthodrome.models.sam.state import State

TARGET = 0.8


class ExactReport(NamedTuple):
    """What one topic draw did; acceptance is that of the proportions, acceptance_rate that of the topics."""

    acceptance_rate: float
    acceptance: float
    cosine: float
    step_size: float


class ExactChain(Timed):
    """One chain of bGibbs or apprMH."""

    def __init__(self, model: Any, law: Law, documents: Documents, seed: int, total: int) -> None:
        super().__init__()
        self.law, self.seed, self.num_steps, self.given_step = law, seed, model.num_steps, model.step_size
        self.documents = replace(documents, values=documents.values.astype(np.float64))
        self.rows = np.arange(documents.count)
        kept = 1 if model.method == "gmc-bgibbs" else model.proportion_draws
        warmup = model.proportion_warmup
        self.sweep = Sweep(warmup, kept, model.proportion_steps, model.proportion_space == "flat")

    def exchange(self, documents: Documents, total: int) -> None:
        """Other documents from now on; their proportions begin anew."""
        self.documents = replace(documents, values=documents.values.astype(np.float64))
        self.rows = np.arange(documents.count)

    def proportion_step(self, state: State) -> float:
        """The step size of the proportions' moves."""
        return math.exp(state.numbers["log_proportion_step"])

    def begin(self, topics: Reals) -> State:
        """At these topics; proportions by least squares."""
        topics = topics.astype(np.float64)
        view = look(topics, self.documents, self.rows)
        count, law = topics.shape[0], self.law
        first = 0.5 / math.sqrt(4 * law.doc_topic_prior * count + law.document_concentration)
        first = 2 * first / math.sqrt(count) if self.sweep.flat else first
        state = State(topics, np.zeros_like(topics), first_guess(view.gram, view.b))
        curvature = law.document_concentration * self.documents.count / count + law.topic_concentration
        step = 0.5 / math.sqrt(curvature) if self.given_step is None else self.given_step
        state.numbers = {"count": 0, "log_proportion_step": math.log(first), "log_step": math.log(step)}
        return state

    def draw(self, state: State, tune: float) -> ExactReport:
        """The proportions given the topics, then the topics given the proportions."""
        step, numbers = int(state.numbers["count"]), state.numbers
        if len(state.proportions) != self.documents.count:
            view = look(state.position, self.documents, self.rows)
            state.proportions = first_guess(view.gram, view.b)
        draws, acceptance = self._proportions(state, step)
        chance, cosine = self._move(state, draws, step)
        numbers["count"] += 1
        if tune > 0:
            rate = max((1 + step / 10) ** -0.6, 0.05)
            numbers["log_proportion_step"] = min(numbers["log_proportion_step"] + rate * (acceptance - TARGET), 0.0)
            if self.given_step is None:
                numbers["log_step"] += rate * (chance - TARGET)
        return ExactReport(chance, acceptance, cosine, math.exp(numbers["log_step"]))

    def _proportions(self, state: State, step: int) -> tuple[Reals, float]:
        view = self.timed("gradient", look, state.position, self.documents, self.rows)
        law, items = self.law, self.rows.astype(np.uint64)
        settings = (law.document_concentration, law.doc_topic_prior, self.proportion_step(state), self.sweep)
        start = state.proportions
        drawn = self.timed("proportions", draw_proportions, view.gram, view.b, start, *settings, self.seed, step, items)
        state.proportions = drawn.last
        return drawn.draws, float(drawn.acceptance.mean())

    def _energy(self, topics: Reals, draws: Reals) -> tuple[float, Reals, float]:
        """-f, its gradient's opposite projected, and the mean cosine."""
        view = look(topics, self.documents, self.rows)
        found = slope(self.law, topics, self.documents, view, draws, self.documents.count)
        force = whole(found, self.documents, view)
        value = self.law.log_prior(topics) + self.law.document_concentration * self.documents.count * found.cosine
        return -value, force - topics * np.sum(force * topics, axis=1, keepdims=True), found.cosine

    def _move(self, state: State, draws: Reals, step: int) -> tuple[float, float]:
        """One trajectory and its Metropolis test; returns the chance of acceptance."""
        h, x = math.exp(state.numbers["log_step"]), state.position.copy()
        noise = normals_like(x, np.uint64(self.seed), np.uint64(step)).astype(np.float64)
        v = noise - x * np.sum(noise * x, axis=1, keepdims=True)
        before, force, cosine = self.timed("gradient", self._energy, x, draws)
        before += 0.5 * float(np.sum(v * v))
        for _ in range(self.num_steps):
            v += 0.5 * h * force
            self.timed("update", flow, x, v, h)
            after, force, moved = self.timed("gradient", self._energy, x, draws)
            v += 0.5 * h * force
        change = before - after - 0.5 * float(np.sum(v * v))
        chance = math.exp(min(0.0, change)) if math.isfinite(change) else 0.0
        u = np.random.Generator(np.random.Philox(key=[self.seed, step + (1 << 40)])).random()
        if u < chance:
            state.position, state.velocity, cosine = x, v, moved
        return chance, cosine
