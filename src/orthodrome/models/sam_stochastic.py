"""SGGMC and gSGNHT for the topics (Liu, Zhu & Song 2016, Algorithms 1 to 3), outside JAX: the kernels are numba's.

One topic draw is `num_steps` words ABOBA, each with a batch of its own (with `reuse_batch` the published one batch for
all, which heats `num_steps` times as much, erratum c-3):

    A   great circles for h/2 (fused between words); thermostat xi += h/2 (v.v/m - 1) / mass
    B   v <- exp(-C h/2) v             (xi in place of C with the thermostat)
    O   v <- v + P [h gradient + N(0, 2 C h - h^2 V)]
    B, A

Tuning, in warm-up. The step is 1/sqrt(curvature). The gradient's noise V, measured from each batch, heats by
h^2 V / (2 C h): the friction is the one at which this is `HEAT`, at least `LEAST_FRICTION` (which lets topics travel)
and at most `FRICTION` (beyond, the step shrinks instead); this heat is taken from the injected noise. So v.v/m stays
near one (erratum c-2). Warm-up begins hot and cools.
The thermostat is as fast as the friction: mass 1/C^2 (erratum c-4).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from orthodrome.models.kernels.topics import distinct_rows, flow, kick_and_flow, normals_like
from orthodrome.models.sam_batch import Memory, Slope, View, look, slope
from orthodrome.models.sam_documents import Documents
from orthodrome.models.sam_law import Law, Reals
from orthodrome.models.sam_proportions import Drawn, Sweep, draw_proportions, first_guess, published_guess
from orthodrome.models.sam_state import State
from orthodrome.models.timing import Timed

FRICTION, LEAST_FRICTION = 0.3, 0.02
"""C h at most and at least: a velocity is forgotten after 3 to 50 steps."""
HEAT, FRACTION = 0.1, 1.0
HOT, COOL = 10.0, 0.3
"""The heat at the beginning of warm-up, which cools geometrically until this fraction of it is left."""
MEMORY = 0.03
"""The share of the newest batch in what the tuning remembers during warm-up."""
TARGET = 0.8
"""Of the acceptance of the proportions' moves."""
MANY = 500
"""Rows above which a batch is drawn by NumPy."""
LOOKS = 1 << 50
"""The first of the steps that are taken before the first draw."""
VELOCITY = (1 << 63) - 1
"""The step whose normals are the first velocity."""


@dataclass(frozen=True)
class Plan:
    """The settings of a chain; None means tuned."""

    batch_size: int
    num_steps: int
    step_size: float | None
    friction: float | None
    thermostat: bool
    thermostat_mass: float | None
    reuse_batch: bool
    compensate: bool
    sweep: Sweep
    proportion_step: float | None
    warm_start: bool
    remember: bool


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

    def begin(self, topics: Reals) -> State:
        """At these topics, with a random velocity and a first look at a batch."""
        noise = normals_like(topics, np.uint64(self.seed), np.uint64(VELOCITY)).astype(topics.dtype)
        velocity = noise - topics * np.sum(noise * topics, axis=1, keepdims=True)
        rows = self.documents.count if self.plan.warm_start else 0
        state = State(topics.copy(), velocity, np.full((rows, topics.shape[0]), np.nan, topics.dtype))
        state.numbers = {
            "count": 0,
            "looks": 0,
            "noise": 0.0,
            "curvature": 0.0,
            "log_proportion_step": 0.0,
            "heat": HEAT,
        }
        if self.plan.remember:
            state.extra = vars(Memory.empty(self.documents.count, topics))
        state.numbers["log_proportion_step"] = math.log(self._first_proportion_step(topics.shape[0]))
        for i in range(20):
            view, drawn = self._proportions(state, LOOKS + i)
            self._tune_proportions(state, drawn)
        self._tune(state, self._slope(state, view, drawn))
        state.numbers["thermostat"] = self.friction(state)
        return state

    def exchange(self, documents: Documents, total: int) -> None:
        """Other documents from now on, standing for `total`; their proportions are not remembered."""
        self.documents, self.total = documents, total
        self.plan = replace(self.plan, warm_start=False, remember=False)

    def proportion_step(self, state: State) -> float:
        """The step size of the proportions' moves."""
        return math.exp(state.numbers["log_proportion_step"])

    def _first_proportion_step(self, count: int) -> float:
        if self.plan.proportion_step is not None:
            return self.plan.proportion_step
        step = 0.5 / math.sqrt(4 * self.law.doc_topic_prior * count + self.law.document_concentration)
        return 2 * step / math.sqrt(count) if self.plan.sweep.flat else step

    def draw(self, state: State, tune: float) -> Report:
        """One topic draw: `num_steps` words, in place; `tune`: what is left of the warm-up, 1 to 0."""
        state.numbers["heat"] = HEAT * (HOT / HEAT) ** (max(0.0, tune - COOL) / (1 - COOL))
        h, n = self.step_size(state), self.plan.num_steps
        clipped = acceptance = cosine = 0.0
        self._move(state, h / 2)
        for i in range(n):
            step = int(state.numbers["count"]) * n + i
            if i == 0 or not self.plan.reuse_batch:
                view, drawn = self._proportions(state, step)
            else:
                view = self.timed("gradient", look, state.position, self.documents, view.rows)
            found = self._slope(state, view, drawn)
            clipped += self._kick_and_move(state, view, found, h, h if i < n - 1 else h / 2, step)
            acceptance, cosine = acceptance + float(drawn.acceptance.mean()), cosine + found.cosine
            self._tune(state, found, quickly=tune > 0)
            self._tune_proportions(state, drawn)
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
        return self.timed("gradient", slope, *args)

    def _memory(self, state: State) -> Memory | None:
        extra = state.extra
        return Memory(extra["table"], extra["linear"], extra["square"]) if self.plan.remember else None

    def _kick_and_move(self, state: State, view: View, found: Slope, h: float, time: float, step: int) -> float:
        """B O B A; returns whether the gradient's own noise was more than the noise to inject."""
        numbers, friction, documents = state.numbers, self.friction(state), self.documents
        left = 2 * friction * h - (h * h * numbers["noise"] if self.plan.compensate else 0.0)
        drag = numbers["thermostat"] if self._thermostatic(state) else friction
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
        if self._thermostatic(state):
            state.numbers["thermostat"] += time * (squares.sum() / self._freedom(state) - 1) / self._mass(state)

    def _thermostatic(self, state: State) -> bool:
        """The thermostat waits until the warm-up has cooled: it would take the heat away."""
        return self.plan.thermostat and (state.numbers["heat"] <= HEAT or self.plan.step_size is not None)

    def _freedom(self, state: State) -> int:
        return state.position.shape[0] * (state.position.shape[1] - 1)

    def _temperature(self, state: State) -> float:
        return float(np.einsum("ij,ij->", state.velocity, state.velocity)) / self._freedom(state)

    def _mass(self, state: State) -> float:
        given = self.plan.thermostat_mass
        return 1 / self.friction(state) ** 2 if given is None else given

    def step_size(self, state: State) -> float:
        """h."""
        return self._tuned(state)[0] if self.plan.step_size is None else self.plan.step_size

    def friction(self, state: State) -> float:
        """C."""
        if self.plan.friction is not None:
            return self.plan.friction
        return self._tuned(state)[1] / self.step_size(state)

    def _tuned(self, state: State) -> tuple[float, float]:
        """h and C h: the step that the curvature allows and the friction that its noise wants, or a smaller step."""
        noise, heat = state.numbers["noise"], state.numbers["heat"]
        h = FRACTION / math.sqrt(state.numbers["curvature"]) if self.plan.step_size is None else self.plan.step_size
        rate = max(h * h * noise / (2 * heat), LEAST_FRICTION)
        return (h, rate) if rate <= FRICTION else (math.sqrt(2 * FRICTION * heat / noise), FRICTION)

    def _tune(self, state: State, found: Slope, quickly: bool = True) -> None:
        """Running means of the noise and the curvature: they forget in warm-up, and settle after it."""
        numbers, before = state.numbers, self.friction(state) if state.numbers["looks"] else None
        numbers["looks"] += 1
        rate = max(1 / numbers["looks"], MEMORY if quickly else 0.0)
        numbers["noise"] += rate * (found.noise - numbers["noise"])
        numbers["curvature"] += rate * (found.curvature - numbers["curvature"])
        if before is not None and "thermostat" in numbers:
            numbers["thermostat"] *= self.friction(state) / before

    def _tune_proportions(self, state: State, drawn: Drawn) -> None:
        if self.plan.proportion_step is not None:
            return
        rate = max((1 + state.numbers["looks"] / 10) ** -0.6, 0.02)
        moved = state.numbers["log_proportion_step"] + rate * (float(drawn.acceptance.mean()) - TARGET)
        ceiling = math.pi / 2 / math.sqrt(max(1, state.position.shape[0] - 1))
        state.numbers["log_proportion_step"] = min(moved, math.log(ceiling))
