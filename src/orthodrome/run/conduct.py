"""Conducting a run: chunk after chunk, and between two chunks everything that is not sampling.

After each chunk, in this order: check that every position is finite and no density infinite, collect the draws, show
progress, write it into the journal, stop early if the rule is satisfied, commit if it is time. Ctrl-C and a request to
stop take effect between chunks.

Several processes meet twice after each chunk: before anything is collected, about its time and whether a number was
unsound, and afterwards, about whether to stop or to commit. So all of them do the same.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import jax
import numpy as np
from jax.sharding import Mesh

import orthodrome.run.parallel as parallel
from orthodrome import doors
from orthodrome.core import trees
from orthodrome.core.garbage import collected_later
from orthodrome.errors import Diverged
from orthodrome.run.ahead import compile_ahead
from orthodrome.run.interrupt import Interruption
from orthodrome.run.journal import Journal
from orthodrome.run.loop import Kept
from orthodrome.run.pace import Pace
from orthodrome.run.progress import Progress
from orthodrome.run.setup import Plan, Setup
from orthodrome.run.stop import Stop, next_look
from orthodrome.samplers.contract import Sampler
from orthodrome.storage.checkpoint import Checkpoint, Standing
from orthodrome.storage.draws import Arrays, named_info, named_leaves
from orthodrome.tuning import Tuner

if TYPE_CHECKING:
    import xarray


class Draws(Protocol):
    """The interface of what collects draws, in memory or on disk."""

    count: dict[str, int]

    def append(self, phase: str, arrays: Arrays, planned: int) -> None:
        """Append draws to a phase that is planned to have `planned` in all."""
        ...

    def read(self, phase: str) -> Arrays:
        """Return all draws of a phase."""
        ...

    def holds(self, name: str) -> bool:
        """Whether there are draws of `group/variable`."""
        ...

    def finish(self, attrs: Mapping[str, Any]) -> None:
        """Write the last draws and the attributes of the run, which is over."""
        ...

    def tree(self) -> xarray.DataTree:
        """Return the draws as a DataTree."""
        ...


class Conductor(NamedTuple):
    """The parts of a run: what draws, what collects the draws, what saves them, and what shows progress."""

    setup: Setup
    plan: Plan
    mesh: Mesh | None
    draws: Draws
    checkpoint: Checkpoint | None
    bar: Progress
    interruption: Interruption
    stop: Stop | None
    team: parallel.Team
    seconds: dict[str, float]
    """How long each phase has taken so far, its compilation included."""
    journal: Journal

    def run(self, standing: Standing) -> tuple[Standing, str]:
        """Carry the run from where it stands to its end; return also why: finished, interrupted, or the rule."""
        with collected_later():
            ahead = compile_ahead(self.setup, self.plan, standing)
        if standing.phase == "warmup":
            self._wait(ahead, "warmup")
            standing, _ = self._phase(standing, self.setup.sampler, self.plan.num_warmup, 0, 1)
            if standing.done < self.plan.num_warmup:
                return standing, "interrupted"
            standing = self._begin_draws(standing)
        with collected_later():
            sampler = self.setup.engine.place_sampler(self.setup.tuned(standing.tuned))
        self._wait(ahead, "draws")
        return self._phase(standing, sampler, self.plan.num_draws, self.plan.num_warmup, self.plan.thin)

    def _wait(self, ahead: dict[str, Future[Any]], phase: str) -> None:
        """Wait for the program of a phase, whose seconds count as those of the phase."""
        began = time.monotonic()
        if phase in ahead:
            ahead.pop(phase).result()
        self.seconds[phase] = time.monotonic() - began

    def _begin_draws(self, standing: Standing) -> Standing:
        with parallel.naming_the_lost():
            tuned = parallel.whole(standing.state) if self.setup.tunes else None
        return Standing("draws", 0, self.setup.inner(standing.state), tuned)

    def _phase(
        self, standing: Standing, sampler: Sampler, planned: int, steps_before: int, thin: int
    ) -> tuple[Standing, str]:
        began = time.monotonic()
        try:
            return self._chunks(standing, sampler, planned, steps_before, thin)
        finally:
            self.seconds[standing.phase] = self.seconds.get(standing.phase, 0.0) + time.monotonic() - began

    def _chunks(
        self, standing: Standing, sampler: Sampler, planned: int, steps_before: int, thin: int
    ) -> tuple[Standing, str]:
        engine = self.setup.engine
        pace = Pace(engine.length, self.team.processes)
        self.bar.begin(standing.phase, planned, standing.done)
        self.journal.begin(standing.phase, standing.done, planned, self._about())
        interrupted = self.team.meet(bool(self.interruption)).any()
        while standing.done < planned and not interrupted:
            phase, done, state, tuned = standing
            count = min(pace.count, planned - done, self._until_look(phase, done))
            pace.start()
            with parallel.naming_the_lost():
                state, kept = engine.advance(sampler, state, steps_before + done * thin, count, thin)
            met = self.team.meet(pace.microseconds(), *first_unsound(kept))
            pace.learn(count, int(met[:, 0].max()))
            self._check_finite(phase, kept, planned, steps_before + done * thin, thin, met[:, 1:])
            if done + steps_before == 0:
                self._check_energy(kept)
            standing = Standing(phase, done + count, state, tuned)
            self._collect(phase, kept, planned)
            self.bar.update(count, kept.info)
            self.journal.chunk(phase, standing.done, planned, kept)
            if self.journal.stop_wanted():
                self.interruption.asked = True
            met = self.team.meet(bool(self.interruption), self.checkpoint is not None and self.checkpoint.due())
            interrupted = met[:, 0].any()
            if self._good_enough(standing):
                return standing, repr(self.stop)
            if self.checkpoint is not None and met[0, 1]:
                self.checkpoint.commit(self.own(standing))
                self.journal.tell("commit", phase=phase, done=standing.done, number=self.checkpoint.number)
        return standing, "interrupted" if standing.done < planned else "finished"

    def own(self, standing: Standing) -> Standing:
        """Return where the run stands with the states of this process's own chains, as NumPy arrays."""
        return standing._replace(state=self.setup.engine.own(standing.state))

    def _about(self) -> dict[str, Any]:
        sampler = self.setup.sampler.sampler if isinstance(self.setup.sampler, Tuner) else self.setup.sampler
        return {"chains": self.plan.num_chains, "sampler": type(sampler).__name__, "seed": self.plan.seed}

    def _collect(self, phase: str, kept: Kept, planned: int) -> None:
        if phase == "draws" or self.plan.keep_warmup:
            self.draws.append(phase, named_rows(phase, kept), planned)
        elif self.plan.keep_warmup_stats:
            self.draws.append(phase, named_rows(phase, kept._replace(position=None)), planned)

    def _until_look(self, phase: str, done: int) -> int:
        return next_look(done) - done if self.stop is not None and phase == "draws" else self.setup.engine.length

    def _good_enough(self, standing: Standing) -> bool:
        if self.stop is None or standing.phase != "draws" or next_look(standing.done - 1) != standing.done:
            return False
        own = {name: a for name, a in self.draws.read("draws").items() if name.startswith("posterior/")}
        if not self.setup.spread:  # all have the same draws, of which the first one may have read them from a disk
            return bool(self.team.meet(self.stop.satisfied(own))[0, 0])
        self.team.meet()
        return self.stop.satisfied({name: self.team.rows(own[name]) for name in sorted(own)})

    def _check_finite(
        self, phase: str, kept: Kept, planned: int, first_step: int, thin: int, unsound: np.ndarray
    ) -> None:
        """Raise on all processes if a number of any of them is unsound; unsound: the first row and chain of each."""
        process = int(np.argmin(unsound[:, 0]))
        row, chain = (int(number) for number in unsound[process])
        if row == SOUND:
            return
        if row:
            self._collect(phase, jax.tree.map(lambda leaf: leaf[:, :row], kept), planned)
        causes = self.team.texts(cause_of(kept, chain, row) if process == self.team.process else "")
        chain += process * len(kept.finite) if self.setup.spread else 0
        raise Diverged(chain, first_step + (row + 1) * thin, causes[process])

    def _check_energy(self, kept: Kept) -> None:
        look = self.setup.look
        if look.logdensity is not None and "acceptance_rate" in kept.info._fields:
            doors.warn_coarse_energy(look.logdensity, trees.real_dtype(self.setup.positions))


SOUND = np.iinfo(np.int64).max
"""The row of the first unsound number where there is none."""


def first_unsound(kept: Kept) -> tuple[int, int]:
    """Return the row and the chain of the first position that is not finite, or whose density is infinite."""
    sound = kept.finite & ~_infinite(kept)
    if np.all(sound):
        return SOUND, 0
    row = int(np.argmin(np.all(sound, axis=0)))
    return row, int(np.argmin(sound[:, row]))


def cause_of(kept: Kept, chain: int, row: int) -> str:
    """Return why a run cannot go on from a draw."""
    if _infinite(kept)[chain, row]:
        return doors.infinite_density(jax.tree.map(lambda leaf: leaf[chain, row], kept.position))
    flags = np.asarray(kept.info._asdict().get("indefinite", np.zeros(kept.finite.shape, bool)))[chain, : row + 1]
    if flags.any():  # a chain that has left the places where it is one may take some steps until it is not finite
        first = row - int(np.argmax(flags))
        where = "the position before the step" if first == 0 else f"a position {first + 1} draws earlier"
        return f"the metric (or D) is not positive definite at {where}; give one that is"
    return "the position is non-finite; try a smaller step size"


def _infinite(kept: Kept) -> np.ndarray:
    found: np.ndarray = np.isposinf(kept.info._asdict().get("lp", np.zeros(kept.finite.shape)))
    return found


def named_rows(phase: str, kept: Kept) -> Arrays:
    """Return the arrays (chain, draw, ...) of a chunk by their names `group/variable`."""
    prefix = "warmup_" if phase == "warmup" else ""
    rows = {f"{prefix}posterior/{name}": values for name, values in named_leaves(kept.position).items()}
    stats = named_info(kept.info) | ({} if kept.distance is None else {"distance": kept.distance})
    return rows | {f"{prefix}sample_stats/{name}": values for name, values in stats.items()}
