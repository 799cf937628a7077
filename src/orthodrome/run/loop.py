"""The loop: one compiled program that carries every chain through `count` draws of `thin` transitions each.

    key of transition t of chain c  =  fold_in(fold_in(key, c), t),     t = 0, 1, ... since `init`, warm-up included,

so the draws do not depend on how the run is cut into chunks. `count` is a number, not a shape: the program fills the
first `count` rows of a buffer of fixed length, and pacing, remainders and resumed runs never compile again. The
sampler is an argument: a new step size does not compile again either. Only the state is donated.

With `thin` > 1 a draw reports the Info of its last transition, but a flag (`diverging`) if any of its transitions
raised it.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from jax.sharding import Mesh

import orthodrome.run.one_kernel as one_kernel
import orthodrome.run.parallel as parallel
from orthodrome.core import trees
from orthodrome.core.programs import QUICK_TO_COMPILE, compiled_with, keeps_programs
from orthodrome.core.types import Info, State, Tree
from orthodrome.random.keys import seeds_of
from orthodrome.run.rows import Rows, empty, taken_apart, write
from orthodrome.run.stretches import stretches
from orthodrome.samplers.contract import Sampler
from orthodrome.tuning.tuner import Tuner

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


def one_draw(sampler: Sampler, key: Array, state: State, first_step: Array, *, thin: int) -> tuple[State, Kept]:
    """Take `thin` transitions of one chain, whose key is `key`, and return the state and what is kept of it.

    The meetings of a tuner are not here but between draws (`stretches`)."""
    times = first_step + jnp.arange(thin, dtype=first_step.dtype)
    step = sampler.alone if isinstance(sampler, Tuner) else sampler.step
    state, infos = jax.lax.scan(lambda s, t: step(jax.random.fold_in(key, t), s), state, times)
    return state, keep(sampler, state, jax.tree.map(_last_or_any, infos))


# The inner jit keeps the trace, so that asking for the shapes of a draw does not trace the step twice.
@keeps_programs
@partial(jax.jit, static_argnames="thin", inline=True)
def draw_of_all(sampler: Sampler, keys: Array, state: State, first_step: Array, *, thin: int) -> tuple[State, Kept]:
    """Take a draw of every chain of a device."""
    take = lambda key, state: one_draw(sampler, key, state, first_step, thin=thin)
    mapped: Any = jax.vmap(take, axis_name="chains", spmd_axis_name=parallel.groups_axis(sampler))
    drawn: tuple[State, Kept] = mapped(keys, state)
    return drawn


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
    in_one_kernel: bool,
) -> tuple[State, Kept]:
    """Carry all chains through `count` draws; return the state, and a buffer whose first `count` rows are the draws."""
    one_device = partial(_one_device, length=length, thin=thin, in_one_kernel=in_one_kernel)
    split = (False, False, True, True, False, False)
    everywhere = parallel.split_chains(one_device, mesh, split)
    moved: tuple[State, Kept] = everywhere(sampler, key, chains, state, first_step, count)
    return moved


def _one_device(
    sampler: Sampler,
    key: Array,
    chains: Array,
    state: State,
    first_step: Array,
    count: Array,
    *,
    length: int,
    thin: int,
    in_one_kernel: bool,
) -> tuple[State, Kept]:
    """Carry the chains of one device: in one loop, each turn of which takes a draw of all of them, or in one from each
    meeting of a tuner to the next."""
    keys = chain_keys(key, chains)
    like = kept_of_one(sampler, keys, state, first_step, thin)
    if isinstance(sampler, Tuner):  # over before a kernel that runs faster would be compiled
        draw = partial(all_draws(thin, in_one_kernel, inlined=True), sampler, keys)
        return stretches(sampler, draw, like, state, (first_step, count, length))
    rows = jax.vmap(lambda _: empty(like, length))(chains)
    state, rows = all_draws(thin, in_one_kernel)(sampler, keys, state, rows, first_step, count)
    return state, jax.vmap(partial(taken_apart, like=like))(rows)


def kept_of_one(sampler: Sampler, keys: Array, state: State, first_step: Array, thin: int) -> Kept:
    """Return the shapes of what is kept of a draw of one chain."""
    kept = jax.eval_shape(partial(draw_of_all, thin=thin), sampler, keys, state, first_step)[1]
    like: Kept = jax.tree.map(lambda leaf: jax.ShapeDtypeStruct(leaf.shape[1:], leaf.dtype), kept)
    return like


def all_draws(thin: int, in_one_kernel: bool, inlined: bool = False) -> Callable[..., tuple[State, Rows]]:
    """Return the loop that takes `count` draws of all chains of a device and writes them to the first rows."""

    def loop(sampler: Sampler, keys: Array, state: State, rows: Rows, first_step: Array, count: Array) -> Any:
        def body(i: Array, carry: tuple[State, Rows]) -> tuple[State, Rows]:
            state, kept = draw_of_all(sampler, keys, carry[0], first_step + i * thin, thin=thin)
            return state, jax.vmap(write, in_axes=(0, 0, None))(carry[1], kept, i)

        return jax.lax.fori_loop(jnp.zeros_like(count), count, body, (state, rows))

    return one_kernel.as_one_kernel(loop, inlined) if in_one_kernel else loop


def chain_keys(key: Array, chains: Array) -> Array:
    """Return the keys of the chains, from which those of their transitions are folded."""
    return jax.vmap(jax.random.fold_in, in_axes=(None, 0))(key, chains)


def fits_one_kernel(sampler: Sampler, key: Array, chains: Array, state: State, mesh: Mesh | None, thin: int) -> bool:
    """Return whether a loop over draws like this is to be compiled into one kernel, on each device of a mesh."""
    if not one_kernel.known():
        return False
    if mesh is not None:  # shapes of what one device has, which say nothing of the other devices
        sampler, key = jax.tree.map(_shape, (sampler, key))
        chains, state = jax.tree.map(lambda leaf: _shape(leaf, mesh.size), (chains, state))
    keys, first_step = jax.eval_shape(chain_keys, key, chains), np.uint32(0)
    program = draw_of_all.trace(sampler, keys, state, first_step, thin=thin).jaxpr
    if program not in _fitting:  # a density is often sampled again
        _fitting[program] = one_kernel.fits(program, chains.shape[0])
    return _fitting[program]


_fitting: weakref.WeakKeyDictionary[Any, bool] = weakref.WeakKeyDictionary()
"""Traced program -> whether it fits one kernel."""


def _shape(leaf: Any, parts: int = 1) -> Any:
    """Return the shape of an array, or of one of equal parts of its rows, without its place; other leaves as they
    are."""
    if not isinstance(leaf, (jax.Array, jax.ShapeDtypeStruct)):
        return leaf
    shape = leaf.shape if parts == 1 else (leaf.shape[0] // parts, *leaf.shape[1:])
    return jax.ShapeDtypeStruct(shape, leaf.dtype, weak_type=getattr(leaf, "weak_type", False))


_settings: dict[str, Any] = {"static_argnames": ("length", "thin", "mesh", "in_one_kernel"), "donate_argnames": "state"}
advance = keeps_programs(jax.jit(_advance, **_settings))
"""`_advance`, compiled."""
advance_in_warmup = compiled_with(QUICK_TO_COMPILE, _advance, **_settings)
"""Returns `_advance` compiled in less time, for a tuner, whose program is the larger one and runs for a while."""
advance_in_warmup_kernels = compiled_with(QUICK_TO_COMPILE | one_kernel.OPTIONS, _advance, **_settings)
"""Returns `_advance` for a tuner whose stretches between meetings fit one kernel."""
advance_in_one_kernel = compiled_with(one_kernel.OPTIONS, _advance, **_settings)
"""Returns `_advance` for a loop that fits one kernel."""
