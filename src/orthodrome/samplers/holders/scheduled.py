"""Step sizes and temperatures that follow a schedule.

`Scheduled` holds a sampler and counts its transitions; before each it sets the sampler's step to schedule(t), t = 0,
1, ... (times the sampler's own `step_size`, if it has one: a tree of steps keeps its proportions), and the
temperature of its gradient: at temperature T the chain draws from pi_H^(1/T).
"""

from __future__ import annotations

from typing import NamedTuple

import jax.numpy as jnp
from jax import Array

from orthodrome.core import trees
from orthodrome.core.pytree import pytree, replace, static
from orthodrome.core.types import Info, Number, State, Tree
from orthodrome.linear import leaves
from orthodrome.samplers.contract import Holder, SteppedSampler
from orthodrome.schedules import Schedule

SETTINGS = {"length": "num_steps", "friction": "friction"}
"""What the sampler inside may leave to be learnt beside its step, and the name of the setting."""


class ScheduledState(NamedTuple):
    """The state of the sampler inside, and the number of transitions so far."""

    inner: State
    done: Array

    @property
    def position(self) -> Tree:
        """The embedded position."""
        return self.inner.position


@pytree
class Scheduled(Holder):
    """A sampler whose step size and temperature are functions of the number of the transition.

    sampler: the sampler inside
    step_size, temperature: functions of a number (see `schedules`; any optax schedule); None: as the sampler has it
    compiled: whether JAX compiles `step`; otherwise Python calls it
    """

    sampler: SteppedSampler
    step_size: Schedule | None = static(default=None)
    temperature: Schedule | None = static(default=None)
    compiled: bool = static(default=True)

    @property
    def learns(self) -> frozenset[str]:
        """What the schedule leaves unset, which no tuner learns: see `problem`."""
        return self.sampler.learns if self.step_size is None else self.sampler.learns - {"step", "units", "depth"}

    def problem(self) -> str | None:
        """Return why the settings are invalid, or None."""
        inside, learns = type(self.sampler).__name__, self.learns
        if "step" in learns:
            return f"{inside} inside has no step_size and no schedule gives one; set one of them"
        if learns:
            names = [SETTINGS.get(fact, fact) for fact in sorted(learns)]
            return f"{inside} inside has no {' and no '.join(names)}, and nothing is learnt under a schedule; set it"
        return None

    def expected_temperature(self, position: Tree, done: Number = 0) -> Array:
        """Return the expected temperature of the sampler inside, with the step of transition number `done`."""
        return self.at(jnp.asarray(done, trees.real_dtype(position))).expected_temperature(position)

    def init(self, position: Tree, key: Array | None = None) -> ScheduledState:
        """Return the state at an embedded position, before the first transition."""
        done = jnp.zeros((), trees.real_dtype(position))
        return ScheduledState(self.at(done).init(position, key), done)

    def step(self, key: Array, state: ScheduledState) -> tuple[ScheduledState, Info]:
        """Make one transition with the step size and the temperature of its number."""
        inner, info = self.at(state.done).step(key, state.inner)
        return ScheduledState(inner, state.done + 1), info

    def at(self, step: Array) -> SteppedSampler:
        """Return the sampler of transition number `step`."""
        sampler = self.sampler
        if self.step_size is not None:
            h = jnp.asarray(self.step_size(step), step.dtype)
            sampler = replace(
                sampler, step_size=h if sampler.step_size is None else leaves.scaled(sampler.step_size, h)
            )
        if self.temperature is not None:
            heat = jnp.asarray(self.temperature(step), step.dtype)
            sampler = sampler.at_temperature(1 / heat)
        return sampler
