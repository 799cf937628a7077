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

from orthodrome.core.types import Reals
from orthodrome.kernels.threads.computing import computing
from orthodrome.kernels.timing import stopwatch
from orthodrome.models.sam import SAM
from orthodrome.models.sam.documents import DocumentVectors, some_rows
from orthodrome.models.sam.evaluation import annealed_log_density, log_perplexity
from orthodrome.models.sam.methods import sampler_of
from orthodrome.models.sam.settings import VARIATIONAL
from orthodrome.models.topics.chains import topics_tree
from orthodrome.random.keys import new_key, seed_of
from orthodrome.run.loop import init_key, transition_key
from orthodrome.storage.draws import named_info

WARM_UP, FIRST_LOOK = 0.2, 1 / 40
"""Shares of the budget."""
NUM_TOPICS, NUM_THETA, STORED = 25, 200, 400
TURNS = 8
"""Parts of a run of which each is timed by itself. A processor second is not the same work on a busy machine, where
others take the caches and the memory away."""
CHAIN = np.uint32(0)


@dataclass
class MethodCurve:
    """The log-perplexity of one method against time.

    name: of the method
    rows: (seconds, draws, published estimate, annealed estimate) at every look
    temperature: of the chain
    draws_per_second: of the topics
    turns: the same of each of `TURNS` equal parts of the run after its warm-up
    shares: of the time, by what it was spent on
    topics: the last draws that the estimates are made from
    """

    name: str
    rows: list[tuple[float, int, float, float]] = field(default_factory=list)
    temperature: float = math.nan
    draws_per_second: float = 0.0
    turns: list[float] = field(default_factory=list)
    shares: dict[str, float] = field(default_factory=dict)
    topics: Any = None

    @property
    def best_rate(self) -> float:
        """The draws per second of the fastest turn: whatever else runs on a machine can only slow a turn."""
        return max(self.turns, default=self.draws_per_second)

    @property
    def published(self) -> float:
        """The published estimate at the end of the run."""
        return self.rows[-1][2]

    @property
    def annealed(self) -> float:
        """The annealed estimate at the end of the run."""
        return self.rows[-1][3]

    def arrival(self, level: float) -> float:
        """Return the seconds until the first annealed estimate at or below the level; infinite if there is none."""
        return next((row[0] for row in self.rows if row[3] <= level), math.inf)


class History:
    """Draws of the topics at a stride that doubles when there are too many."""

    def __init__(self) -> None:
        self.draws: list[tuple[float, Reals]] = []
        self.stride = 1

    def add(self, count: int, seconds: float, topics: Reals) -> None:
        """Keep this draw if its number is a multiple of the stride."""
        if count % self.stride:
            return
        self.draws.append((seconds, topics.astype(np.float32)))
        if len(self.draws) > STORED:
            self.draws, self.stride = self.draws[1::2], 2 * self.stride

    def spaced(self, since: float, count: int) -> Reals:
        """Return evenly spaced draws since a time, or from all draws if none is that late."""
        late = [draw for seconds, draw in self.draws if seconds >= since] or [draw for _, draw in self.draws]
        return np.stack([late[int(i)] for i in np.linspace(len(late) - 1, 0, min(count, len(late)))][::-1])


def trace_curve(
    name: str, model: SAM, train: Any, test: Any, budget: float, *, looks: int = 6, honest: int = 200
) -> MethodCurve:
    """Run one method for the budget, and return its curve; the model can then be asked for proportions."""
    model.set_params(n_jobs=1)
    documents = model.prepare(train)
    held_out, curve, history, heat = model.documents(test), MethodCurve(name), History(), []
    compile_kernels(model, documents)
    sampler, key = sampler_of(model, model.law_, documents), new_key(np.uint32(model.seed_))
    with computing(model.n_jobs):
        state, seconds, count = sampler.init(None, init_key(key, CHAIN)), 0.0, 0
        times: list[float] = []
        with stopwatch() as parts:
            for look in budget * np.geomspace(1, FIRST_LOOK, looks)[::-1]:
                if seconds >= look and count:
                    continue
                while seconds < look:
                    began = time.process_time()
                    seed = seed_of(transition_key(key, CHAIN, np.uint32(count)))
                    state, info = sampler.transition(seed, state, max(0.0, 1 - seconds / (WARM_UP * budget)))
                    ended = time.process_time()
                    times.append(ended - began)
                    seconds, count = seconds + ended - began, count + 1
                    heat.append(getattr(info, "temperature", math.nan))
                    history.add(count, seconds, state.topics)
                curve.rows.append((seconds, count, *evaluate(model, history, WARM_UP * budget, held_out, honest)))
    curve.topics = chosen_topics(model, history, WARM_UP * budget)
    curve.temperature, curve.draws_per_second = float(np.mean(heat[len(heat) // 2 :])), count / seconds
    curve.turns = turn_rates(np.array(times), WARM_UP * budget)
    curve.shares = {part: round(value / sum(parts.values()), 3) for part, value in parts.items()}
    numbers = {name: np.full(len(curve.topics), value) for name, value in named_info(info).items()}
    model.take(topics_tree(curve.topics, numbers), documents)
    return curve


def turn_rates(times: Reals, warmup: float) -> list[float]:
    """Return the draws per second of equal parts of a run; none if a part would be shorter than four draws.

    times: the seconds of every draw; warmup: the seconds before the first part
    """
    late = times[np.cumsum(times) > warmup]
    if len(late) < 4 * TURNS:
        return []
    return [len(part) / float(part.sum()) for part in np.array_split(late, TURNS)]


def compile_kernels(model: SAM, documents: DocumentVectors) -> None:
    """Take one transition with a few of the documents, before the clock runs."""
    key = new_key(np.uint32(model.seed_))
    with computing(model.n_jobs):
        sampler = sampler_of(model, model.law_, some_rows(documents, 64))
        sampler.transition(0, sampler.init(None, init_key(key, CHAIN)), 1.0)


def chosen_topics(model: SAM, history: History, since: float) -> Reals:
    """Return the topics that a method is judged by: 25 draws since the warm-up, or the last point of a variational
    method."""
    count = 1 if model.method in VARIATIONAL else NUM_TOPICS
    return history.spaced(since, count)[-count:]


def evaluate(model: SAM, history: History, since: float, held_out: DocumentVectors, honest: int) -> tuple[float, float]:
    """Return the published and the annealed estimate."""
    topics = chosen_topics(model, history, since)
    published = log_perplexity(model.law_, held_out, topics, NUM_THETA, seed=0)
    few, some = topics[:: max(1, len(topics) // 3)][-3:], some_rows(held_out, honest)
    annealed = -float(annealed_log_density(model.law_, some, few, num_temperatures=150, num_particles=1).mean())
    return published, annealed
