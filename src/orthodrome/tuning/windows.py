"""When the warm-up of an exact sampler does what: its windows, what is measured last, and the meetings of devices.

Everything here follows from the number of transitions so far (`step`) and from the length of the warm-up (`of`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp
from jax import Array

from orthodrome.core.types import Setting

WINDOWS = (5, 15, 30, 60)
"""The ends of the windows, in per cent of the warm-up."""
MEASURE = 75
"""Where the measurement of trajectories begins, in per cent of the warm-up."""
SETTLED = 65
"""Where the depths of trees begin to be counted, in per cent of the warm-up: the step has settled after its restart."""
EXCHANGE = 50
"""Devices meet after every so many transitions, wherever they are: often enough for dual averaging, whose memory is a
window, and so rarely that a meeting, some 0.1 to 1 ms, costs little beside the transitions."""


def ends_window(step: Array, of: Setting) -> Array:
    """Return whether a window ends after so many transitions."""
    return jnp.any(step == jnp.asarray(_ends(of), jnp.int32))


def measures(step: Array, of: Setting) -> Array:
    """Return whether trajectories are measured."""
    return 100 * step >= MEASURE * of


def counts_depths(step: Array, of: Setting) -> Array:
    """Return whether the depths of trees are counted."""
    return (100 * step >= SETTLED * of) & ~measures(step, of)


def until_meeting(step: Array, of: Setting) -> Array:
    """Return how many transitions there are to the next meeting, where a part of the warm-up ends or at a fiftieth."""
    return until(step, [*_ends(of), -(-MEASURE * of // 100), of])


def until(step: Array, ends: Sequence[Any]) -> Array:
    """Return how many transitions there are to the next of some numbers of transitions, or to the next multiple of
    EXCHANGE."""
    later = jnp.asarray(ends, jnp.int32)
    left = jnp.where(later > step, later - step, EXCHANGE)
    return jnp.minimum(jnp.min(left), EXCHANGE - step % EXCHANGE)


def _ends(of: Setting) -> list[Any]:
    return [of * w // 100 for w in WINDOWS]
