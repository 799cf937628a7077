"""Where a warm-up stands, as far as a transition that may be measured has to know."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from jax import Array


class Stage(NamedTuple):
    """Where a warm-up stands.

    step: transitions so far
    measuring: whether trajectories are measured
    settled: whether the depths of trees are counted
    log_step: the log of the step that dual averaging has found
    steps: the steps of the leaves with it
    room: the factor by which they may still grow
    mean: returns the average over the chains of the device
    common: returns a number that is the same in all of them in a form that is known to be so
    """

    step: Array
    measuring: Array
    settled: Array
    log_step: Array
    steps: Any
    room: Array
    mean: Callable[[Array], Array]
    common: Callable[[Array], Array]
