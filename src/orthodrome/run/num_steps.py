"""How many words a transition of a stochastic sampler should have: from measured temperature and autocorrelation.

Liu, Zhu & Song (2016) leave L, the number of inner steps of a draw, to the user. It has two effects. The draws that are
kept are L words apart, so a large L stores fewer and less dependent ones. And if one batch serves all words of a
transition (`reuse_batch`, the algorithms as printed), its noise adds up over them and heats the chain, the more the
larger L is (erratum c-3). So L is doubled from 1, with a short run for each, until neighbouring draws have forgotten
half of each other, the lag-one autocorrelation of the slowest number being at most FORGOTTEN; and never so far that the
kinetic temperature is more than HOTTER above that of single words.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from orthodrome.core.pytree import replace
from orthodrome.core.types import Reals
from orthodrome.errors import BadInput
from orthodrome.run.sample import sample
from orthodrome.samplers.contract import Sampler

FORGOTTEN, HOTTER = 0.5, 0.05
"""The autocorrelation of neighbouring draws to reach, and the relative rise of the temperature that is allowed."""
LOOKED_AT = 500
"""The largest number of parameters whose autocorrelations are computed, evenly spaced."""


class NumStepsTrial(NamedTuple):
    """What a short run with one number of steps showed."""

    num_steps: int
    temperature: float
    autocorrelation: float


class NumStepsChoice(NamedTuple):
    """The sampler with the chosen number of steps, the number, and what was seen of all that were tried."""

    sampler: Any
    num_steps: int
    trials: tuple[NumStepsTrial, ...]


def choose_num_steps(
    sampler: Sampler,
    start: Any,
    *,
    seed: int,
    num_chains: int = 4,
    num_warmup: int = 500,
    num_draws: int = 300,
    most: int = 64,
) -> NumStepsChoice:
    """Return a stochastic sampler with the number of words in a transition that short runs suggest.

    sampler: one with `num_steps` and a temperature, such as `SGGMC` or `GSGNHT`
    start, seed, num_chains, num_warmup, num_draws: of each short run, as in `sample`
    most: the largest number to try
    """
    if not hasattr(sampler, "num_steps") or sampler.adjusted:
        raise BadInput(f"{type(sampler).__name__} has no num_steps to choose; give SGGMC, GSGNHT or a similar sampler")
    if most < 1:
        raise BadInput(f"most is {most}; it must be at least 1")
    run: dict[str, Any] = {
        "num_chains": num_chains,
        "num_warmup": num_warmup,
        "num_draws": num_draws,
        "progress": False,
        "check": False,
    }
    trials: list[NumStepsTrial] = []
    count = 1
    while count <= most:
        tree = sample(replace(sampler, num_steps=count), start, seed=seed, **run)
        heat = float(np.mean(np.asarray(tree["sample_stats"]["temperature"])))
        trials.append(NumStepsTrial(count, heat, slowest(tree)))
        if heat > (1 + HOTTER) * trials[0].temperature or trials[-1].autocorrelation <= FORGOTTEN:
            break
        count *= 2
    chosen = best_trial(trials).num_steps
    return NumStepsChoice(replace(sampler, num_steps=chosen), chosen, tuple(trials))


def best_trial(trials: list[NumStepsTrial]) -> NumStepsTrial:
    """Return the trial with the smallest autocorrelation among those that are not too hot."""
    cool = [trial for trial in trials if trial.temperature <= (1 + HOTTER) * trials[0].temperature]
    return min(cool, key=lambda trial: (trial.autocorrelation, trial.num_steps))


def slowest(tree: Any) -> float:
    """Return the largest lag-one autocorrelation of the numbers of a run, about the mean of all chains."""
    found = []
    for values in tree["posterior"].dataset.data_vars.values():
        flat = np.asarray(values, float).reshape(*values.shape[:2], -1)
        chosen = np.unique(np.linspace(0, flat.shape[2] - 1, min(LOOKED_AT, flat.shape[2])).astype(int))
        found.append(lag_one(flat[:, :, chosen]))
    return float(np.max(np.concatenate(found)))


def lag_one(values: Reals) -> Reals:
    """Return the lag-one autocorrelation of each number (chain, draw, number); 0 for one that never moves."""
    off = values - values.mean(axis=(0, 1))
    variance = np.mean(off * off, axis=(0, 1))
    return np.where(
        variance > 0, np.mean(off[:, 1:] * off[:, :-1], axis=(0, 1)) / np.where(variance > 0, variance, 1), 0.0
    )
