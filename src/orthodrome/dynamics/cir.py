"""The Cox-Ingersoll-Ross process: its exact transition in JAX, its moments, and those of its minibatch version, SCIR.

    d theta = b (a - theta) dt + sigma sqrt(theta) dW

has the stationary law Gamma(2 b a / sigma^2, rate 2 b / sigma^2), which at the values of Baker et al. (2018), b = 1 and
sigma^2 = 2, is Gamma(a, 1). Over a time h it moves to

    theta' = c G,   G ~ Gamma(2 b a / sigma^2 + I, 1),   I ~ Poisson(theta exp(-b h) / c),
    c = sigma^2 (1 - exp(-b h)) / (2 b):

half a noncentral chi-square number, for any degrees of freedom > 0. Poisson counts are not drawn: G = Gamma(shape) + G0
with G0 = 0 if the first arrival E ~ Exp(1) comes after the rate r, and else |sqrt(r - E) + sqrt(E') e^{i phi}|^2.
Weights are carried as logarithms: 93 % of Gamma(1e-4) draws underflow even in float64.
"""

from __future__ import annotations

import math
from typing import Any

import jax
import jax.numpy as jnp
from jax import Array

from orthodrome.random.counts import log_gamma
from orthodrome.random.exponential import exponential

VOLATILITY = math.sqrt(2)
"""The volatility of Baker et al. (2018), at which the stationary law is Gamma(a, 1) when the rate is 1."""


def scales(time: Any, rate: Any = 1.0, volatility: Any = VOLATILITY) -> tuple[Any, Any, Any]:
    """Return (shape per unit of a, log of the Poisson rate per unit of theta, log c) of the transition over `time`."""
    log_scale = jnp.log(-jnp.expm1(-rate * time) * volatility**2 / (2 * rate))
    return 2 * rate / volatility**2, -rate * time - log_scale, log_scale


@jax.jit
def draw_transition(key: Array, log_theta: Array, shape: Array, log_factor: Array, log_scale: Array) -> Array:
    """Draw log theta' from log theta and the Gamma shape, two arrays of one form, all elements at once."""
    central, boost, arrival, length, turn = jax.random.split(key, 5)
    form, dtype = log_theta.shape, log_theta.dtype
    low = shape < 1
    log_central = log_gamma(central, jnp.where(low, shape + 1, shape))
    log_central = log_central - jnp.where(low, exponential(boost, form, dtype) / shape, 0)
    left = jnp.exp(log_theta + log_factor) - exponential(arrival, form, dtype)
    radius = jnp.sqrt(exponential(length, form, dtype))
    angle = jax.random.uniform(turn, form, dtype, 0, 2 * math.pi)
    real, imaginary = jnp.sqrt(jnp.maximum(left, 0)) + radius * jnp.cos(angle), radius * jnp.sin(angle)
    log_arrived = jnp.log(real**2 + imaginary**2 + jnp.finfo(dtype).tiny)
    return log_scale + jnp.where(left > 0, jnp.logaddexp(log_central, log_arrived), log_central)


def cir_mean(theta: Any, shape: Any, time: Any, rate: Any = 1.0) -> Any:
    """Return the mean of the process after `time`, from `theta`: theta e^{-b t} + a (1 - e^{-b t}) (Corollary 3.2).

    With unbiased minibatch estimates of `shape` it is also the mean of SCIR, at any step size.
    """
    return theta * jnp.exp(-rate * time) - shape * jnp.expm1(-rate * time)


def cir_variance(theta: Any, shape: Any, time: Any, rate: Any = 1.0, volatility: Any = VOLATILITY) -> Any:
    """Return the variance of the process after `time`, from `theta` (Corollary 3.2; Cox, Ingersoll & Ross 1985).

    theta (sigma^2 / b) (e^{-b t} - e^{-2 b t}) + a (sigma^2 / 2 b) (1 - e^{-b t})^2.
    """
    kept, lost = jnp.exp(-rate * time), -jnp.expm1(-rate * time)
    return volatility**2 / rate * (theta * kept * lost + shape * lost**2 / 2)


def scir_variance(theta: Any, shape: Any, step_size: Any, num_steps: Any, shape_variance: Any) -> Any:
    """Return the variance of SCIR after `num_steps` steps with independent unbiased shapes (Corollary 3.2).

    It is that of the CIR process plus (1 - e^{-2 M h}) tanh(h / 2) Var[a_hat]. So the stationary variance is
    a + tanh(h / 2) Var[a_hat]: no step size biases the mean, but large steps with small minibatches inflate the spread.
    """
    noise = -jnp.expm1(-2 * num_steps * step_size) * jnp.tanh(step_size / 2) * shape_variance
    return cir_variance(theta, shape, num_steps * step_size) + noise


def scir_log_mgf(s: Any, theta: Any, shapes: Array, step_size: Any) -> Any:
    """Return log E[exp(s theta_M)] of SCIR given its M estimates of the shape, in order (Theorem 3.1), for s < 1.

    With q_m = 1 - s (1 - e^{-m h}) it is theta_0 s e^{-M h} / q_M - sum_m a_hat_{M-m+1} log(q_m / q_{m-1}): the last
    estimate belongs to the first factor. (The theorem as printed pairs factor m with estimate m.)
    """
    count = shapes.shape[0]
    times = step_size * jnp.arange(count + 1).astype(shapes.dtype)
    logs = jnp.log1p(s * jnp.expm1(-times))
    end = times[-1]
    start = theta * s * jnp.exp(-end) / (1 + s * jnp.expm1(-end))
    return start - jnp.sum(shapes[::-1] * jnp.diff(logs))
