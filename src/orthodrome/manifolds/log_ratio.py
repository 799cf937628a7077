"""The simplex in centred log-ratio coordinates: flat, and sound at any concentration.

    p = softmax(x),   sum_i x_i = 0,   dp_1 ... dp_{d-1} = d p_1 ... p_d dx_1 ... dx_{d-1} = sqrt(d) p_1 ... p_d dS(x):

dp_i = p_i (dx_i - sum_j p_j dx_j) with dx_d = -sum of the others has the determinant prod_{i<d} p_i (1 - sum_{j<d} (p_j
- p_d)), and the last factor is d p_d; the plane's surface measure is sqrt(d) dx_1 ... dx_{d-1}. Hence

    log_measure(x) = sum_i log p_i + log(d) / 2,

from the log weights, which are finite where a weight itself underflows (99 % of Gamma(1e-4) draws do in float32). A
log p in the user's density is taken from them too (`user_logs`). With `carry_logs` the user's density is a function of
the log weights, still with respect to dp.

The plane is flat, so a step may be in units per element, in the form that keeps it (`linear.centred`): with the
concentrations a of a Dirichlet the standard deviations of the x_i are as different as a^(-1/2), or 1/a below 1.
"""

from __future__ import annotations

import math
from typing import Any

import jax
import jax.numpy as jnp
from jax import Array

from orthodrome.core.pytree import pytree, static
from orthodrome.core.types import Reals
from orthodrome.linear import maps
from orthodrome.linear.centred import CentredScales, centred
from orthodrome.manifolds.weights import Weights


@pytree
class LogRatioSimplex(Weights):
    """Probability vectors p > 0 along the last axis; densities with respect to dp_1 ... dp_{d-1}.

    carry_logs: whether the user's coordinates are log p instead of p (still with densities with respect to dp)
    """

    pins = True
    step_maps = (CentredScales,)
    carry_logs: bool = static(default=False)

    def remedy(self, name: str, p: Reals) -> str:
        if self.carry_logs:
            return f"log weights are wanted (carry_logs): pass `jax.nn.log_softmax({name})`"
        return super().remedy(name, p)

    def dimension(self, x: Array) -> int:
        return x.size // x.shape[-1] * (x.shape[-1] - 1)

    def project(self, x: Array, u: Array) -> Array:
        return centred(u)

    def geodesic(self, x: Array, v: Array, t: Any) -> tuple[Array, Array]:
        return centred(x + maps.apply(t, v)), v

    def retract(self, x: Array) -> Array:
        return centred(x)

    def random_point(self, key: Array, like: Any) -> Array:
        return centred(jax.random.normal(key, like.shape, like.dtype))

    def distance(self, x: Array) -> Array:
        return jnp.max(jnp.abs(jnp.mean(x, axis=-1)))

    def max_step(self, x: Array) -> float:
        return jnp.inf

    def to_user(self, x: Array) -> Array:
        return jax.nn.log_softmax(x, axis=-1) if self.carry_logs else jax.nn.softmax(x, axis=-1)

    def user_logs(self, x: Array) -> Array | None:
        return None if self.carry_logs else jax.nn.log_softmax(x, axis=-1)

    def from_user(self, p: Array) -> Array:
        return centred(p if self.carry_logs else jnp.log(jnp.maximum(p, jnp.finfo(p.dtype).tiny)))

    def log_measure(self, x: Array) -> Array:
        copies, d = x.size // x.shape[-1], x.shape[-1]
        return jnp.sum(jax.nn.log_softmax(x, axis=-1)) + copies * 0.5 * math.log(d)
