"""The Ornstein-Uhlenbeck process: its exact transition, and the moments of its minibatch version.

    d x = (m - x) dt + sqrt(2) s dW,      x(h) | x ~ N(m + (x - m) e^-h, s^2 (1 - e^{-2 h}))

has the stationary law N(m, s^2). With an unbiased m_hat in place of m, drawn anew for every step, the mean has no bias
at any h and the stationary variance is s^2 + tanh(h / 2) Var[m_hat], exactly as for the Cox-Ingersoll-Ross process.
Its exponential has a lognormal stationary law. (Geometric Brownian motion, which section 2.3 of Baker et al. 2018
names for this, has no stationary law: erratum 001-11.)
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
from jax import Array


def draw_ornstein_uhlenbeck(key: Array, x: Array, mean: Array, variance: Array, time: Any) -> Array:
    """Draw x after `time` of the process with the stationary law N(mean, variance), all elements at once."""
    noise = jax.random.normal(key, x.shape, x.dtype)
    return mean + (x - mean) * jnp.exp(-time) + jnp.sqrt(-variance * jnp.expm1(-2 * time)) * noise


def sou_mean(x: Any, mean: Any, step_size: Any, num_steps: Any) -> Any:
    """Return the mean after `num_steps` steps with unbiased estimates of `mean`: m + (x - m) e^{-M h}."""
    return mean + (x - mean) * jnp.exp(-num_steps * step_size)


def sou_variance(variance: Any, step_size: Any, num_steps: Any, mean_variance: Any) -> Any:
    """Return the variance after `num_steps` steps from a point, with independent unbiased estimates of the mean.

    (1 - e^{-2 M h}) (s^2 + tanh(h / 2) Var[m_hat]).
    """
    return -jnp.expm1(-2 * num_steps * step_size) * (variance + jnp.tanh(step_size / 2) * mean_variance)
