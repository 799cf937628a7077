"""Strengths of players: their intervals, the strongest first, and who would beat whom."""

from __future__ import annotations

from typing import Any

import numpy as np

from orthodrome.core.display import short
from orthodrome.report.packing import packed
from orthodrome.report.pictures.labels import array_of
from orthodrome.report.pictures.simplex import ternary
from orthodrome.report.pictures.summaries import LEVELS
from orthodrome.report.section import Section, TableTwin

PAIRED = 80
"""The largest number of players in the matrix of who beats whom."""


def strengths(model: Any) -> list[Section]:
    """Return the sections of a fitted model with `strength` labelled by players."""
    values = model.draws_["posterior"].dataset["strength"]
    draws = array_of(values).reshape(-1, values.shape[-1])
    names = [short(str(name)) for name in values.coords["player"].values]
    order = np.argsort(-draws.mean(axis=0), kind="stable")
    draws, names = draws[:, order], [names[k] for k in order]
    found = [ranking(draws, names), duels(draws[:, :PAIRED], names[:PAIRED])]
    triangle = ternary(values)
    return found if triangle is None else [*found, triangle]


def ranking(draws: np.ndarray, names: list[str]) -> Section:
    """Return the intervals of the strengths, and how sure the ranks are."""
    mean, bounds = draws.mean(axis=0), np.quantile(draws, LEVELS, axis=0).T
    ranks = np.argsort(np.argsort(-draws, axis=1, kind="stable"), axis=1, kind="stable") + 1
    low, high = np.quantile(ranks, (0.05, 0.95), axis=0, method="nearest")
    best = (ranks == 1).mean(axis=0)
    rows = [[names[k], mean[k], bounds[k, 0], bounds[k, 3], low[k], high[k], best[k]] for k in range(len(names))]
    head = ("player", "strength", "5 %", "95 %", "best rank (5 %)", "worst rank (95 %)", "probability of being best")
    group = {"name": "strength", "note": "", "names": names, "mean": mean, "bounds": bounds}
    text = "Dots are posterior means; thick lines hold half of the draws, thin ones 90 per cent. Strengths sum to one."
    return Section("intervals", "Strengths", text, {"groups": [group]}, TableTwin("Strengths and ranks", head, rows))


def duels(draws: np.ndarray, names: list[str]) -> Section:
    """Return the matrix of probabilities that one player beats another."""
    chance = np.stack([np.mean(draws[:, [k]] / (draws[:, [k]] + draws), axis=0) for k in range(len(names))])
    rows = [[names[i], names[j], chance[i, j]] for i in range(len(names)) for j in range(len(names)) if i != j]
    table = TableTwin("Probability that one beats another", ("player", "against", "probability"), rows)
    data = {
        "matrices": [{"name": "Row beats column", "values": packed(np.clip(chance, 0, 1))}],
        "names": names,
        "what": "the probability that the player of the row wins",
    }
    text = "The posterior probability that the player of a row beats the player of a column, the strongest first."
    return Section("heatmap", "Who beats whom", text, data, table)
