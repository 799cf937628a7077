"""The engine of samplers that Python steps (`compiled = False`): numba kernels, streams of data, large states.

One chain after the other, one transition at a time; the state of the run is a list with the state of each chain. Where
a transition keeps to one core and needs no interpreter meanwhile (`one_core`), chains are stepped side by side, each in
a thread, which changes none of their numbers. The keys are those of the compiled loop. A state belongs to the engine:
`step` may change its arrays in place and return them, so a state of hundreds of megabytes is never copied. What is kept
of a draw is copied at once into rows (chain, draw, ...). Between two chunks no transition is under way, so a checkpoint
written then is consistent.

A `PythonSampler` uses its key for nothing but a seed, and in the middle of a numba program a small call of JAX costs a
third of a millisecond (the caches are cold and a thread must wake). So its seeds are drawn in blocks, one call for
`SEEDS_AT_ONCE` transitions, and `step` is given a `DrawnSeed`, of which `seed_of` returns what it returns of the key.

In a warm-up that is not kept, only the Info of the transitions and whether the draw is finite are looked at.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from threading import Lock
from typing import Any, NamedTuple, cast

import jax
import numpy as np
from jax import Array

from orthodrome.core.machine import usable_cores
from orthodrome.core.types import Tree
from orthodrome.random.keys import DrawnSeed, drawn_seeds
from orthodrome.run.loop import Kept, init_key, transition_key, transition_seeds
from orthodrome.samplers.contract import PythonSampler

SEEDS_AT_ONCE = 64
"""How many seeds one call draws: enough that its cost vanishes, few enough that unused ones cost nothing."""


class PythonEngine(NamedTuple):
    """The engine that calls `step` from Python; draws of the first `num_warmup` transitions only if `keep_warmup`.

    chains: the numbers of the chains of this process
    """

    key: Array
    chains: range
    length: int
    num_warmup: int = 0
    keep_warmup: bool = True
    libraries: tuple[str, ...] = ("numba",)

    def place(self, state: Any) -> Any:
        return list(state)

    def join(self, state: Any) -> Any:
        return list(state)

    def own(self, state: Any) -> Any:
        return state

    def place_sampler(self, sampler: Any) -> Any:
        return sampler

    def advance(self, sampler: Any, state: Any, first_step: int, count: int, thin: int) -> tuple[Any, Kept]:
        keeps = first_step >= self.num_warmup or self.keep_warmup
        rows = DrawRows(len(self.chains), count)

        def carry(chain: int) -> None:
            keys = self._keys(sampler, np.uint32(self.chains[chain]), first_step)
            for i in range(count):
                state[chain], info = _transitions(sampler, state[chain], itertools.islice(keys, thin))
                rows.write(keep_in_python(sampler, state[chain], info, keeps), chain, i)

        each_of(len(self.chains), carry, usable_cores() if sampler.one_core else 1)
        return state, rows.arrays

    def program(self, sampler: Any, state: Any) -> str:
        return f"{jax.tree.structure(sampler)} {jax.tree.structure(state)}"

    def _keys(self, sampler: Any, chain: np.uint32, first_step: int) -> Iterator[Array | DrawnSeed]:
        """Yield the keys of a chain's transitions from `first_step` on, as seeds if the sampler wants nothing else."""
        if not isinstance(sampler, PythonSampler):
            yield from (transition_key(self.key, chain, np.uint32(t)) for t in itertools.count(first_step))
        for t in itertools.count(first_step, SEEDS_AT_ONCE):
            steps = np.arange(t, t + SEEDS_AT_ONCE).astype(np.uint32)
            yield from drawn_seeds(transition_seeds(self.key, chain, steps))


def each_of(count: int, call: Callable[[int], None], threads: int) -> None:
    """Call a function for each number below `count`, on so many threads, in the precision of JAX that holds here."""
    if min(threads, count) == 1:
        for n in range(count):
            call(n)
        return
    wide = bool(jax.config.read("jax_enable_x64"))  # a thread has its own

    def inside(n: int) -> None:
        with jax.enable_x64(wide):
            call(n)

    with ThreadPoolExecutor(min(threads, count)) as pool:
        list(pool.map(inside, range(count)))


def _transitions(sampler: Any, state: Any, keys: Iterator[Array | DrawnSeed]) -> tuple[Any, Any]:
    """Take a transition per key; the Info is that of the last, its flags raised if any transition raised them."""
    infos = []
    for key in keys:
        state, info = sampler.step(key, state)
        infos.append(info)
    return state, infos[0] if len(infos) == 1 else jax.tree.map(_last_or_any, *infos)


def _last_or_any(*values: Any) -> Any:
    return np.any(values) if np.asarray(values[-1]).dtype == np.bool_ else values[-1]


def keep_in_python(sampler: Any, state: Any, info: Any, keeps: bool) -> Kept:
    """Look at a state; the draw and its distance from the manifold only if the draw is to be kept."""
    draw = draw_of(sampler, state)
    finite = np.array(all(np.all(np.isfinite(leaf)) for leaf in jax.tree.leaves(draw)))
    if not keeps:
        return Kept(None, info, None, finite)
    return Kept(draw, info, distance_of(sampler, state), finite)


def draw_of(sampler: Any, state: Any) -> Tree:
    """Return what is kept of a state: what the sampler's `draw` says, else the position in the user's coordinates."""
    own = getattr(type(sampler), "draw", None)
    return _to_user(sampler.manifold, state.position) if own is None else own(sampler, state)


def distance_of(sampler: Any, state: Any) -> Any:
    """Return how far a state is from its manifold: what the sampler's `distance` says, else the manifold, by JAX."""
    own = getattr(type(sampler), "distance", None)
    if own is not None:
        return own(sampler, state)
    return None if sampler.manifold is None else _distance(sampler.manifold, state.position)


_to_user = jax.jit(lambda manifold, x: manifold.to_user(x))
_distance = jax.jit(lambda manifold, x: manifold.distance(x))


class DrawRows:
    """Arrays (chain, draw, ...) of what is kept, made like the first draw that comes, from whichever chain."""

    def __init__(self, num_chains: int, count: int) -> None:
        self.shape, self.arrays, self.lock = (num_chains, count), cast(Any, None), Lock()

    def write(self, kept: Kept, chain: int, i: int) -> None:
        """Copy what is kept of a draw into its row."""
        with self.lock:
            self.arrays = jax.tree.map(self._empty, kept) if self.arrays is None else self.arrays
        for row, leaf in zip(jax.tree.leaves(self.arrays), jax.tree.leaves(kept), strict=True):
            row[chain, i] = leaf

    def _empty(self, leaf: Any) -> np.ndarray:
        values = np.asarray(leaf)
        return np.empty((*self.shape, *values.shape), values.dtype)


def first_python_states(sampler: Any, key: Array, chains: range) -> tuple[list[Any], Tree]:
    """Return the states of samplers that make their own start, and their draws with a leading axis of chains."""
    states = [sampler.init(None, init_key(key, np.uint32(chain))) for chain in chains]
    return states, jax.tree.map(lambda *leaves: np.stack(leaves), *[draw_of(sampler, state) for state in states])
