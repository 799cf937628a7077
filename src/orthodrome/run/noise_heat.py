"""The directions along which the gradient's noise heats or cools a chain whose mean temperature is right.

At the last position of every chain the gradient is estimated twice with independent batches, LOOKS times in all: z =
(g1 - g2) / 2^(1/2) has the covariance V of the gradient's error. With the sampler's heat a per unit of V (h / (2 C) of
second order, h D / 2 of first), what it is told V_told, and what its thermostat absorbs A, the temperature along a unit
vector w of the coordinates a^(1/2) z is

    T_w = 1 + w' a^(1/2) (V - V_told - A) a^(1/2) w.

The directions are the extreme eigenvectors of this matrix, within the leading directions of V, from one half of the
looks; T_w is measured with the other half, so that chance does not make it extreme. On a Gaussian T_w is the variance
along w over the exact one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from orthodrome.core import trees
from orthodrome.core.types import State, Tree
from orthodrome.linear import leaves, maps
from orthodrome.random.keys import new_key
from orthodrome.samplers.contract import Sampler

LOOKS, BASIS, MOST = 2000, 64, 20_000
"""Pairs of gradients over all chains; directions of V that are looked at; and the largest number of parameters."""


class Extreme(NamedTuple):
    """The temperature along a direction, and its standard error."""

    temperature: float
    error: float


def worst_direction(sampler: Sampler, state: State, seed: int) -> Extreme | None:
    """Return the temperature that is farthest from 1, from the last states of all chains; None if it is not known."""
    one = jax.tree.map(lambda leaf: leaf[0], state.position)
    if trees.size(one) > MOST or sampler.noise_heat(one) is None:
        return None
    chains = len(jax.tree.leaves(state.position)[0])
    look_key, last_key = jax.random.split(jax.random.fold_in(new_key(np.uint32(seed)), 2**31))
    keys = jax.random.split(look_key, chains), jax.random.split(last_key, chains)
    z, told = _looks(sampler, state, *keys, np.arange(-(-LOOKS // chains), dtype=np.uint32))
    z = np.asarray(z, float).reshape(-1, z.shape[-1])
    return _extreme(z, lambda d: np.asarray(_told_times(told, one, d), float), _absorbed(sampler, z, told, one))


def _extreme(z: np.ndarray, told_times: Any, absorbed: np.ndarray) -> Extreme | None:
    """Return the extreme of T_w, with directions from one half of the rows z and its value from the other half."""
    first, second = z[::2], z[1::2]
    if not np.any(first) or not np.all(np.isfinite(z)):
        return None
    _, sizes, rows = np.linalg.svd(first, full_matrices=False)
    basis = rows[: min(BASIS, max(1, int(np.sum(sizes > 1e-3 * sizes[0]))))].T
    compensated: Callable[[np.ndarray], np.ndarray] = lambda d: d.T @ (told_times(d) + absorbed[:, None] * d)
    seen = (first @ basis).T @ (first @ basis) / len(first) - compensated(basis)
    _, vectors = np.linalg.eigh((seen + seen.T) / 2)
    ways = basis @ vectors[:, [0, -1]]
    size = np.mean((second @ ways) ** 2, axis=0)
    heat = size - np.diag(compensated(ways))
    most = int(np.argmax(np.abs(heat)))
    return Extreme(1 + float(heat[most]), float(np.sqrt(2 / len(second)) * size[most]))


def _absorbed(sampler: Any, z: np.ndarray, told: Tree | None, like: Tree) -> np.ndarray:
    """Return A, from the diagonal of what is there."""
    diagonal = np.mean(z**2, axis=0) - (0 if told is None else np.asarray(_told_diagonal(told, like), float))
    return np.asarray(sampler.absorbs(jnp.asarray(diagonal), max(1, sampler.manifold.dimension(like))), float)


@jax.jit
def _looks(sampler: Any, state: State, keys: jax.Array, last_keys: jax.Array, numbers: Any) -> tuple[jax.Array, Any]:
    """Return the scaled errors (chain, look, parameter), and for each chain the told V in the same scale."""
    gradient, manifold = sampler.gradient, sampler.manifold

    def chain(x: Tree, memory: Any, key: jax.Array, last_key: jax.Array) -> tuple[jax.Array, Any]:
        heat = jax.tree.map(jnp.sqrt, sampler.noise_heat(x))

        def look(memory: Any, number: jax.Array) -> tuple[Any, jax.Array]:
            one_key, other_key = jax.random.split(jax.random.fold_in(key, number))
            here, memory = gradient.estimate(one_key, x, memory)
            again, memory = gradient.estimate(other_key, x, memory)
            error = manifold.project(x, trees.subtract(here.gradient, again.gradient))
            return memory, _row(jax.tree.map(lambda a, e: a * e / 2**0.5, heat, error))

        memory, rows = jax.lax.scan(look, memory, numbers)
        told = gradient.estimate(last_key, x, memory)[0].noise if sampler.bears_noise(True) else None
        return rows, None if told is None else (heat, leaves.spread(told, x))

    return jax.vmap(chain)(state.position, state.memory, keys, last_keys)


@jax.jit
def _told_times(told: Any, like: Tree, directions: np.ndarray) -> jax.Array:
    """Return the mean over chains of a^(1/2) V_told a^(1/2) times some directions."""
    if told is None:
        return jnp.zeros(directions.shape)

    def one(chain: Any, direction: jax.Array) -> jax.Array:
        heat, v = chain
        scaled = jax.tree.map(jnp.multiply, heat, trees.like_row(direction, like))
        return _row(jax.tree.map(jnp.multiply, heat, leaves.over(maps.apply, v, scaled)))

    every = jax.vmap(jax.vmap(one, (0, None)), (None, 1), 1)(told, jnp.asarray(directions))
    return jnp.mean(every, axis=0).T


@jax.jit
def _told_diagonal(told: Any, like: Tree) -> jax.Array:
    """Return the mean over chains of the diagonal of a^(1/2) V_told a^(1/2)."""
    one: Callable[..., jax.Array] = lambda heat, v: _row(
        leaves.over(lambda e, a, x: a**2 * maps.diagonal(e, x), v, heat, like)
    )
    return jnp.mean(jax.vmap(one)(*told), axis=0)


_row = trees.row
