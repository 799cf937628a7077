"""The settings of SGGMC and gSGNHT, from the parameters of `SAM` or as published, and the authors' of other methods."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

from orthodrome.models.sam.proportions import Sweep

PUBLISHED = {"20news": (1e-2, 1e-2), "wikipedia": (1e-1, 5e-1)}
"""gamma and rho of the paper's two experiments (erratum 3.2)."""
PUBLISHED_STEP = 1e-6
"""Of the proportions."""


class AuthorsGMC(NamedTuple):
    """The authors' settings of a GMC method: leapfrogs and step of the topics; burn-in and draws of the proportions."""

    num_steps: int
    step_size: float
    burn_in: int
    kept: int


PUBLISHED_GMC = {
    ("gmc-apprmh", "20news"): AuthorsGMC(1, 1e-4, 15, 10),
    ("gmc-apprmh", "wikipedia"): AuthorsGMC(1, 5e-5, 5, 10),
    ("gmc-bgibbs", "20news"): AuthorsGMC(5, 2e-5, 15, 1),
    ("gmc-bgibbs", "wikipedia"): AuthorsGMC(5, 5e-6, 10, 1),
}
"""Erratum 3.2. The proportions begin anew by least squares in every iteration (erratum c-5)."""
PUBLISHED_FORGETTING = {"20news": 0.8, "wikipedia": 1.0}
"""The exponent of the authors' stochastic variational inference (erratum 3.7)."""


@dataclass(frozen=True)
class ChainSettings:
    """The settings of a chain; those that are None are tuned.

    compensate: take the gradient's own noise from the noise to inject
    warm_start: proportions go on from a document's last visit; remember: variance reduction (`Memory`)
    """

    batch_size: int
    num_steps: int
    step_size: float | None
    friction: float | None
    thermostat: bool
    thermostat_mass: float | None
    reuse_batch: bool
    compensate: bool
    sweep: Sweep
    proportion_step: float | None
    warm_start: bool
    remember: bool


def settings_of(model: Any, num_documents: int) -> ChainSettings:
    """Return the settings that the parameters of a model ask for."""
    size = num_documents if model.batch_size is None else min(int(model.batch_size), num_documents)
    if model.published:
        return published_settings(model, size, num_documents)
    flat = model.proportion_space == "flat"
    return ChainSettings(
        batch_size=size,
        num_steps=model.num_steps,
        step_size=model.step_size,
        friction=model.friction,
        thermostat=model.method == "gsgnht",
        thermostat_mass=None,
        reuse_batch=False,
        compensate=True,
        sweep=Sweep(model.proportion_warmup, model.proportion_draws, model.proportion_steps, flat),
        proportion_step=None,
        warm_start=True,
        remember=model.variance_reduction,
    )


def data_set(model: Any) -> str:
    """Return the data set whose published settings a model asks for; True stands for the first."""
    return "20news" if model.published is True else str(model.published)


def published_settings(model: Any, size: int, num_documents: int) -> ChainSettings:
    """Return the published settings (erratum 3.2): eps = sqrt(gamma / D), C = rho / eps, one batch for all inner steps,
    V = 0, and proportions that hardly move."""
    gamma, rho = PUBLISHED[data_set(model)]
    step = math.sqrt(gamma / num_documents) if model.step_size is None else model.step_size
    return ChainSettings(
        batch_size=size,
        num_steps=model.num_steps,
        step_size=step,
        friction=rho / step if model.friction is None else model.friction,
        thermostat=model.method == "gsgnht",
        thermostat_mass=1.0,
        reuse_batch=True,
        compensate=False,
        sweep=Sweep(40, 20, 10, True),
        proportion_step=PUBLISHED_STEP,
        warm_start=False,
        remember=False,
    )
