"""The contract of a tuner, which holds a sampler through its warm-up."""

from __future__ import annotations

import abc

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

    def outline(self, state: State) -> Sampler | None:
        """Return the tuned sampler with shapes in place of arrays, from any state of the warm-up; None: only `freeze`
        can tell them. The program of the draws is compiled for it while the warm-up runs."""
        return None
