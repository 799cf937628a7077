"""A run of topic draws: warm-up, kept draws, progress, checkpoints; the same for every method.

An engine has `begin(topics) -> State`, `draw(state, tune) -> report` (a NamedTuple of numbers; the state changes in
place; tune is what is left of the warm-up, from 1 to 0), `exchange(documents, total)` and `seconds`. All random numbers
follow from (seed, step), so a run that was cut anywhere goes on to the same numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from orthodrome.errors import Diverged
from orthodrome.kernels.thread_choice import FastestThreads
from orthodrome.models.sam.documents import Documents, some_rows
from orthodrome.models.sam.evaluation import log_perplexity
from orthodrome.models.sam.law import Law, Reals
from orthodrome.models.sam.state import State
from orthodrome.run.progress import Progress, new_progress

WATCHED, LOOKS = 300, 25
"""Held-out documents that are watched, and how often in a run."""


class Engine(Protocol):
    """A method of inference."""

    seconds: dict[str, float]

    def begin(self, topics: Reals) -> State: ...

    def draw(self, state: State, tune: float) -> Any: ...

    def exchange(self, documents: Documents, total: int) -> None: ...

    def proportion_step(self, state: State) -> float: ...


def engine_of(model: Any, law: Law, documents: Documents, seed: int, total: int | None = None) -> Engine:
    """The method that the model asks for, on as many threads as it asks for, or as are fastest."""
    total = documents.count if total is None else total
    engine = _method_of(model)(model, law, documents, seed, total)
    return engine if model.n_jobs is not None else FastestThreads(engine)


def _method_of(model: Any) -> Callable[..., Engine]:
    from orthodrome.models.sam.plan import plan_of
    from orthodrome.models.sam.settings import STOCHASTIC, VARIATIONAL

    if model.method in STOCHASTIC:
        from orthodrome.models.sam.stochastic import Chain

        return lambda model, law, documents, *rest: Chain(law, documents, plan_of(model, documents.count), *rest)
    if model.method in VARIATIONAL:
        from orthodrome.models.sam.variational import Ascent

        return Ascent
    from orthodrome.models.sam.exact import ExactChain

    return ExactChain


class Watch:
    """The log-perplexity of held-out documents at single draws of the topics, as published; a few hundred will do."""

    def __init__(self, law: Law, held_out: Documents, seed: int) -> None:
        self.law, self.documents, self.seed = law, some_rows(held_out, WATCHED), seed

    def __call__(self, topics: Reals) -> float:
        return log_perplexity(self.law, self.documents, topics[None], seed=self.seed)


class Run:
    """Draws so far, and how many there are to be: (warm-up, kept, thin)."""

    def __init__(self, engine: Engine, schedule: tuple[int, int, int], dtype: str) -> None:
        self.engine, self.dtype = engine, np.dtype(dtype)
        self.warmup, self.wanted, self.thin = schedule
        self.done, self.kept, self.records = 0, [], {}  # type: int, list[Reals], dict[str, list[float]]
        self.store: Any = None
        self.watch: Watch | None = None

    @property
    def total(self) -> int:
        """Topic draws in all."""
        return self.warmup + self.wanted * self.thin

    def start(self, first_topics: Callable[[], Reals]) -> None:
        """The first state."""
        self.state = self.engine.begin(first_topics())

    def keep_in(self, folder: Path, every: float, model: Any, documents: Documents) -> None:
        """Checkpoints in a folder; if it has one of this run already, go on from there."""
        from orthodrome.models.sam.store import Store

        self.store = Store(folder, every, model, documents)
        self.store.restore(self)

    def go(self, progress: bool) -> None:
        """To the end."""
        with new_progress(progress) as shown:
            shown.begin("topics", self.total, self.done)
            while self.done < self.total:
                report = self.once()
                self._look(shown)
                shown.update(1, report)
                if self.store is not None and self.store.due():
                    self.store.commit(self)
        if self.store is not None:
            self.store.commit(self)

    def _look(self, shown: Progress) -> None:
        """Now and then, how well the draw predicts."""
        if self.watch is None or (self.done % max(1, self.total // LOOKS) and self.done < self.total):
            return
        value = self.watch(self.state.position)
        self.records.setdefault("log_perplexity", []).append(value)
        self.records.setdefault("log_perplexity_at", []).append(self.done)
        shown.remark = f"log-perplexity {value:,.0f}"

    def once(self) -> Any:
        """One topic draw; kept if it is its turn (beyond the schedule, the oldest is forgotten)."""
        report = self.engine.draw(self.state, max(0.0, 1 - self.done / max(1, self.warmup)))
        self.done += 1
        for name, value in report._asdict().items():
            self.records.setdefault(name, []).append(float(value))
        after = self.done - self.warmup
        if (after > 0 and after % self.thin == 0) or not self.kept:
            self._keep(after)
        return report

    def _keep(self, after: int) -> None:
        if not np.isfinite(self.state.position).all():
            raise Diverged(0, self.done, "the topics are not finite: use a smaller step_size, or leave it to be tuned")
        if after == self.thin or len(self.kept) == self.wanted:
            self.kept = self.kept[1:]  # the first was kept only so that there is one from the beginning
        self.kept.append(self.state.position.astype(self.dtype))

    def exchange(self, documents: Documents, total: int) -> None:
        """Other documents from now on."""
        self.engine.exchange(documents, total)

    def draws(self) -> Reals:
        """(draws, K, V)."""
        return np.stack(self.kept)

    def trace(self) -> dict[str, np.ndarray]:
        """The numbers of every topic draw."""
        return {name: np.array(values) for name, values in self.records.items()}
