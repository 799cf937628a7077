"""Rejection sampling for a whole batch at once.

Library generators run one rejection loop per element, which a vector machine executes at the pace of the unluckiest.
Here a rejection loop runs over the whole batch; after the first round only what was refused is gathered and tried again
(`retry`). Where all elements share one law the accepted proposals of each round are simply lined up (`stream`): n draws
at acceptance rate a cost n / a proposals. Both run until all is filled, so the draws are exact. Each round calls the
generator once for all its uniforms, as every further call would be compiled again.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jax import Array

SMALLEST_RATE, ENOUGH_PROPOSALS = 1e-4, 65_536
"""A stream gives up below this acceptance rate, judged after so many proposals (some six of them accepted)."""

Propose = Callable[[Array, int], tuple[Array, Array]]


def retry(key: Array, attempt: Callable[..., tuple[Array, Array]], *parameters: Array) -> Array:
    """Draw by `attempt(key, *parameters) -> (value, accepted)`, one value for each element of the parameters."""
    shape = parameters[0].shape
    flat = [p.reshape(-1) for p in parameters]
    size, few = flat[0].size, flat[0].size // 8 + 16
    first, key = jax.random.split(key)

    def body(carry: tuple[Array, Array, Array]) -> tuple[Array, Array, Array]:
        now, later = jax.random.split(carry[0])
        missing = jnp.nonzero(~carry[2], size=few, fill_value=size)[0]
        redrawn, good = attempt(now, *(p[jnp.minimum(missing, size - 1)] for p in flat))
        where = jnp.where(good, missing, size)
        return later, carry[1].at[where].set(redrawn, mode="drop"), carry[2].at[where].set(True, mode="drop")

    state = (key, *attempt(first, *flat))
    return jax.lax.while_loop(lambda carry: ~jnp.all(carry[2]), body, state)[1].reshape(shape)


def stream(key: Array, propose: Propose, count: int, least: int = 0) -> tuple[Array, Array]:
    """Return `count` draws that are accepted from `propose(key, n) -> (n values, n log acceptance probabilities)`, and
    the mean acceptance probability.

    At least `least` proposals are made. The stream gives up, its missing draws NaN, when after 65,536 proposals the
    mean probability is below 1e-4.
    """
    batch = max(count, 64)
    like = jax.eval_shape(lambda k: propose(k, batch)[0], key)

    def more(carry: Any) -> Array:
        _, rounds, filled, rate, _ = carry
        hopeless = (rounds * batch >= ENOUGH_PROPOSALS) & (rate < SMALLEST_RATE)
        return ((filled < count) | (rounds * batch < least)) & ~hopeless

    def body(carry: Any) -> Any:
        key, rounds, filled, rate, draws = carry
        later, now, coin = jax.random.split(key, 3)
        values, log_accept = propose(now, batch)
        accepted = jnp.log(positive_uniform(coin, (batch,), log_accept.dtype)) < log_accept
        slots = jnp.where(accepted, filled + jnp.cumsum(accepted) - 1, count)
        rate = rate + (jnp.mean(jnp.exp(log_accept)) - rate) / (rounds + 1).astype(rate.dtype)
        return later, rounds + 1, filled + jnp.sum(accepted), rate, draws.at[slots].set(values, mode="drop")

    empty = jnp.full((count, *like.shape[1:]), jnp.nan, like.dtype)
    none = jnp.sum(jnp.zeros((0,), bool))
    state = (key, none, none, jnp.zeros((), like.dtype), empty)
    _, _, _, rate, draws = jax.lax.while_loop(more, body, state)
    return draws, rate


def positive_uniform(key: Array, shape: tuple[int, ...], dtype: Any) -> Array:
    """Draw uniform numbers on (0, 1], whose logarithms are finite.

    key: of JAX
    shape, dtype: of the result
    """
    return 1 - jax.random.uniform(key, shape, dtype)
