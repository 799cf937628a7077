"""Step sizes and temperatures that change during a run, as functions of the number of the transition.

Any function of one number will do (an optax schedule is one); the classes here are frozen and compare by value, so that
two equal schedules share a compiled program.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import jax.numpy as jnp

Schedule = Callable[[Any], Any]


@dataclasses.dataclass(frozen=True)
class Constant:
    """A schedule with the same value at every transition.

    value: that value
    """

    value: float

    def __call__(self, step: Any) -> Any:
        return self.value + 0 * step


@dataclasses.dataclass(frozen=True)
class Polynomial:
    """A polynomially decreasing schedule, first (1 + t / scale)^(-power).

    first: the value at t = 0
    scale: the number of transitions after which the decrease sets in
    power: 1/(K + 1) gives the least bias with an integrator of order K
    """

    first: float
    scale: float = 1.0
    power: float = 0.5

    def __call__(self, step: Any) -> Any:
        return self.first * (1 + step / self.scale) ** (-self.power)


@dataclasses.dataclass(frozen=True)
class WellingTeh:
    """The schedule a (b + t)^(-gamma) of Welling & Teh (2011).

    a, b: the scale and the shift
    gamma: the exponent; with 1/2 < gamma <= 1 the steps sum to infinity and their squares do not
    """

    a: float
    b: float = 1.0
    gamma: float = 0.55

    def __call__(self, step: Any) -> Any:
        return self.a * (self.b + step) ** (-self.gamma)


@dataclasses.dataclass(frozen=True)
class Cyclical:
    """The cyclical cosine schedule (first / 2) (1 + cos(pi (t mod period) / period)) of Zhang et al. (2020).

    It falls to 0 within each period and restarts at `first`, so that a chain can visit several modes.

    first: the value at the start of each period
    period: the number of transitions in a period
    """

    first: float
    period: float

    def __call__(self, step: Any) -> Any:
        return self.first / 2 * (1 + jnp.cos(jnp.pi * (step % self.period) / self.period))
