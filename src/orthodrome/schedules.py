"""Step sizes and temperatures that change from step to step: functions of the number of the step.

Any function of one number will do (an optax schedule is one); these are frozen and compare by value, so that two equal
schedules share a compiled program.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import jax.numpy as jnp

Schedule = Callable[[Any], Any]


@dataclasses.dataclass(frozen=True)
class Constant:
    """The same value always."""

    value: float

    def __call__(self, step: Any) -> Any:
        return self.value + 0 * step


@dataclasses.dataclass(frozen=True)
class Polynomial:
    """first (1 + t / scale)^(-power); 1/(K + 1) is the power for the least bias with an integrator of order K."""

    first: float
    scale: float = 1.0
    power: float = 0.5

    def __call__(self, step: Any) -> Any:
        return self.first * (1 + step / self.scale) ** (-self.power)


@dataclasses.dataclass(frozen=True)
class WellingTeh:
    """a (b + t)^(-gamma), with 1/2 < gamma <= 1 so that the steps sum to infinity and their squares do not (2011)."""

    a: float
    b: float = 1.0
    gamma: float = 0.55

    def __call__(self, step: Any) -> Any:
        return self.a * (self.b + step) ** (-self.gamma)


@dataclasses.dataclass(frozen=True)
class Cyclical:
    """(first / 2) (1 + cos(pi (t mod period) / period)): down to 0 and up again, for several modes (Zhang 2020)."""

    first: float
    period: float

    def __call__(self, step: Any) -> Any:
        return self.first / 2 * (1 + jnp.cos(jnp.pi * (step % self.period) / self.period))
