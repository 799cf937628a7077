"""The loop of a warm-up: from each meeting of a tuner to the next, with the meetings between.

Between two meetings nothing crosses from device to device and no window ends, so that a stretch is the loop of the
draws, and may be compiled into one kernel. What it keeps is written to the buffers of the whole as one block.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TypeVar

import jax
import jax.numpy as jnp
from jax import Array

import orthodrome.run.parallel as parallel
from orthodrome.core.types import State, Tree
from orthodrome.run.rows import Rows, empty, taken_apart
from orthodrome.tuning.tuner import Tuner
from orthodrome.tuning.windows import EXCHANGE

Like = TypeVar("Like", bound=Tree)


def stretches(
    sampler: Tuner,
    draw: Callable[[State, Rows, Array, Array], tuple[State, Rows]],
    like: Like,
    state: State,
    span: tuple[Array, Array, int],
) -> tuple[State, Like]:
    """Carry the chains of one device through a part of a warm-up.

    draw: takes so many draws from a step on, and writes them to the first rows
    like: the shapes of what is kept of a draw of one chain
    span: the number of the first transition, how many there are, and the length of the buffers
    """
    first_step, count, length = span
    meet = jax.vmap(sampler.met, axis_name="chains", spmd_axis_name=parallel.groups_axis(sampler))
    chains, most = len(jax.tree.leaves(state)[0]), min(EXCHANGE, length)

    def stretch(carry: tuple[Array, State, Like]) -> tuple[Array, State, Like]:
        done, state, kept = carry
        left = sampler.until_meeting(jax.tree.map(lambda leaf: leaf[0], state)).astype(count.dtype)
        some = jnp.minimum(jnp.minimum(left, count - done), most)
        rows = jax.vmap(lambda _: empty(like, most))(jnp.arange(chains))
        state, rows = draw(state, rows, first_step + done, some)
        block = jax.vmap(partial(taken_apart, like=like))(rows)
        kept = jax.tree.map(lambda old, new: jax.lax.dynamic_update_slice_in_dim(old, new, done, 1), kept, block)
        return done + some, jax.lax.cond(some == left, meet, lambda now: now, state), kept

    long = length + most  # the last block may begin in the last row
    kept = jax.tree.map(lambda leaf: jnp.zeros((chains, long, *leaf.shape), leaf.dtype), like)
    begin = jnp.zeros_like(count), state, kept
    carry: tuple[Array, State, Like] = jax.lax.while_loop(lambda carry: carry[0] < count, stretch, begin)
    return carry[1], carry[2]
