"""The study of Fig. 2: the best step of every method at every batch size, the figure, and what is claimed of both."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from orthodrome.core.types import Reals
from orthodrome.diagnostics.ks_distance import ks_distance
from orthodrome.experiments.support.contract import Claim, Context
from orthodrome.experiments.support.scir import dirichlet
from orthodrome.experiments.support.scir.dirichlet import GRIDS, ROWS, Best, Problem
from orthodrome.plots.style import BLUE, GREY, ORANGE, new_figure

SEEDS = (5, 6, 7, 8, 9)
BATCHES = (1, 10, 50, 100, 500)
COLOURS = dict(zip(GRIDS, (BLUE, ORANGE, GREY), strict=True))


class Study(NamedTuple):
    """The best runs by method and batch size, the distances of exact draws, the problems, and a row for every run."""

    best: dict[tuple[str, int], Best]
    exact: Reals
    exact_draws: list[Reals]
    problems: list[Problem]
    table: list[dict[str, Any]]

    def mean(self, method: str, batch_size: int) -> float:
        """Return the mean distance over seeds of a method's best step."""
        return float(self.best[method, batch_size].distances.mean())


def study(context: Context, sparse: bool) -> Study:
    """Run all grids: five seeds and batch sizes at `paper` scale, two seeds and three batch sizes at `quick`."""
    seeds, batches = context.pick(quick=(SEEDS[:2], (10, 100, 500)), paper=(SEEDS, BATCHES))
    problems = [dirichlet.problem(sparse, seed) for seed in seeds]
    best, table = {}, []
    for method in GRIDS:
        for n in batches:
            best[method, n], rows = dirichlet.best_of_grid(method, n, problems, context.seed)
            table += rows
    draws = dirichlet.exact_draws(problems, context.seed)
    exact = np.array([ks_distance(d, p.concentration) for d, p in zip(draws, problems, strict=True)])
    return Study(best, exact, draws, problems, table)


def batches_of(found: Study) -> list[int]:
    """Return the batch sizes of a study."""
    return sorted({n for _, n in found.best})


def best_rows(found: Study) -> list[dict[str, Any]]:
    """Return the curves of Fig. 2 as rows."""
    ribbon = lambda d: {"mean": d.mean(), "lowest": d.min(), "highest": d.max()}
    rows = [
        {"method": b.method, "batch_size": n, "fraction": n / ROWS, "best_step": b.step_size, **ribbon(b.distances)}
        for (_, n), b in found.best.items()
    ]
    exact = [{"method": "exact", "batch_size": ROWS, "fraction": 1.0, "best_step": "", **ribbon(found.exact)}]
    return rows + exact


def figure2(found: Study, title: str) -> Any:
    """Draw distance against the fraction of the data in a batch, with the range over seeds."""
    figure, axes = new_figure(1, 1, size=(4.2, 3.0))
    axis, n = axes[0, 0], np.array(batches_of(found))
    for method, colour in COLOURS.items():
        runs = np.array([found.best[method, k].distances for k in n])
        axis.plot(n / ROWS, runs.mean(axis=1), color=colour, marker="o", ms=3, label=method)
        axis.fill_between(n / ROWS, runs.min(axis=1), runs.max(axis=1), color=colour, alpha=0.25, lw=0)
    axis.axhline(found.exact.mean(), color="black", lw=0.8, ls="--", label="exact draws")
    axis.set(xscale="log", xlabel="fraction of the data in a batch", ylabel="d_KS", ylim=(0, None), title=title)
    figure.legend(loc="outside lower center", ncols=2, fontsize=7, frameon=False)
    return figure


def exact_claim(found: Study) -> Claim:
    """Claim the distance of exact draws."""
    value = float(found.exact.mean())
    text = "1000 independent exact draws have a distance of about 0.027"
    return Claim("dks-exact", text, 0.027, value, abs(value - 0.027) < 0.006)


def by_batch(found: Study, method: str) -> dict[int, float]:
    """Return the mean distances of a method by batch size."""
    return {n: round(found.mean(method, n), 4) for n in batches_of(found)}
