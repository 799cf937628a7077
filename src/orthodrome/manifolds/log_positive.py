"""Positive numbers in log coordinates: x = log p, dp = exp(x) dx, so log_measure(x) = sum x.

A log p in the user's density is x itself (`user_logs`), also where p underflows. With `carry_logs` the user's density
is a function of log p, still with respect to dp.
"""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
from jax import Array

from orthodrome.core.pytree import pytree, static
from orthodrome.core.types import Reals
from orthodrome.manifolds.euclidean import Euclidean


@pytree
class LogPositive(Euclidean):
    """Arrays of positive numbers in log coordinates; densities with respect to Lebesgue measure dp.

    carry_logs: whether the user's coordinates are log p instead of p (still with densities with respect to dp)
    """

    pins = True
    carry_logs: bool = static(default=False)

    def remedy(self, name: str, p: Reals) -> str:
        return (
            f"numbers above 0 are wanted, and the smallest is {np.min(p):.2g}: pass `np.exp({name})` if these are "
            "logs (or LogPositive(carry_logs=True)), else start at numbers above 0"
        )

    def to_user(self, x: Array) -> Array:
        return x if self.carry_logs else jnp.exp(x)

    def user_logs(self, x: Array) -> Array | None:
        return None if self.carry_logs else x

    def from_user(self, p: Array) -> Array:
        return p if self.carry_logs else jnp.log(p)

    def log_measure(self, x: Array) -> Array | float:
        return jnp.sum(x)
