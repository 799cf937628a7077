"""Where the chains of a law on the torus start: at the tops that count, found by climbing from many points.

The law of a pair of angles is a curved exponential family (its coupling is one number of a 2 x 2 matrix), so rows in
several groups give its likelihood several tops. The mean directions may lie in the basin of one that is tens of nats
below the best, and then all chains that start there agree on it. So `CLIMBS` candidates are climbed by BFGS in the
chart

    (a_1, a_2, log k_1, log k_2, c),    height = log posterior + log k_1 + log k_2

half from near the mean directions of the rows, half from anywhere on the torus. Tops within `NEAR` of the highest are
taken by the chains in turns: if there are several, the chains disagree, and are drawn again with tempering.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from orthodrome.core.types import Reals
from orthodrome.models.directional.family import Family, Parameters

CLIMBS = 40
NEAR = 10.0
"""Tops further below have less than 1e-4 of the mass of the highest, if they are equally wide; twenty times as much if
they are twice as wide in every direction but one."""
SAME = 0.05
"""Tops of the same height whose parameters differ by less than this are one."""
DIMENSION = 5
LOOKS, SHORTEST = 150, 1e-4
"""Evaluations of a climb, and the share of a step that is not cut further."""
HIGH = np.array([np.inf, np.inf, 12.0, 12.0, 1e5])
LOW = np.array([-np.inf, -np.inf, -6.0, -6.0, -1e5])
"""The part of the chart in which is climbed."""


def near_tops(family: Family, data: dict[str, Any], starts: list[Parameters], seed: int) -> list[Parameters]:
    """Return a start for each chain, near a top of the log posterior that counts.

    data: of the family's target; starts: near the mean directions, one for each chain
    """
    rng = np.random.default_rng([seed, len(starts), CLIMBS])
    tops = distinct(*climbed(family, data, candidates(starts, rng)))
    if not tops:
        return starts  # no finite height anywhere: the run says what is wrong with its start
    return [moved(tops[chain % len(tops)], rng) for chain in range(len(starts))]


def candidates(starts: list[Parameters], rng: np.random.Generator) -> Reals:
    """Return points of the chart: near the starts, with couplings of either sign, and anywhere on the torus."""
    found = []
    for k in range(CLIMBS):
        if k % 2:
            angles, logs = rng.uniform(-np.pi, np.pi, 2), rng.normal(size=2)
        else:
            start = starts[k // 2 % len(starts)]
            angles = np.arctan2(start["mean"][:, 1], start["mean"][:, 0]) + 0.1 * rng.normal(size=2)
            logs = np.log(start["concentration"]) + 0.3 * rng.normal(size=2)
        found.append(np.array([*angles, *logs, np.exp(logs.min()) * rng.normal()]))
    return np.clip(found, LOW, HIGH)


def climbed(family: Family, data: dict[str, Any], starts: Reals) -> tuple[Reals, Reals]:
    """Return the heights and the places of the tops above some points, by BFGS from all of them at once.

    A step is at most one long in the chart. One that does not climb is cut to a quarter; if that no longer helps, what
    was learnt of the curvature is forgotten.
    """
    height = lambda chart: tuple(np.asarray(part, float) for part in heights(family, chart, data))
    place, inverse, share = starts, forgotten(len(starts)), np.ones(len(starts))
    level, slope = height(place)
    for _ in range(LOOKS):
        step = np.einsum("nij,nj->ni", inverse, slope)
        step *= (share / np.maximum(1, np.linalg.norm(step, axis=1)))[:, None]
        there, slope_there = height(new := np.clip(place + step, LOW, HIGH))
        higher = there > level  # never of what is not a number
        inverse[higher] = curved(inverse, new - place, slope - slope_there)[higher]
        place, slope = np.where(higher[:, None], (new, slope_there), (place, slope))
        level, share = np.where(higher, there, level), np.where(higher, 1.0, share / 4)
        stuck = share < SHORTEST
        inverse[stuck], share[stuck] = forgotten(int(stuck.sum())), 1.0
    return level, place


def curved(inverse: Reals, step: Reals, change: Reals) -> Reals:
    """Return the inverse Hessians after steps that changed the downward gradients so much; as they were where these
    changes do not agree with a top."""
    along = np.einsum("ni,ni->n", step, change)
    rho = np.where(along > 1e-10, 1 / np.maximum(along, 1e-10), 0.0)
    keep = np.eye(DIMENSION) - rho[:, None, None] * step[:, :, None] * change[:, None, :]
    new = keep @ inverse @ keep.swapaxes(1, 2) + rho[:, None, None] * step[:, :, None] * step[:, None, :]
    return np.where((rho > 0)[:, None, None], new, inverse)


def forgotten(count: int) -> Reals:
    """Return inverse Hessians of nothing known: steps along the gradient, cut to their longest."""
    return np.broadcast_to(np.eye(DIMENSION), (count, DIMENSION, DIMENSION)).copy()


@partial(jax.jit, static_argnums=0)
def heights(family: Family, charts: Array, data: dict[str, Any]) -> tuple[Array, Array]:
    """Return the log posterior at some points of the chart, and its gradients."""
    law = lambda c: family.logdensity(parameters(c), data) + c[2] + c[3]
    return jax.vmap(jax.value_and_grad(law))(charts)


def parameters(chart: Any) -> Parameters:
    """Return the parameters of a point of the chart."""
    mean = jnp.stack([jnp.cos(chart[:2]), jnp.sin(chart[:2])], axis=1)
    return {"mean": mean, "concentration": jnp.exp(chart[2:4]), "coupling": chart[4]}


def distinct(levels: Reals, places: Reals) -> list[Reals]:
    """Return the different places of the tops that count, the highest first."""
    finite = np.flatnonzero(np.isfinite(levels))
    found: list[int] = []
    for k in finite[np.argsort(-levels[finite], kind="stable")]:
        again = any(levels[k] > levels[j] - SAME and far(places[k], places[j]) < SAME for j in found)
        if not again and levels[k] >= levels[finite].max() - NEAR:
            found.append(k)
    return [places[k] for k in found]


def far(one: Reals, other: Reals) -> float:
    """Return how far apart two points of the chart are: angles, logs of concentrations, couplings relative to them."""
    angles = np.angle(np.exp(1j * (one[:2] - other[:2])))
    coupling = (one[4] - other[4]) / (1 + abs(one[4]))
    return float(max(np.abs(angles).max(), np.abs(one[2:4] - other[2:4]).max(), abs(coupling)))


def moved(top: Reals, rng: np.random.Generator) -> Parameters:
    """Return parameters close to a top, so that no two chains start at the same point."""
    spread = np.array([0.05, 0.05, 0.1, 0.1, 0.05 * np.exp(top[2:4].min())])
    return {name: np.asarray(value) for name, value in parameters(top + spread * rng.normal(size=5)).items()}
