"""From the parameters of `SAM` to the plan of a chain: defaults by method, and the published settings by name."""

from __future__ import annotations

import math
from typing import Any

from orthodrome.errors import BadInput
from orthodrome.models.sam_proportions import Sweep
from orthodrome.models.sam_stochastic import Plan

METHODS = ("sggmc", "gsgnht", "gmc-apprmh", "gmc-bgibbs", "vi", "stovi")
STOCHASTIC, EXACT, VARIATIONAL = METHODS[:2], METHODS[2:4], METHODS[4:]
ROWS = ("unit", "normalize", "counts")
SPACES = ("sphere", "flat")

PUBLISHED_RATE, PUBLISHED_MOMENTUM, PUBLISHED_STEP = 1e-2, 1e-2, 1e-6
"""gamma, rho and the step of the proportions on 20News-different (erratum 3.2)."""


def check_settings(model: Any) -> None:
    """Refuse what cannot be right, before anything is computed."""
    choices = (("method", METHODS), ("rows", ROWS), ("proportion_space", SPACES))
    for name, allowed in choices:
        if getattr(model, name) not in allowed:
            raise BadInput(f"{name} is {getattr(model, name)!r}; it must be one of {', '.join(map(repr, allowed))}")
    counts = ("n_components", "num_draws", "thin", "num_steps", "proportion_draws", "proportion_steps")
    for name in counts:
        if int(getattr(model, name)) < 1:
            raise BadInput(f"{name} is {getattr(model, name)!r}; it must be at least 1")
    positive = ("corpus_concentration", "topic_concentration", "document_concentration", "doc_topic_prior")
    for name in (*positive, "step_size", "friction"):
        value = getattr(model, name)
        if value is not None and not (math.isfinite(value) and value > 0):
            raise BadInput(f"{name} is {value!r}; it must be a positive number")
    if model.doc_topic_prior is not None and model.doc_topic_prior < 1:
        raise BadInput(
            f"doc_topic_prior is {model.doc_topic_prior}; below 1 the density of the proportions has poles at the "
            "walls, where Hamiltonian moves go wrong: use 1 or more"
        )


def plan_of(model: Any, num_documents: int) -> Plan:
    """The settings of SGGMC or gSGNHT."""
    size = num_documents if model.batch_size is None else min(int(model.batch_size), num_documents)
    if model.published:
        return published_plan(model, size, num_documents)
    flat = model.proportion_space == "flat"
    return Plan(
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


def published_plan(model: Any, size: int, num_documents: int) -> Plan:
    """Erratum 3.2: eps = sqrt(gamma / D), C = rho / eps, one batch for all inner steps, V = 0, theta hardly moving."""
    step = math.sqrt(PUBLISHED_RATE / num_documents) if model.step_size is None else model.step_size
    return Plan(
        batch_size=size,
        num_steps=model.num_steps,
        step_size=step,
        friction=PUBLISHED_MOMENTUM / step if model.friction is None else model.friction,
        thermostat=model.method == "gsgnht",
        thermostat_mass=1.0,
        reuse_batch=True,
        compensate=False,
        sweep=Sweep(40, 20, 10, True),
        proportion_step=PUBLISHED_STEP,
        warm_start=False,
        remember=False,
    )
