"""A sampler that costs nothing: for tests of the run around it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from orthodrome.core.pytree import pytree, static
from orthodrome.random.keys import seed_of
from orthodrome.samplers.contract import PythonSampler

MISCHIEF: list[Callable[[], Any]] = []
"""What happens at every step of a walk; no part of the sampler, so that a run with it is the same run."""


class WalkState(NamedTuple):
    place: np.ndarray

    @property
    def position(self) -> dict[str, np.ndarray]:
        return {"place": self.place}


class WalkInfo(NamedTuple):
    acceptance_rate: float
    diverging: np.bool_


@pytree
class Walk(PythonSampler):
    """Steps to either side; `MISCHIEF`, which is no part of the sampler, happens at every step."""

    size: float
    compiled: bool = static(default=False)
    manifold: Any = static(default=None)

    def init(self, position: Any, key: Any = None) -> WalkState:
        return WalkState(np.zeros(3))

    def step(self, key: Any, state: WalkState) -> tuple[WalkState, WalkInfo]:
        rng = np.random.default_rng(seed_of(key))
        for happens in MISCHIEF:
            happens()
        return WalkState(0.5 * state.place + self.size * rng.normal(size=3)), WalkInfo(0.75, np.bool_(False))

    def draw(self, state: WalkState) -> dict[str, Any]:
        return {"place": state.place}
