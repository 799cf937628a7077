"""Did a stochastic-gradient run keep its temperature? Said once, at the end, with the remedy."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from orthodrome.errors import OrthodromeWarning
from orthodrome.tuning.stochastic_tuning import temperature_warning

if TYPE_CHECKING:
    import xarray

SURE, PARTS = 3.0, 8
"""So many standard errors, from so many parts of each chain, must lie between the mean and the limit: short runs are
left alone."""


def warn_temperature(tree: xarray.DataTree, sampler: Any, position: Any) -> None:
    """Warn if the mean temperature is out of proportion to the scheme's own (1, if the sampler does not say)."""
    if "sample_stats" not in tree or "temperature" not in tree["sample_stats"]:
        return
    own = getattr(type(sampler), "expected_temperature", None)
    expected = 1.0 if own is None else float(own(sampler, position))
    values = np.asarray(tree["sample_stats"]["temperature"], float)
    if values.shape[1] < PARTS:
        return
    parts = np.concatenate([part.mean(axis=1) for part in np.array_split(values, PARTS, axis=1)])
    mean, error = float(np.mean(parts)), SURE * np.std(parts) / np.sqrt(len(parts))
    nearest = mean - error if mean > expected else mean + error
    text = temperature_warning(mean, expected) if temperature_warning(nearest, expected) is not None else None
    if text is not None:
        warnings.warn(text, OrthodromeWarning, stacklevel=5)
