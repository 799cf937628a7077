"""Did a run with stochastic gradients keep its temperature, on average and along every direction?

On average: v.v/m of the draws against the scheme's own value, by whose fraction OFF it may differ. Along the worst
direction: what the gradient's noise leaves there (`run.noise_heat`), by LIMIT at most; on a Gaussian it is the variance
along that direction over the exact one. Either must be out of bounds by SURE (mean) or CLEAR (direction) standard
errors, so short runs are left alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    import xarray

COLD, HOT = 0.8, 1.25
"""The range of the mean temperature over the scheme's own."""
SURE, PARTS = 3.0, 8
"""So many standard errors, from so many parts of each chain, must lie between the mean and the limit."""
LIMIT, CLEAR = 0.05, 2.0
"""How far from 1 the temperature of a direction may be, and how many standard errors it must be beyond that."""


class Temperature(NamedTuple):
    """The temperature of a run.

    mean, error: of v.v/m over the draws, and its standard error
    expected: the scheme's own
    worst, worst_error: along the direction where the gradient's noise is farthest from compensated; NaN: not known
    """

    mean: float
    error: float
    expected: float
    worst: float
    worst_error: float

    def __str__(self) -> str:
        text = f"temperature {self.mean:.3f} on average (the scheme's own: {self.expected:.3f})"
        return text if np.isnan(self.worst) else f"{text}, {self.worst:.3f} along the worst direction"


def temperature_of(tree: xarray.DataTree) -> Temperature | None:
    """Return the temperature of a run; None if it has none, or too few draws."""
    stats: Any = tree["sample_stats"] if "sample_stats" in tree.children else {}
    if "temperature" not in stats or "temperature_expected" not in tree.attrs:
        return None
    values = np.asarray(stats["temperature"], float)
    if values.shape[1] < PARTS:
        return None
    parts = np.concatenate([part.mean(axis=1) for part in np.array_split(values, PARTS, axis=1)])
    worst = (float(tree.attrs.get(f"temperature_{name}", "nan")) for name in ("worst", "worst_error"))
    error = float(np.std(parts) / np.sqrt(len(parts)))
    return Temperature(float(np.mean(parts)), error, float(tree.attrs["temperature_expected"]), *worst)


def temperature_problem(found: Temperature | None) -> str | None:
    """Return what is wrong with the temperature of a run, with the remedy; None if nothing is, or surely is."""
    if found is None:
        return None
    nearest = found.mean - np.copysign(SURE * found.error, found.mean - found.expected)
    if mean_problem(nearest, found.expected) is not None:
        return mean_problem(found.mean, found.expected)
    if abs(found.worst - 1) - CLEAR * found.worst_error > LIMIT:
        return direction_problem(found.worst, found.worst_error)
    return None


def mean_problem(measured: float, expected: float) -> str | None:
    """Return what is wrong if a mean temperature v.v/m differs from that of the scheme itself by a quarter."""
    if not np.isfinite(measured):
        return "the temperature v.v/m is not finite at some draws: the steps there failed; use a smaller step_size"
    ratio = measured / expected
    if COLD <= ratio <= HOT:
        return None
    known = f"the temperature v.v/m is {measured:.3g} on average, but the scheme should have {expected:.3g}"
    if not ratio > HOT:
        return f"{known}: the chain is too cold because its steps are too long; use a smaller step_size"
    return (
        f"{known}: the gradient's noise heats the chain, and its draws are too wide; use a shorter step_size, more "
        "friction, a larger batch, or let the sampler know the noise (noise=EmpiricalFisher())"
    )


def direction_problem(worst: float, error: float) -> str:
    """Return what is wrong if the temperature is wrong along one direction."""
    kind = "too wide" if worst > 1 else "too narrow"
    return (
        f"the gradient's noise makes the temperature {worst:.2f} along one direction (standard error {error:.2f}), and "
        f"the draws are {kind} there, whatever the mean temperature is; let the sampler know the whole noise "
        "(noise=EmpiricalFisher(), or FullForm() if its form is set), or use a shorter step_size, a larger batch or a "
        "control variate"
    )
