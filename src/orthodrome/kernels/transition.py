"""`cir_transition`: one distribution behind one function, by numba for NumPy arrays and by JAX for JAX arrays."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from orthodrome.dynamics.cir import VOLATILITY
from orthodrome.errors import BadInput
from orthodrome.kernels.reading import only_read
from orthodrome.kernels.threads.starting import number_of_threads

Seed = Any


def cir_transition(
    key: Seed, log_theta: Any, shape: Any, time: Any, rate: Any = 1.0, volatility: Any = VOLATILITY
) -> Any:
    """Draw log theta' after `time` of the Cox-Ingersoll-Ross process d theta = b (a - theta) dt + sigma sqrt(theta) dW.

    The draw is exact for any shape > 0, however long the time, and stays finite where theta would underflow.

    Parameters
    ----------
    key : a JAX key, or a whole number as the seed.
    log_theta : logarithms of the weights. A NumPy array (float32 or float64) is advanced by compiled code on all
        threads, with a result that does not depend on their number; a JAX array by vectorised JAX, also under `jit`.
    shape : a in Baker et al. (2018): the stationary mean, and at the default rate and volatility the shape of the
        stationary law Gamma(a, 1). An array like `log_theta`, or one that broadcasts to it.
    time : h, the step size of SCIR.
    rate, volatility : b and sigma. The stationary law is Gamma(2 b a / sigma^2, rate 2 b / sigma^2).
    """
    if isinstance(log_theta, np.ndarray):
        _check(log_theta, shape, time, rate, volatility)
        factor, log_factor, log_scale = _scales(time, rate, volatility)
        shapes = np.broadcast_to(np.asarray(shape, np.float64), log_theta.shape)
        return _advanced(key, log_theta, 0.0, factor, shapes, log_factor, log_scale)
    return _in_jax(key, log_theta, shape, time, rate, volatility)


def cir_transition_counts(
    key: Seed, log_theta: np.ndarray, prior: float, scale: float, counts: np.ndarray, time: float
) -> np.ndarray:
    """Draw log theta' with the shapes `prior + scale * counts`, without making the array of shapes.

    It is `cir_transition` for the topics of a text model: `log_theta` and `counts` are K x V matrices in NumPy, and in
    most places `counts` is zero.
    """
    _check(log_theta, prior, time, 1.0, VOLATILITY)
    if counts.shape != log_theta.shape:
        raise BadInput(f"counts has the shape {counts.shape} and log_theta {log_theta.shape}; they must be the same")
    return _advanced(key, log_theta, prior, scale, counts, *_scales(time, 1.0, VOLATILITY)[1:])


def part_of_transition(
    key: Seed, log_theta: np.ndarray, prior: float, counts: np.ndarray, time: float, part: int, parts: int
) -> np.ndarray:
    """Draw one of several parts of `cir_transition_counts(key, log_theta, prior, 1.0, counts, time)`, flat.

    The parts are whole blocks of equal size, the last one filled up with zeros: put one after the other, and cut to the
    size of `log_theta`, they are the numbers that one call draws.
    """
    from orthodrome.kernels.cir import BLOCK, advance

    _check(log_theta, prior, time, 1.0, VOLATILITY)
    blocks = -(-log_theta.size // (BLOCK * parts))
    own = slice(part * blocks * BLOCK, (part + 1) * blocks * BLOCK)
    logs, numbers = (only_read(np.ascontiguousarray(array).reshape(-1)[own]) for array in (log_theta, counts))
    out = np.zeros(blocks * BLOCK, log_theta.dtype)
    scales = _scales(time, 1.0, VOLATILITY)[1:]
    number_of_threads()  # starts them
    advance(_seed(key), 0, part * blocks, logs, float(prior), 1.0, numbers, *scales, out[: logs.shape[0]])
    return out


def _advanced(
    key: Seed,
    log_theta: np.ndarray,
    prior: float,
    scale: float,
    counts: np.ndarray,
    log_factor: float,
    log_scale: float,
) -> np.ndarray:
    """Draw by the compiled loops."""
    from orthodrome.kernels.cir import advance

    number_of_threads()  # starts them
    flat, own = (only_read(np.ascontiguousarray(array).reshape(-1)) for array in (log_theta, counts))
    out = np.empty(log_theta.size, log_theta.dtype)
    advance(_seed(key), 0, 0, flat, float(prior), float(scale), own, log_factor, log_scale, out)
    return out.reshape(log_theta.shape)


def _in_jax(key: Seed, log_theta: Any, shape: Any, time: Any, rate: Any, volatility: Any) -> Any:
    """Draw by vectorised JAX, in the dtype of log theta."""
    import jax
    import jax.numpy as jnp

    from orthodrome.dynamics.cir import draw_transition, scales

    dtype = log_theta.dtype
    factor, log_factor, log_scale = scales(*(jnp.asarray(x, dtype) for x in (time, rate, volatility)))
    shapes = jnp.broadcast_to(jnp.asarray(shape, dtype) * factor, log_theta.shape)
    key = jax.random.key(key) if isinstance(key, int) else key
    return draw_transition(key, log_theta, shapes, log_factor, log_scale)


def _scales(time: float, rate: float, volatility: float) -> tuple[float, float, float]:
    """Return what `orthodrome.dynamics.cir.scales` does, as Python numbers in float64."""
    variance = 2.0 if volatility == VOLATILITY else volatility**2  # the square of the rounded root is not quite 2
    log_scale = math.log(-math.expm1(-rate * time) * variance / (2 * rate))
    return 2 * rate / variance, -rate * time - log_scale, log_scale


def _seed(key: Seed) -> np.uint64:
    """Return a whole number unchanged, and 64 bits of a JAX key."""
    if isinstance(key, (int, np.integer)):
        return np.uint64(key)
    import jax

    high, low = np.asarray(jax.random.bits(key, (2,), "uint32"), np.uint64)
    return np.uint64((high << np.uint64(32)) | low)


def _check(log_theta: np.ndarray, shape: Any, time: float, rate: float, volatility: float) -> None:
    """Raise BadInput unless every parameter is positive and the weights are floating-point numbers."""
    if log_theta.dtype not in (np.float32, np.float64):
        raise BadInput(f"log_theta has the dtype {log_theta.dtype}; pass float32 or float64 logarithms of the weights")
    for name, value in {"shape": shape, "time": time, "rate": rate, "volatility": volatility}.items():
        least = np.min(value, initial=np.inf)
        if not least > 0:
            raise BadInput(f"{name} must be positive, but its smallest value is {least}")
