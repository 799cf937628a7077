"""A warning at the end of a stochastic-gradient run whose temperature is not the expected one, with the remedy."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import jax
import numpy as np

from orthodrome.core.types import Tree
from orthodrome.errors import OrthodromeWarning
from orthodrome.samplers.contract import Sampler
from orthodrome.tuning.stochastic_tuning import temperature_warning

if TYPE_CHECKING:
    import xarray

SURE, PARTS = 3.0, 8
"""So many standard errors, from so many parts of each chain, must lie between the mean and the limit: short runs are
left alone."""
LOOKS = 256
"""At so many transitions, at most, the scheme is asked for its own temperature."""


def warn_temperature(tree: xarray.DataTree, sampler: Sampler, position: Tree, first_step: int, thin: int) -> bool:
    """Warn if the mean temperature is out of proportion to the scheme's own; return whether it is known and right.

    first_step, thin: transitions before the first draw, and for every draw
    """
    if "sample_stats" not in tree or "temperature" not in tree["sample_stats"]:
        return False
    values = np.asarray(tree["sample_stats"]["temperature"], float)
    if values.shape[1] < PARTS:
        return False
    expected = mean_expected(sampler, position, first_step + thin * np.arange(1, values.shape[1] + 1) - 1)
    parts = np.concatenate([part.mean(axis=1) for part in np.array_split(values, PARTS, axis=1)])
    mean, error = float(np.mean(parts)), SURE * np.std(parts) / np.sqrt(len(parts))
    nearest = mean - error if mean > expected else mean + error
    text = temperature_warning(mean, expected) if temperature_warning(nearest, expected) is not None else None
    if text is not None:
        warnings.warn(text, OrthodromeWarning, stacklevel=5)
    return text is None


def mean_expected(sampler: Sampler, position: Tree, done: np.ndarray) -> float:
    """Return the scheme's own temperature, which a schedule changes, averaged over some of the transitions `done`."""
    some = done[np.unique(np.linspace(0, done.size - 1, min(LOOKS, done.size)).astype(int))]
    return float(np.mean([float(_expected(sampler, position, np.float32(t))) for t in some]))


_expected = jax.jit(lambda sampler, position, done: sampler.expected_temperature(position, done))
