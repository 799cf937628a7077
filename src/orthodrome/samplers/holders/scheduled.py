"""Step sizes and temperatures that follow a schedule.

`Scheduled` holds a sampler and counts its transitions; before each it sets the sampler's step to schedule(t), t = 0,
1, ... (times the sampler's own `step_size`, if it has one: a tree of steps keeps its proportions), and the
temperature of its gradient: at temperature T the chain draws from pi_H^(1/T).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax.numpy as jnp
from jax import Array

from orthodrome.core import trees
from orthodrome.core.pytree import pytree, replace, static
from orthodrome.core.types import Tree
from orthodrome.gradients.noisy import TemperedGradient
from orthodrome.linear import leaves
from orthodrome.manifolds.manifold import Manifold
from orthodrome.schedules import Schedule


class ScheduledState(NamedTuple):
    """The state of the sampler inside, and the number of transitions so far."""

    inner: Any
    done: Array

    @property
    def position(self) -> Tree:
        """The embedded position."""
        return self.inner.position


@pytree
class Scheduled:
    """A sampler whose step size, and temperature, are functions of the step.

    step_size, temperature: functions of a number (see `schedules`; any optax schedule); None: as the sampler has it
    """

    sampler: Any
    step_size: Schedule | None = static(default=None)
    temperature: Schedule | None = static(default=None)
    compiled: bool = static(default=True)

    @property
    def manifold(self) -> Manifold:
        """The space of the position."""
        return self.sampler.manifold

    def problem(self) -> str | None:
        """What the doors should refuse."""
        if self.step_size is None and self.sampler.step_size is None:
            return f"{type(self.sampler).__name__} inside has no step_size and no schedule gives one; set either"
        return None

    def init(self, position: Tree, key: Array | None = None) -> ScheduledState:
        """At an embedded position, before the first transition."""
        done = jnp.zeros((), trees.real_dtype(position))
        return ScheduledState(self.at(done).init(position, key), done)

    def step(self, key: Array, state: ScheduledState) -> tuple[ScheduledState, Any]:
        """One transition with the step and the temperature of its number."""
        inner, info = self.at(state.done).step(key, state.inner)
        return ScheduledState(inner, state.done + 1), info

    def at(self, step: Array) -> Any:
        """The sampler of transition number `step`."""
        sampler = self.sampler
        if self.step_size is not None:
            h = jnp.asarray(self.step_size(step), step.dtype)
            sampler = replace(
                sampler, step_size=h if sampler.step_size is None else leaves.scaled(sampler.step_size, h)
            )
        if self.temperature is not None:
            heat = jnp.asarray(self.temperature(step), step.dtype)
            sampler = replace(sampler, gradient=TemperedGradient(sampler.gradient, heat))
        return sampler
