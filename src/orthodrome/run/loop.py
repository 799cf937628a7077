"""The loop: one compiled program that carries every chain through `count` draws of `thin` transitions each.

    key of transition t of chain c  =  fold_in(fold_in(key, c), t),     t = 0, 1, ... since `init`, warm-up included,

so the draws do not depend on how the run is cut into chunks. `count` is a number, not a shape: the program fills the
first `count` rows of a buffer of fixed length, and pacing, remainders and resumed runs never compile again. The
sampler is an argument: a new step size does not compile again either. Only the state is donated.

With `thin` > 1 a draw reports the Info of its last transition, but a flag (`diverging`) if any of its transitions
raised it.
"""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import Array
from jax.sharding import Mesh

import orthodrome.run.parallel as parallel
from orthodrome.core import trees
from orthodrome.core.programs import compiled_quickly, keeps_programs
from orthodrome.core.types import Info, State, Tree
from orthodrome.random.keys import seeds_of
from orthodrome.run.rows import Rows, empty, taken_apart, write
from orthodrome.samplers.contract import Sampler

INIT = 0xFFFFFFFF
"""The number that stands for t in the key of `init`; no run gets that far."""


class Kept(NamedTuple):
    """What is kept of a draw: the position in the user's coordinates, the Info, and how sound the position is.

    distance: of the embedded position from the manifold; finite: whether all of its numbers are
    position, distance: None where they are not computed (a warm-up stepped from Python that is not kept)
    """

    position: Tree
    info: Info
    distance: Any
    finite: Any


def chain_key(key: Array, chain: Array, step: Any) -> Array:
    """Return the key of one transition of one chain."""
    return jax.random.fold_in(jax.random.fold_in(key, chain), step)


transition_key = jax.jit(chain_key)
"""`chain_key`, compiled, for loops in Python."""


@jax.jit
def transition_seeds(key: Array, chain: Array, steps: Array) -> Array:
    """Return the words of `seed_of(chain_key(key, chain, t))` for every t of `steps`, in one call."""
    return seeds_of(jax.vmap(lambda t: chain_key(key, chain, t))(steps))


def start_keys(key: Array, chain: Array) -> Array:
    """Return the keys of a chain's random start, of its `init`, and of the doors' look at it."""
    return jax.random.split(chain_key(key, chain, jnp.uint32(INIT)), 3)


init_key = jax.jit(lambda key, chain: start_keys(key, chain)[1])
"""The key of a chain's `init`, compiled: for loops in Python."""


def keep(sampler: Sampler, state: State, info: Info) -> Kept:
    """Return what is kept of a state."""
    x, manifold = state.position, sampler.manifold
    return Kept(manifold.to_user(x), info, manifold.distance(x), trees.all_finite(x))


# The inner jit keeps the trace, so that asking for the shapes of a draw does not trace the step twice.
@keeps_programs
@partial(jax.jit, static_argnames="thin", inline=True)
def one_draw(sampler: Sampler, key: Array, state: State, first_step: Array, *, thin: int) -> tuple[State, Kept]:
    """Take `thin` transitions of one chain, whose key is `key`, and return the state and what is kept of it."""
    times = first_step + jnp.arange(thin, dtype=first_step.dtype)
    state, infos = jax.lax.scan(lambda s, t: sampler.step(jax.random.fold_in(key, t), s), state, times)
    return state, keep(sampler, state, jax.tree.map(_last_or_any, infos))


def _last_or_any(values: Array) -> Array:
    return jnp.any(values, axis=0) if values.dtype == jnp.bool_ else values[-1]


def _advance(
    sampler: Sampler,
    key: Array,
    chains: Array,
    state: State,
    first_step: Array,
    count: Array,
    *,
    length: int,
    thin: int,
    mesh: Mesh | None,
) -> tuple[State, Kept]:
    """Carry all chains through `count` draws; return the state, and a buffer whose first `count` rows are the draws."""

    def one_device(sampler: Sampler, key: Array, chains: Array, state: State, first_step: Array, count: Array) -> Any:
        run = partial(_one_chain, sampler, length=length, thin=thin)
        axes, over = (None, 0, 0, None, None), parallel.groups_axis(sampler)
        mapped = jax.vmap(run, in_axes=axes, axis_name="chains", spmd_axis_name=over)
        return mapped(key, chains, state, first_step, count)

    split = (False, False, True, True, False, False)
    everywhere = parallel.split_chains(one_device, mesh, split)
    moved: tuple[State, Kept] = everywhere(sampler, key, chains, state, first_step, count)
    return moved


_settings: dict[str, Any] = {"static_argnames": ("length", "thin", "mesh"), "donate_argnames": "state"}
advance = keeps_programs(jax.jit(_advance, **_settings))
"""`_advance`, compiled."""
advance_in_warmup = compiled_quickly(_advance, **_settings)
"""Returns `_advance` compiled in less time, for a tuner, whose program is the larger one and runs for a while."""


def _one_chain(
    sampler: Sampler, key: Array, chain: Array, state: State, first_step: Array, count: Array, *, length: int, thin: int
) -> tuple[State, Kept]:
    key = jax.random.fold_in(key, chain)
    draw = partial(one_draw, thin=thin)

    def body(i: Array, carry: tuple[Any, Rows]) -> tuple[Any, Rows]:
        state, rows = carry
        state, kept = draw(sampler, key, state, first_step + i * thin)
        return state, write(rows, kept, i)

    kept = jax.eval_shape(draw, sampler, key, state, first_step)[1]
    state, rows = jax.lax.fori_loop(jnp.zeros_like(count), count, body, (state, empty(kept, length)))
    return state, taken_apart(rows, kept)
