"""Step sizes and frictions that do not depend on the number of data (supplement E of Liu, Zhu & Song 2016).

The gradient of N data is about N times that of one. With

    eps = sqrt(gamma / N),     C = rho / eps

a kick moves the position by eps^2 grad = gamma times the mean gradient of a datum, and a step takes the share rho of
the velocity away, whatever N is: gamma is the learning rate, and 1 - rho the momentum, of stochastic gradient descent.
First-order dynamics has no velocity and the step gamma / N, with the same learning rate.
"""

from __future__ import annotations

import dataclasses
import math
from typing import TypeVar

import numpy as np

from orthodrome.core.pytree import replace
from orthodrome.errors import BadInput, Unsupported
from orthodrome.samplers.contract import StochasticSampler
from orthodrome.targets import Posterior

Kind = TypeVar("Kind", bound=StochasticSampler)


def per_datum(sampler: Kind, gamma: float, rho: float | None = None) -> Kind:
    """Return a sampler with the step size and the friction of given rates per datum.

    sampler: one with stochastic gradients of a posterior
    gamma: the learning rate: by how much the mean gradient of a datum moves the position in a step
    rho: the share of the velocity that friction takes away in a step; for the samplers with a friction
    """
    number = _number_of_data(sampler)
    if not (np.isfinite(gamma) and gamma > 0):
        raise BadInput(f"gamma is {gamma}; it must be above 0")
    if not sampler.has_momentum:
        _check_unused(sampler, rho)
        return replace(sampler, step_size=gamma / number)
    eps = math.sqrt(gamma / number)
    if "friction" not in {field.name for field in dataclasses.fields(sampler)}:  # type: ignore[arg-type]
        _check_unused(sampler, rho)
        return replace(sampler, step_size=eps)
    if rho is None or not (np.isfinite(rho) and rho > 0):
        raise BadInput(f"rho is {rho}; {type(sampler).__name__} has a friction, rho / eps: give a number above 0")
    return replace(sampler, step_size=eps, friction=rho / eps)


def _number_of_data(sampler: StochasticSampler) -> int:
    target = sampler.gradient.target
    if not isinstance(target, Posterior):
        raise Unsupported(
            f"the target is a {type(target).__name__}, which has no rows of data to count; use a Posterior"
        )
    return int(target.num_data)


def _check_unused(sampler: StochasticSampler, rho: float | None) -> None:
    if rho is not None:
        raise BadInput(f"rho is {rho}, but {type(sampler).__name__} has no friction to set; omit it")
