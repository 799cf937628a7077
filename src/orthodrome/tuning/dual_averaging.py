"""Nesterov's dual averaging of the log step size toward a target acceptance rate (Hoffman & Gelman 2014, section 3.2).

    log h_t = mu - sqrt(t) / gamma * mean error,      log hbar_t = t^-k log h_t + (1 - t^-k) log hbar_{t-1},

with their gamma = 0.05, k = 0.75 and an offset of 10. On a compact space a nearly uniform law accepts everything and
would send the step to infinity; a ceiling stops it.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax.numpy as jnp
from jax import Array

GAMMA, POWER, OFFSET = 0.05, 0.75, 10.0
"""gamma, k and the offset of Hoffman & Gelman (2014)."""


Real = Any
"""A number of JAX or of NumPy, whose operators are the same."""


class DualAveraging(NamedTuple):
    """The state of dual averaging.

    anchor: mu
    error: the mean error of the acceptance rate so far
    log_step, log_average: the current and the averaged log step
    updates: the number of updates
    """

    anchor: Array
    error: Array
    log_step: Array
    log_average: Array
    updates: Array


def start(log_step: Real, xp: Any = jnp) -> DualAveraging:
    """Start at a log step, with mu at ten times that step: large steps are cheap to try.

    xp: the library of the arrays, JAX's or NumPy
    """
    zero = xp.zeros_like(log_step)
    return DualAveraging(log_step + xp.log(10.0).astype(log_step.dtype), zero, log_step, log_step, zero)


def update(state: DualAveraging, error: Real, ceiling: Real, xp: Any = jnp) -> DualAveraging:
    """Update by one error = target - observed acceptance rate; the log step stays below the ceiling."""
    count = state.updates + 1
    weight = 1 / (count + OFFSET)
    mean_error = (1 - weight) * state.error + weight * error
    log_step = xp.minimum(state.anchor - xp.sqrt(count) / GAMMA * mean_error, ceiling)
    forget = count**-POWER
    log_average = forget * log_step + (1 - forget) * state.log_average
    return DualAveraging(state.anchor, mean_error, log_step, log_average, count)
