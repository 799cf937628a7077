"""Exchanges between neighbours on a ladder of tempered laws pi_k ~ pi^(e_k).

Two neighbours k, k + 1 with heights l = log pi exchange their states with probability

    min(1, exp{(e_k - e_{k+1}) (l_{k+1} - l_k)}),

which leaves the product of the laws alone (Geyer 1991). Pairs may be drawn at random, some of them after each move of
the replicas (Byrne & Girolami 2013, section 5.1), or all even pairs and all odd pairs take turns: what is fixed
beforehand is not reversible, and a replica keeps its direction instead of diffusing, so that round trips take a time
that does not grow with the square of their number (Okabe et al. 2001; Syed et al. 2022).

`order[k]` says which state comes to rung k.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
from jax import Array


def log_odds(exponents: Any, heights: Any, xp: Any = jnp) -> Any:
    """Return the log acceptance ratio of each pair (k, k + 1); minus infinity where a height is NaN.

    xp: the library of the arrays, JAX's or NumPy
    """
    ratio = (exponents[:-1] - exponents[1:]) * (heights[1:] - heights[:-1])
    return xp.where(xp.isnan(ratio), -xp.inf, ratio)


def rates(exponents: Any, heights: Any, xp: Any = jnp) -> Any:
    """Return the acceptance probability of an exchange of each pair."""
    return xp.exp(xp.minimum(log_odds(exponents, heights, xp), 0))


def in_turns(key: Array, exponents: Array, heights: Array, turn: Array) -> Array:
    """Return the order after an attempted exchange of every pair (k, k + 1) with k of the parity of `turn`."""
    pairs = jnp.arange(exponents.size - 1, dtype=turn.dtype)
    logs = jnp.log(jax.random.uniform(key, pairs.shape, exponents.dtype))
    taken = (logs < log_odds(exponents, heights)) & (pairs % 2 == turn % 2)
    no = jnp.zeros(1, bool)
    up, down = jnp.concatenate([taken, no]), jnp.concatenate([no, taken])
    return jnp.arange(exponents.size, dtype=jnp.int32) + up.astype(jnp.int32) - down.astype(jnp.int32)


def at_random(key: Array, exponents: Array, heights: Array, number: int) -> Array:
    """Return the order after attempted exchanges of `number` pairs, drawn at random, one after the other."""
    pair_key, accept_key = jax.random.split(key)
    pairs = jax.random.randint(pair_key, (number,), 0, exponents.size - 1)
    logs = jnp.log(jax.random.uniform(accept_key, (number,), exponents.dtype))

    def exchange(i: Array, order: Array) -> Array:
        k = pairs[i]
        a, b = order[k], order[k + 1]
        taken = logs[i] < log_odds(exponents, heights[order])[k]
        return order.at[k].set(jnp.where(taken, b, a)).at[k + 1].set(jnp.where(taken, a, b))

    return jax.lax.fori_loop(0, number, exchange, jnp.arange(exponents.size, dtype=jnp.int32))
