"""Log-perplexity of `SAM` against the seconds of sampling, by both estimators.

A curve is one method with a budget of seconds. The clock is that of the processor, with one thread, so a busy machine
does not change it and two cores are faster than what is shown; it runs while the method draws, not while it is compiled
or evaluated. The first share of the budget is warm-up. At each look the authors' estimate is made from 25 draws evenly
spaced over those since the warm-up (over all while there are none) and 200 shared draws of theta, the annealed one from
three of them and some of the test documents.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from orthodrome.kernels.computing import computing
from orthodrome.models.sam import SAM
from orthodrome.models.sam.documents import DocumentVectors, some_rows
from orthodrome.models.sam.evaluation import annealed_log_density, log_perplexity
from orthodrome.models.sam.law import Reals
from orthodrome.models.sam.run import engine_of
from orthodrome.models.sam.settings import VARIATIONAL

WARM_UP, FIRST_LOOK = 0.2, 1 / 40
"""Shares of the budget."""
NUM_TOPICS, NUM_THETA, STORED = 25, 200, 400


@dataclass
class MethodCurve:
    """What a method did; rows are (seconds, draws, published estimate, annealed estimate)."""

    name: str
    rows: list[tuple[float, int, float, float]] = field(default_factory=list)
    temperature: float = math.nan
    draws_per_second: float = 0.0
    shares: dict[str, float] = field(default_factory=dict)
    topics: Any = None

    @property
    def published(self) -> float:
        """At the end."""
        return self.rows[-1][2]

    @property
    def annealed(self) -> float:
        """At the end."""
        return self.rows[-1][3]

    def arrival(self, level: float) -> float:
        """Seconds until the first look with an annealed estimate at or below the level; infinite if there is none."""
        return next((row[0] for row in self.rows if row[3] <= level), math.inf)


class History:
    """Draws of the topics at a stride that doubles when there are too many."""

    def __init__(self) -> None:
        self.draws: list[tuple[float, Reals]] = []
        self.stride = 1

    def add(self, count: int, seconds: float, topics: Reals) -> None:
        """Keep this draw if it is its turn."""
        if count % self.stride:
            return
        self.draws.append((seconds, topics.astype(np.float32)))
        if len(self.draws) > STORED:
            self.draws, self.stride = self.draws[1::2], 2 * self.stride

    def spaced(self, since: float, count: int) -> Reals:
        """Evenly spaced draws since a time, or of all if none is that late."""
        late = [draw for seconds, draw in self.draws if seconds >= since] or [draw for _, draw in self.draws]
        return np.stack([late[int(i)] for i in np.linspace(len(late) - 1, 0, min(count, len(late)))][::-1])


def trace_curve(
    name: str, model: SAM, train: Any, test: Any, budget: float, *, looks: int = 6, honest: int = 200
) -> MethodCurve:
    """Run one method for the budget; the model can then be asked for proportions."""
    model.set_params(n_jobs=1)
    documents = model._begin(train)
    held_out, curve, history, heat = model._documents(test, reset=False), MethodCurve(name), History(), []
    compile_kernels(model, documents)
    with computing(model.n_jobs):
        engine = engine_of(model, model.law_, documents, model.seed_)
        state = engine.begin(model._first_topics(documents))
        engine.seconds.update(dict.fromkeys(engine.seconds, 0.0))
        seconds, count = 0.0, 0
        for look in budget * np.geomspace(1, FIRST_LOOK, looks)[::-1]:
            if seconds >= look and count:
                continue
            while seconds < look:
                began = time.process_time()
                report = engine.draw(state, max(0.0, 1 - seconds / (WARM_UP * budget)))
                seconds, count = seconds + time.process_time() - began, count + 1
                heat.append(getattr(report, "temperature", math.nan))
                history.add(count, seconds, state.position)
            curve.rows.append((seconds, count, *evaluate(model, history, WARM_UP * budget, held_out, honest)))
    curve.topics = chosen_topics(model, history, WARM_UP * budget)
    model.draws_, model.proportion_step_ = curve.topics, engine.proportion_step(state)
    model.components_ = curve.topics[-1]
    curve.temperature, curve.draws_per_second = float(np.mean(heat[len(heat) // 2 :])), count / seconds
    total = sum(engine.seconds.values())
    curve.shares = {part: round(value / total, 3) for part, value in engine.seconds.items()}
    return curve


def compile_kernels(model: SAM, documents: DocumentVectors) -> None:
    """One draw from a few of the documents, before the clock runs."""
    with computing(model.n_jobs):
        engine = engine_of(model, model.law_, some_rows(documents, 64), model.seed_)
        engine.draw(engine.begin(model._first_topics(documents)), 1.0)


def chosen_topics(model: SAM, history: History, since: float) -> Reals:
    """What a method is judged by: 25 draws since the warm-up, or the last point of a variational method."""
    count = 1 if model.method in VARIATIONAL else NUM_TOPICS
    return history.spaced(since, count)[-count:]


def evaluate(model: SAM, history: History, since: float, held_out: DocumentVectors, honest: int) -> tuple[float, float]:
    """Both estimates."""
    topics = chosen_topics(model, history, since)
    published = log_perplexity(model.law_, held_out, topics, NUM_THETA, seed=0)
    few, some = topics[:: max(1, len(topics) // 3)][-3:], some_rows(held_out, honest)
    annealed = -float(annealed_log_density(model.law_, some, few, num_temperatures=150, num_particles=1).mean())
    return published, annealed
