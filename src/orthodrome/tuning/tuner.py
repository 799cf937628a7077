"""The contract of a tuner, which holds a sampler through its warm-up."""

from __future__ import annotations

import abc
from typing import Any

import jax
from jax import Array

from orthodrome.core.types import Info, State
from orthodrome.samplers.contract import Holder, Sampler


class Tuner(Holder):
    """A sampler that tunes the one it holds: the states of its warm-up have the state of that one as `inner`.

    Devices learn by themselves between meetings and from each other at them. Which transitions a meeting follows
    depends on their number alone, so it is the same for all chains on all devices. Between two meetings nothing
    crosses, and what windows end with, which is a large program, is not there: a loop over `alone` is a small one.
    `step` is both together.

    pool: the axes of `vmap` (and of the mesh) over which chains learn together
    """

    pool: tuple[str, ...]

    @abc.abstractmethod
    def freeze(self, state: State) -> Sampler:
        """Return the tuned sampler, shared by all chains, from the last state of the warm-up of all chains."""

    def outline(self, state: State) -> Sampler | None:
        """Return the tuned sampler with shapes in place of arrays, from any state of the warm-up; None: only `freeze`
        can tell them. The program of the draws is compiled for it while the warm-up runs."""
        return None

    @abc.abstractmethod
    def alone(self, key: Array, state: Any) -> tuple[Any, Info]:
        """Make one transition, and learn from it on this device."""

    @abc.abstractmethod
    def until_meeting(self, state: Any) -> Array:
        """Return after how many transitions from a state of one chain the next meeting is: 1, 2, ..."""

    @abc.abstractmethod
    def met(self, state: Any) -> Any:
        """Return the state after a meeting."""

    def step(self, key: Array, state: Any) -> tuple[Any, Info]:
        """Make one transition, learn from it, and meet if it is time."""
        due = self.common(self.until_meeting(state) == 1)
        state, info = self.alone(key, state)
        return jax.lax.cond(due, self.met, lambda now: now, state), info

    def common(self, x: Array) -> Array:
        """Return a number that is the same in all chains of a device in a form known to be so: loops and branches on it
        are not batched."""
        return jax.lax.pmax(x.astype("int32"), self.pool[:1]).astype(x.dtype)
