"""SGGMC and gSGNHT for the topics (Liu, Zhu & Song 2016, Algorithms 1 to 3), outside JAX: the kernels are numba's.

One topic draw is `num_steps` words ABOBA, each with a batch of its own (with `reuse_batch` the published one batch for
all, which heats `num_steps` times as much, erratum c-3):

    A   great circles for h/2 (fused between words); thermostat xi += h/2 (v.v/m - 1) / mass
    B   v <- exp(-C h/2) v             (xi in place of C with the thermostat)
    O   v <- v + P [h gradient + N(0, 2 C h - h^2 V)]
    B, A

Step and friction tune themselves in warm-up (`sam_tuning`).
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from orthodrome.kernels.timing import Timed
from orthodrome.models.sam.batch import Memory, Slope, View, look, slope
from orthodrome.models.sam.documents import Documents
from orthodrome.models.sam.kernels.topics import distinct_rows, flow, kick_and_flow, normals_like
from orthodrome.models.sam.law import Law, Reals
from orthodrome.models.sam.plan import Plan
from orthodrome.models.sam.proportions import Drawn, draw_proportions, first_guess, published_guess
from orthodrome.models.sam.state import State
from orthodrome.models.sam.tuning import Tuning

MANY = 500
"""Rows above which a batch is drawn by NumPy."""
LOOKS = 1 << 50
"""The first of the steps that are taken before the first draw."""
VELOCITY = (1 << 63) - 1
"""The step whose normals are the first velocity."""


class Report(NamedTuple):
    """What one topic draw did. temperature is v.v/m; acceptance is that of the proportions."""

    temperature: float
    acceptance: float
    cosine: float
    step_size: float
    thermostat: float
    clipped: float


class Chain(Timed):
    """One chain of topic draws."""

    def __init__(self, law: Law, documents: Documents, plan: Plan, seed: int, total: int | None = None) -> None:
        super().__init__()
        self.law, self.documents, self.plan, self.seed = law, documents, plan, seed
        self.total = documents.count if total is None else total
        self.tuning, self.buffer = Tuning(plan, law), np.empty((0, 0))

    def begin(self, topics: Reals) -> State:
        """At these topics, with a random velocity and a first look at a batch."""
        noise = normals_like(topics, np.uint64(self.seed), np.uint64(VELOCITY)).astype(topics.dtype)
        velocity = noise - topics * np.sum(noise * topics, axis=1, keepdims=True)
        rows = self.documents.count if self.plan.warm_start else 0
        state = State(topics.copy(), velocity, np.full((rows, topics.shape[0]), np.nan, topics.dtype))
        state.numbers = {"count": 0} | self.tuning.begin(topics.shape[0])
        if self.plan.remember:
            state.extra = vars(Memory.empty(self.documents.count, topics))
        for i in range(20):
            view, drawn = self._proportions(state, LOOKS + i)
            self._learn_proportions(state, drawn)
        self.tuning.learn(state.numbers, self._slope(state, view, drawn))
        state.numbers["thermostat"] = self.tuning.friction(state.numbers)
        return state

    def exchange(self, documents: Documents, total: int) -> None:
        """Other documents from now on, standing for `total`; their proportions are not remembered."""
        self.documents, self.total = documents, total
        self.plan = replace(self.plan, warm_start=False, remember=False)

    def proportion_step(self, state: State) -> float:
        """The step size of the proportions' moves."""
        return math.exp(state.numbers["log_proportion_step"])

    def draw(self, state: State, tune: float) -> Report:
        """One topic draw: `num_steps` words, in place; `tune`: what is left of the warm-up, 1 to 0."""
        self.tuning.cool(state.numbers, tune)
        h, n = self.tuning.step_size(state.numbers), self.plan.num_steps
        clipped = acceptance = cosine = 0.0
        self._move(state, h / 2)
        for i in range(n):
            step = int(state.numbers["count"]) * n + i
            if i == 0 or not self.plan.reuse_batch:
                view, drawn = self._proportions(state, step)
                rate = self._learn_proportions(state, drawn)
            else:
                view = self.timed("gradient", look, state.position, self.documents, view.rows)
            found = self._slope(state, view, drawn)
            clipped += self._kick_and_move(state, view, found, h, h if i < n - 1 else h / 2, step)
            acceptance, cosine = acceptance + rate, cosine + found.cosine
            self.tuning.learn(state.numbers, found, quickly=tune > 0)
        state.numbers["count"] += 1
        heat = self._temperature(state)
        return Report(heat, acceptance / n, cosine / n, h, state.numbers["thermostat"], clipped / n)

    def _rows(self, step: int) -> NDArray[np.int64]:
        count, size = self.documents.count, min(self.plan.batch_size, self.documents.count)
        if size == count:
            return np.arange(count)
        if size > MANY:
            return np.random.Generator(np.random.Philox(key=[self.seed, step])).choice(count, size, replace=False)
        return distinct_rows(count, size, np.uint64(self.seed), np.uint64(step))

    def _proportions(self, state: State, step: int) -> tuple[View, Drawn]:
        view = self.timed("gradient", look, state.position, self.documents, self._rows(step))
        return view, self.timed("proportions", self._draw_proportions, state, view, step)

    def _draw_proportions(self, state: State, view: View, step: int) -> Drawn:
        rows, law = view.rows, self.law
        if self.plan.warm_start:
            start = state.proportions[rows]
            fresh = np.isnan(start[:, 0])
            if fresh.any():
                start[fresh] = first_guess(view.gram, view.b[fresh])
        else:
            start = (published_guess if self.plan.reuse_batch else first_guess)(view.gram, view.b)
        size = math.exp(state.numbers["log_proportion_step"])
        drawn = draw_proportions(
            view.gram,
            view.b,
            start,
            law.document_concentration,
            law.doc_topic_prior,
            size,
            self.plan.sweep,
            self.seed,
            step,
            rows.astype(np.uint64),
        )
        if self.plan.warm_start:
            state.proportions[rows] = drawn.last
        return drawn

    def _slope(self, state: State, view: View, drawn: Drawn) -> Slope:
        args = (self.law, state.position, self.documents, view, drawn.draws, self.total, self._memory(state))
        return self.timed("gradient", slope, *args, self._buffer(state))

    def _buffer(self, state: State) -> Reals:
        """An array for the gradient, used again and again: a new one each time would cost as much as filling it."""
        if self.buffer.shape != state.position.shape or self.buffer.dtype != state.position.dtype:
            self.buffer = np.empty_like(state.position)
        return self.buffer

    def _memory(self, state: State) -> Memory | None:
        extra = state.extra
        return Memory(extra["table"], extra["linear"], extra["square"]) if self.plan.remember else None

    def _kick_and_move(self, state: State, view: View, found: Slope, h: float, time: float, step: int) -> float:
        """B O B A; returns whether the gradient's own noise was more than the noise to inject."""
        numbers, friction, documents = state.numbers, self.tuning.friction(state.numbers), self.documents
        left = 2 * friction * h - (h * h * numbers["noise"] if self.plan.compensate else 0.0)
        drag = numbers["thermostat"] if self.tuning.thermostatic(state.numbers) else friction
        sparse = (documents.indptr, documents.indices, documents.values, view.rows, found.weights, found.scale)
        settings = (h, math.exp(-drag * h / 2), math.sqrt(max(left, 0.0)), time)
        place = (np.uint64(self.seed), np.uint64(step))
        args = (state.position, state.velocity, found.dense, found.prior, *sparse, *settings, *place)
        self._heat(state, self.timed("update", kick_and_flow, *args), time)
        return float(left < 0)

    def _move(self, state: State, time: float) -> None:
        self._heat(state, self.timed("update", flow, state.position, state.velocity, time), time)

    def _heat(self, state: State, squares: Reals, time: float) -> None:
        """The thermostat's part of A, with the speeds that the flow keeps."""
        if self.tuning.thermostatic(state.numbers):
            excess = squares.sum() / self._freedom(state) - 1
            state.numbers["thermostat"] += time * excess / self.tuning.mass(state.numbers)

    def _freedom(self, state: State) -> int:
        return state.position.shape[0] * (state.position.shape[1] - 1)

    def _temperature(self, state: State) -> float:
        return float(np.einsum("ij,ij->", state.velocity, state.velocity)) / self._freedom(state)

    def _learn_proportions(self, state: State, drawn: Drawn) -> float:
        rate = float(drawn.acceptance.mean())
        self.tuning.learn_proportions(state.numbers, rate, state.position.shape[0])
        return rate
