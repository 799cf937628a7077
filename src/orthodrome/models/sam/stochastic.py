"""SGGMC and gSGNHT for the topics (Liu, Zhu & Song 2016, Algorithms 1 to 3), outside JAX: the kernels are numba's.

One topic draw is `num_steps` words ABOBA, each with a batch of its own (with `reuse_batch` the published one batch for
all, which heats `num_steps` times as much, erratum c-3):

    A   great circles for h/2 (fused between words); thermostat xi += h/2 (v.v/m - 1) / mass
    B   v <- exp(-C h/2) v             (xi in place of C with the thermostat)
    O   v <- v + P [h gradient + N(0, 2 C h - h^2 V)]
    B, A

Step and friction tune themselves in warm-up (`models.sam.tuning`). The topics, their velocity, the proportions and the
memory of the documents are changed in place.
"""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from orthodrome.core.pytree import pytree, static
from orthodrome.core.types import Reals
from orthodrome.kernels.timing import timed
from orthodrome.models.sam.batch import Glance, Memory, View, empty_memory, slope
from orthodrome.models.sam.chain_settings import ChainSettings
from orthodrome.models.sam.documents import DocumentVectors
from orthodrome.models.sam.flight import Flight, Letters
from orthodrome.models.sam.kernels.topics import distinct_rows, normals_like
from orthodrome.models.sam.kernels.words import by_word
from orthodrome.models.sam.proportions import Drawn, draw_proportions, first_guess, published_guess
from orthodrome.models.sam.sampler import AdmixtureSampler, TopicProblem
from orthodrome.models.sam.spread.vectors import DrawnBatch, SpreadVectors, brought_together, learn_back
from orthodrome.models.sam.state import StochasticState
from orthodrome.models.sam.tuning import TopicTuner

MANY = 500
"""Rows above which a batch is drawn by NumPy."""
LOOKS = 20
"""Batches that are looked at before the first draw, to tune the proportions' moves."""
VELOCITY = LOOKS
"""The number of the stream, beside those of the looks, whose normals are the first velocity."""


class StochasticInfo(NamedTuple):
    """What one topic draw did. temperature is v.v/m; acceptance is that of the proportions."""

    temperature: float
    acceptance: float
    cosine: float
    step_size: float
    thermostat: float
    clipped: float
    proportion_step: float
    log_perplexity: float | None = None


@pytree
class StochasticTopics(AdmixtureSampler):
    """Topics by SGGMC, or by gSGNHT if the settings have a thermostat."""

    given: TopicProblem
    settings: ChainSettings = static()

    @cached_property
    def tuner(self) -> TopicTuner:
        """Steps and friction, given or learnt."""
        return TopicTuner(self.settings, self.given.law)

    def begin(self, topics: Reals, seed: int) -> StochasticState:
        """Return the state at these topics, with a random velocity and some looks at batches."""
        noise = normals_like(topics, np.uint64(seed), np.uint64(VELOCITY)).astype(topics.dtype)
        velocity = by_word(noise - topics * np.sum(noise * topics, axis=1, keepdims=True))
        count = self.given.data.own.count
        proportions = np.full((count * self.settings.warm_start, topics.shape[0]), np.nan, topics.dtype)
        memory = empty_memory(count * self.settings.remember, topics)
        tuning = self.tuner.begin(topics.shape[0])
        state = StochasticState(topics.copy(), velocity, proportions, memory, tuning, 0.0)
        flight = self._flight(state)
        flight.drift(0.0)
        for i in range(LOOKS):
            rows = self._rows(seed, i)
            batch = self._proportions(state, flight, memory, rows, (seed, i))
            state, _ = self._learnt_proportions(state, batch)
        found = slope(self.given.law, batch.view, batch.draws, self.given.total, batch.memory)
        if self.settings.remember:
            batch.memory.learn(batch.view.documents, batch.view.rows, found)
            self._remember(memory, batch.memory, rows)
        tuning = self.tuner.learnt(state.tuning, found.glance)
        return state._replace(tuning=tuning, thermostat=self.tuner.friction(tuning))

    def with_documents(
        self, data: DocumentVectors, total: int, state: StochasticState
    ) -> tuple[StochasticTopics, StochasticState]:
        """Return the same chain with other documents, whose proportions are not remembered."""
        problem = replace(self.given, data=data, total=total)
        return StochasticTopics(problem, replace(self.settings, warm_start=False, remember=False)), state

    def move(self, seed: int, state: StochasticState, left: float) -> tuple[StochasticState, StochasticInfo]:
        """Draw the topics by `num_steps` words."""
        state = state._replace(tuning=self.tuner.cooled(state.tuning, left))
        h, n = self.tuner.step_size(state.tuning), self.settings.num_steps
        clipped = acceptance = cosine = 0.0
        flight, memory = timed("update", self._flight, state), state.memory
        memory = memory if self.settings.remember else memory.unused()  # of other documents, perhaps
        state = self._heated(state, timed("update", flight.drift, h / 2), h / 2)
        for i in range(n):
            if i == 0 or not self.settings.reuse_batch:
                rows = self._rows(seed, i)
                batch = self._proportions(state, flight, memory, rows, (seed, i))
                state, rate = self._learnt_proportions(state, batch)
            else:
                again = timed("gradient", flight.look, batch.view.rows, batch.view.documents)
                batch = batch._replace(view=again)
            letters, lacking = self._letters(state, h, h if i < n - 1 else h / 2)
            args = (batch.view, batch.draws, batch.memory, self.given.total, letters, (seed, i))
            squares, found = timed("update", flight.kick_and_drift, *args)
            self._remember(memory, batch.memory, rows)
            state = self._heated(state, squares, letters.time)
            clipped, acceptance, cosine = clipped + lacking, acceptance + rate, cosine + found.cosine
            state = self._learnt(state, found, quickly=left > 0)
        timed("update", flight.land, state.topics)
        means = (acceptance / n, cosine / n, h, state.thermostat, clipped / n)
        return state, StochasticInfo(_temperature(state), *means, math.exp(state.tuning.log_proportion_step))

    def _rows(self, seed: int, step: int) -> NDArray[np.int64]:
        count = self.given.data.count
        size = min(self.settings.batch_size, count)
        if size == count:
            return np.arange(count)
        if size > MANY:
            return np.random.Generator(np.random.Philox(key=[seed, step])).choice(count, size, replace=False)
        return distinct_rows(count, size, np.uint64(seed), np.uint64(step))

    def _flight(self, state: StochasticState) -> Flight:
        return Flight(self.given.law, self.given.data.own, state.topics, state.velocity)

    def _proportions(
        self, state: StochasticState, flight: Flight, memory: Memory, rows: NDArray[np.int64], place: tuple[int, int]
    ) -> DrawnBatch:
        """Return a batch with draws of its proportions, of which each process makes those of its documents."""
        data = self.given.data
        view = timed("gradient", flight.look, data.mine(rows) if isinstance(data, SpreadVectors) else rows)
        drawn = timed("proportions", self._draw_proportions, state, view, *place)
        if isinstance(data, SpreadVectors):
            return timed("exchange", brought_together, data, rows, view, drawn, memory)
        return DrawnBatch(view, drawn.draws, drawn.acceptance, memory)

    def _remember(self, memory: Memory, learnt: Memory, rows: NDArray[np.int64]) -> None:
        """Bring what is remembered of the documents of this process up to date, where a batch has a copy of it."""
        if isinstance(self.given.data, SpreadVectors) and memory.table.shape[0] > 0:
            learn_back(self.given.data, rows, memory, learnt)

    def _draw_proportions(self, state: StochasticState, view: View, seed: int, step: int) -> Drawn:
        law, start = self.given.law, self._first_proportions(state, view)
        size, items = math.exp(state.tuning.log_proportion_step), self.given.data.names(view.rows)
        settings = (law.document_concentration, law.doc_topic_prior, size, self.settings.sweep)
        drawn = draw_proportions(view.gram, view.b, start, *settings, seed, step, items)
        if self.settings.warm_start:
            state.proportions[view.rows] = drawn.last
        return drawn

    def _first_proportions(self, state: StochasticState, view: View) -> Reals:
        if not self.settings.warm_start:
            return (published_guess if self.settings.reuse_batch else first_guess)(view.gram, view.b)
        start = state.proportions[view.rows]
        fresh = np.isnan(start[:, 0])
        if fresh.any():
            start[fresh] = first_guess(view.gram, view.b[fresh])
        return start

    def _letters(self, state: StochasticState, h: float, time: float) -> tuple[Letters, float]:
        """Return the numbers of the letters, and whether the gradient's own noise is more than the noise to inject."""
        tuner, tuning = self.tuner, state.tuning
        friction = tuner.friction(tuning)
        left = 2 * friction * h - (h * h * tuning.noise if self.settings.compensate else 0.0)
        drag = state.thermostat if tuner.thermostatic(tuning) else friction
        return Letters(h, math.exp(-drag * h / 2), math.sqrt(max(left, 0.0)), time), float(left < 0)

    def _heated(self, state: StochasticState, squares: Reals, time: float) -> StochasticState:
        """Move the thermostat, its part of A, by the speeds that the flow preserves."""
        if not self.tuner.thermostatic(state.tuning):
            return state
        excess = squares.sum() / _freedom(state) - 1
        return state._replace(thermostat=state.thermostat + time * excess / self.tuner.mass(state.tuning))

    def _learnt(self, state: StochasticState, found: Glance, quickly: bool) -> StochasticState:
        """Learn from a gradient; the thermostat changes with the friction that it stands for."""
        tuning = self.tuner.learnt(state.tuning, found, quickly)
        ratio = self.tuner.friction(tuning) / self.tuner.friction(state.tuning)
        return state._replace(tuning=tuning, thermostat=state.thermostat * ratio)

    def _learnt_proportions(self, state: StochasticState, batch: DrawnBatch) -> tuple[StochasticState, float]:
        rate = float(batch.acceptance.mean())
        tuning = self.tuner.learnt_proportions(state.tuning, rate, state.topics.shape[0])
        return state._replace(tuning=tuning), rate


def _freedom(state: StochasticState) -> int:
    return state.topics.shape[0] * (state.topics.shape[1] - 1)


def _temperature(state: StochasticState) -> float:
    return float(np.einsum("ij,ij->", state.velocity, state.velocity)) / _freedom(state)
