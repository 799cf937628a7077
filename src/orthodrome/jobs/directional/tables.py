"""The tables of a law of directions: mean directions in the user's coordinates, every number, and the rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from orthodrome.jobs.directional.data import DirectionRows
from orthodrome.jobs.directional.job import MIXTURES, DirectionalJob
from orthodrome.jobs.sampled.result import NamedTable
from orthodrome.models.directional import Directional

CONE = 0.95
"""The share of the draws inside the cone about a mean direction."""


def directions(job: DirectionalJob, model: Directional) -> NamedTable:
    """Return mean directions and axes with the angle, in degrees, inside which 95 % of their draws are."""
    posterior = model.draws_["posterior"].dataset
    width = model.x_.shape[-1]
    head = ("what", *coordinates(width), *(f"x_{k}" for k in range(width)), f"cone_{round(100 * CONE)}_degrees")
    rows: list[list[Any]] = []
    if "mean" in posterior:
        draws, best = np.asarray(posterior["mean"], float), model.estimate_["mean"]
        for index in np.ndindex(best.shape[:-1]):
            rows.append(direction(f"mean{label(index)}", best[index], draws[(..., *index, slice(None))], job, False))
    if "axes" in posterior:
        draws, best = np.asarray(posterior["axes"], float), model.estimate_["axes"]
        for k in range(best.shape[-1]):
            rows.append(direction(f"axis {k}", best[:, k], draws[..., k], job, True))
    return NamedTable(head, rows)


def coordinates(width: int) -> tuple[str, ...]:
    """Return the names of the angles of a direction."""
    return {2: ("angle",), 3: ("latitude_degrees", "longitude_degrees")}.get(width, ())


def direction(name: str, best: np.ndarray, draws: np.ndarray, job: DirectionalJob, axis: bool) -> list[Any]:
    """Return a row: the direction in the user's coordinates, as a vector, and its cone."""
    cosine = draws @ (best / np.linalg.norm(best))
    spread = np.degrees(np.arccos(np.clip(np.abs(cosine) if axis else cosine, -1, 1)))
    angles: list[float] = []
    if len(best) == 2:
        turn = np.pi if axis else 2 * np.pi
        angles = [float(np.mod(np.arctan2(best[1], best[0]), turn) / job.unit)]
    elif len(best) == 3:
        longitude = np.degrees(np.arctan2(best[1], best[0])) % 360
        angles = [float(np.degrees(np.arcsin(np.clip(best[2], -1, 1)))), float(longitude)]
    return [name, *angles, *map(float, best), float(np.quantile(spread, CONE))]


def label(index: tuple[int, ...]) -> str:
    """Return the place of a number in its variable."""
    return f"[{','.join(map(str, index))}]" if index else ""


def parameters(model: Directional) -> NamedTable:
    """Return every number of the posterior that is no coordinate of a direction, with its 90 % interval."""
    rows: list[list[Any]] = []
    for name, values in model.draws_["posterior"].dataset.data_vars.items():
        if name in ("mean", "axes"):
            continue
        draws = np.asarray(values, float)
        for index in np.ndindex(draws.shape[2:]):
            one = draws[(..., *index)]
            low, high = np.quantile(one, (0.05, 0.95))
            rows.append([f"{name}{label(index)}", float(one.mean()), float(one.std()), float(low), float(high)])
    return NamedTable(("parameter", "mean", "sd", "low", "high"), rows)


def rows_table(job: DirectionalJob, data: DirectionRows, model: Directional) -> NamedTable:
    """Return the log density of every row, and the probabilities of a mixture's components."""
    values = data.values(job.kind)
    density = model.score_samples(values)
    share = model.predict_proba(values) if job.fitted_law in MIXTURES else np.zeros((len(density), 0))
    head = ("row", "log_density", *(f"component_{k}" for k in range(share.shape[1])))
    return NamedTable(head, [[n, float(density[n]), *map(float, share[n])] for n in range(len(density))])
