"""The contract of a tuner, which holds a sampler through its warm-up."""

from __future__ import annotations

import abc

from jax import Array

from orthodrome.core.types import State
from orthodrome.samplers.contract import Holder, Sampler


class Tuner(Holder):
    """A sampler that tunes the one it holds: the states of its warm-up have the state of that one as `inner`.

    pool: the axes of `vmap` (and of the mesh) over which chains learn together
    """

    pool: tuple[str, ...]

    @abc.abstractmethod
    def freeze(self, state: State) -> Sampler:
        """Return the tuned sampler, shared by all chains, from the last state of the warm-up of all chains."""

    @property
    def gains_in_one_kernel(self) -> bool:
        """Whether a warm-up in one kernel (`run.one_kernel`), on one device, gains more than its compilation takes."""
        return False

    def sums(self, state: State) -> list[Array]:
        """Return the arrays of a state of the warm-up that are added to in place, however large they are."""
        return []

    def outline(self, state: State) -> Sampler | None:
        """Return the tuned sampler with shapes in place of arrays, from any state of the warm-up; None: only `freeze`
        can tell them. The program of the draws is compiled for it while the warm-up runs."""
        return None
