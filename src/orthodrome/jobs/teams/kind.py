"""Strengths from contests: the model, its tables and its figure."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from orthodrome.jobs import fitting
from orthodrome.jobs.fit_folder import FitFolder
from orthodrome.jobs.sampled.kind import Fitted, SampledFitting, folder_of
from orthodrome.jobs.sampled.result import NamedTable
from orthodrome.jobs.teams.data import Contests, read_contests
from orthodrome.jobs.teams.job import TeamsJob, check_job
from orthodrome.models.comparison import PairedComparison

if TYPE_CHECKING:
    from rich.console import Console

FITS = folder_of(TeamsJob, "compare-teams", "comparison", ("strengths", "contests"), ("strengths",))
MOST_PAIRS = 100
"""Players, the strongest first, of whom every pair is in the table of contests."""


class TeamsFitting(SampledFitting[TeamsJob, Contests]):
    """Strengths of players from who beat whom."""

    @property
    def fits(self) -> FitFolder[TeamsJob]:
        return FITS

    def check(self, job: TeamsJob) -> None:
        check_job(job)

    def plain(self, data: Contests) -> dict[str, Any]:
        return data._asdict()

    def data(self, content: dict[str, Any]) -> Contests:
        return Contests(**content)

    def announcement(self, job: TeamsJob, data: Contests) -> str:
        return f"{sum(data.counts):,g} contests of {len(data.players):,} players; {job.method}, {job.num_chains} chains"

    def fitted(self, job: TeamsJob, data: Contests, progress: bool, saving: dict[str, Any]) -> PairedComparison:
        names = ("concentration", "space", "method", "num_chains", "num_warmup", "num_draws", "dtype")
        settings: dict[str, Any] = {name: getattr(job, name) for name in names}
        return PairedComparison(**settings, random_state=job.seed, progress=progress).fit(data.rows, **saving)

    def tables(self, job: TeamsJob, data: Contests, model: PairedComparison) -> dict[str, NamedTable]:
        strength = np.asarray(model.draws_["posterior"]["strength"], float)
        flat = strength.reshape(-1, strength.shape[-1])
        return {"strengths": strengths(model, flat, data), "contests": contests(model, flat)}

    def numbers(self, job: TeamsJob, data: Contests, model: PairedComparison) -> dict[str, float]:
        return {"players": len(model.players_), "contests": sum(data.counts)}

    def figures(self, model: PairedComparison) -> dict[str, Any]:
        from orthodrome.plots.strengths import plot_strengths

        return {"strengths": plot_strengths(model)}


KIND = TeamsFitting()


def fit(job: TeamsJob, path: Path, folder: Path, console: Console, progress: bool = True) -> Fitted:
    """Fit the contests of a file in a new folder."""
    return fitting.fit(KIND, job, lambda: read_contests(job, path), folder, console, progress)


def strengths(model: PairedComparison, flat: np.ndarray, data: Contests) -> NamedTable:
    """Return a row per player, the strongest first: strength with its 90 % interval, rank, wins and losses."""
    order = np.argsort(-model.mean_, kind="stable")
    low, high = np.quantile(flat, (0.05, 0.95), axis=0)
    ranks = 1 + np.argsort(np.argsort(-flat, axis=1), axis=1)
    lowest, highest = np.quantile(ranks, (0.05, 0.95), axis=0, method="nearest")
    won, lost = (counted(sides, data.counts) for sides in (data.winners, data.losers))
    head = ("player", "strength", "sd", "low", "high", "rank_low", "rank_high", "best", "won", "lost")
    best = np.mean(ranks == 1, axis=0)
    rows: list[list[Any]] = []
    for i in order:
        name = model.players_[i]
        weights = [float(v[i]) for v in (model.mean_, model.sd_, low, high)]
        places = [int(lowest[i]), int(highest[i]), float(best[i])]
        rows.append([str(name), *weights, *places, won.get(name, 0.0), lost.get(name, 0.0)])
    return NamedTable(head, rows)


def counted(sides: list[list[str]], counts: list[float]) -> dict[str, float]:
    """Return how often each name is on a side."""
    found: dict[str, float] = {}
    for side, count in zip(sides, counts, strict=True):
        for name in side:
            found[name] = found.get(name, 0.0) + count
    return found


def contests(model: PairedComparison, flat: np.ndarray) -> NamedTable:
    """Return the probability that one player beats another, of every pair of the strongest."""
    order = np.argsort(-model.mean_, kind="stable")[:MOST_PAIRS]
    rows = []
    for n, i in enumerate(order):
        for j in order[n + 1 :]:
            chance = flat[:, i] / np.maximum(flat[:, i] + flat[:, j], 1e-300)
            low, high = np.quantile(chance, (0.05, 0.95))
            rows.append([str(model.players_[i]), str(model.players_[j]), float(chance.mean()), float(low), float(high)])
    return NamedTable(("player", "other", "probability", "low", "high"), rows)
