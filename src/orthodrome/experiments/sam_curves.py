"""Log-perplexity of `SAM` against the seconds of sampling, by both estimators: what its two experiments share.

A curve is one method with a budget of seconds. The clock runs while it draws, not while it is evaluated or compiled;
the first share of the budget is warm-up. At each look the authors' estimate is made from 25 draws evenly spaced over
those since the warm-up (over all while there are too few) and 200 shared draws of theta, the annealed one from three of
them and some of the test documents.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from orthodrome.models.computing import computing
from orthodrome.models.evaluation import annealed_log_density, log_perplexity
from orthodrome.models.sam import SAM
from orthodrome.models.sam_documents import Documents
from orthodrome.models.sam_law import Reals
from orthodrome.models.sam_run import engine_of

WARM_UP, NUM_TOPICS, NUM_THETA, STORED = 0.2, 25, 200, 400
AUTHORS_DRAWS_PER_SECOND = 1.35
"""Of the authors' C++ with OpenMP on two cores: 1.3 to 1.4 topic draws per second."""


@dataclass
class Curve:
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
    name: str, model: SAM, train: Any, test: Any, budget: float, *, looks: int = 5, honest: int = 200
) -> Curve:
    """Run one method for the budget."""
    documents = model._begin(train)
    held_out = model._documents(test, reset=False)
    curve, history = Curve(name), History()
    with computing(model.n_jobs):
        engine = engine_of(model, model.law_, documents, model.seed_)
        state = engine.begin(model._first_topics(documents))
        engine.draw(state, 1.0)
        engine.seconds.update(dict.fromkeys(engine.seconds, 0.0))
        seconds, count, heat = 0.0, 0, []
        for look in np.geomspace(budget / 8, budget, looks):
            while seconds < look or count == 0:
                began = time.perf_counter()
                report = engine.draw(state, max(0.0, 1 - seconds / (WARM_UP * budget)))
                seconds, count = seconds + time.perf_counter() - began, count + 1
                heat.append(getattr(report, "temperature", math.nan))
                history.add(count, seconds, state.position)
            curve.rows.append((seconds, count, *evaluate(model, history, WARM_UP * budget, held_out, honest)))
    variational = model.method in ("vi", "stovi")
    curve.topics = history.spaced(WARM_UP * budget, NUM_TOPICS)[-1:] if variational else history.spaced(0.0, NUM_TOPICS)
    model.draws_, model.proportion_step_ = curve.topics, engine.proportion_step(state)
    model.components_ = curve.topics[-1]
    curve.temperature, curve.draws_per_second = float(np.mean(heat[len(heat) // 2 :])), count / seconds
    total = sum(engine.seconds.values())
    curve.shares = {part: round(value / total, 3) for part, value in engine.seconds.items()}
    return curve


def evaluate(model: SAM, history: History, since: float, held_out: Documents, honest: int) -> tuple[float, float]:
    """Both estimates; a variational method has one point, its last."""
    count = 1 if model.method in ("vi", "stovi") else NUM_TOPICS
    topics = history.spaced(since, count)[-count:]
    published = log_perplexity(model.law_, held_out, topics, NUM_THETA, seed=0)
    few, some = topics[:: max(1, len(topics) // 3)][-3:], first_rows(held_out, honest)
    annealed = -float(annealed_log_density(model.law_, some, few, num_temperatures=150, num_particles=1).mean())
    return published, annealed


def first_rows(documents: Documents, count: int) -> Documents:
    """Evenly spaced rows, at most `count`."""
    rows = np.unique(np.linspace(0, documents.count - 1, min(count, documents.count)).astype(int))
    table = documents.table()[rows]
    return Documents(table.indptr.astype(np.int64), table.indices.astype(np.int32), table.data, documents.num_words)


def curve_rows(curves: list[Curve]) -> list[dict[str, Any]]:
    """The numbers behind the figure."""
    names = ("seconds", "draws", "log_perplexity_published", "log_perplexity_annealed")
    return [{"method": curve.name} | dict(zip(names, row, strict=True)) for curve in curves for row in curve.rows]


def figure(curves: list[Curve]) -> Any:
    """Both estimates against the seconds of sampling."""
    from orthodrome.plots.style import new_figure

    drawing, axes = new_figure(1, 2, size=(9.0, 4.2))
    axes = np.ravel(axes)
    for curve in curves:
        rows: NDArray[Any] = np.array(curve.rows)
        for axis, column in zip(axes, (2, 3), strict=True):
            axis.plot(rows[:, 0], rows[:, column], marker=".", linewidth=1, label=curve.name)
    for axis, title in zip(axes, ("as published: 25 topics x 200 theta", "annealed"), strict=True):
        axis.set(xlabel="seconds of sampling", ylabel="log-perplexity", title=title, xscale="log")
    axes[1].legend(fontsize=6, frameon=False)
    return drawing


def accuracy(model: SAM, train: Any, train_labels: Any, test: Any, test_labels: Any) -> float:
    """Of a linear classifier on the proportions, as in Reisinger et al. (2010)."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.preprocessing import StandardScaler

    with computing(model.n_jobs):
        x, y = model.transform(train), model.transform(test)
    scale = StandardScaler().fit(x)
    classifier = LogisticRegression(max_iter=1000).fit(scale.transform(x), train_labels)
    return float(classifier.score(scale.transform(y), test_labels))


def read_table(path: Any) -> scipy.sparse.csr_matrix:
    """A table without pickle."""
    return scipy.sparse.csr_matrix(scipy.sparse.load_npz(path), dtype=np.float64)
