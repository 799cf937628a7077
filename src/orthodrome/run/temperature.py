"""What a run with stochastic gradients says of its temperature: the scheme's own, and that of the worst direction.

Both are attributes of the draws, written when the run ends; `diagnostics.temperature` compares them with the measured
temperature, and objects with a remedy.
"""

from __future__ import annotations

import jax
import numpy as np

from orthodrome.core.types import State, Tree
from orthodrome.run.noise_heat import worst_direction
from orthodrome.samplers.contract import Sampler

LOOKS = 256
"""At so many transitions, at most, the scheme is asked for its own temperature."""
ENOUGH = 1000
"""The directions of runs with fewer draws over all chains are left alone."""


def temperatures(sampler: Sampler, positions: Tree, state: State, steps: np.ndarray, seed: int) -> dict[str, float]:
    """Return the attributes of a run from some positions of all chains to their last states.

    steps: the number of each kept transition, counted from the start of the run
    """
    start = jax.tree.map(lambda leaf: leaf[0], positions)
    found = {"temperature_expected": mean_expected(sampler, start, steps)}
    enough = len(jax.tree.leaves(positions)[0]) * steps.size >= ENOUGH
    worst = worst_direction(sampler, state, seed) if sampler.compiled and enough else None
    if worst is None:
        return found
    return found | {"temperature_worst": worst.temperature, "temperature_worst_error": worst.error}


def mean_expected(sampler: Sampler, position: Tree, done: np.ndarray) -> float:
    """Return the scheme's own temperature, which a schedule changes, averaged over some of the transitions `done`."""
    some = done[np.unique(np.linspace(0, done.size - 1, min(LOOKS, done.size)).astype(int))]
    return float(np.mean([float(_expected(sampler, position, np.float32(t))) for t in some]))


_expected = jax.jit(lambda sampler, position, done: sampler.expected_temperature(position, done))
