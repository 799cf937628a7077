"""Everything before the first transition: the doors, the wrapping in a tuner, placement, the first states."""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import numpy as np
from jax import Array
from jax.sharding import Mesh

import orthodrome.run.parallel as parallel
from orthodrome import doors
from orthodrome.core import programs
from orthodrome.core.compilation_cache import use_compilation_cache
from orthodrome.core.pytree import replace
from orthodrome.core.types import State, Tree
from orthodrome.doors.settings import Probe
from orthodrome.errors import BadInput
from orthodrome.random.keys import new_key
from orthodrome.run.engines.compiled import compiled_engine
from orthodrome.run.engines.contract import Engine, buffer_length
from orthodrome.run.engines.python import PythonEngine, first_python_states
from orthodrome.run.start import Look, bytes_per_draw, first_states
from orthodrome.samplers.contract import Sampler
from orthodrome.tuning import Tuner, needs_tuning, tuner_for


class Plan(NamedTuple):
    """The seed, the number of chains and the lengths of a run, and what of the warm-up is kept."""

    seed: int
    num_chains: int
    num_warmup: int
    num_draws: int
    thin: int
    keep_warmup: bool
    keep_warmup_stats: bool = False


class Setup(NamedTuple):
    """A run that is ready to go; `sampler` is wrapped in `Adapted` if it is to be tuned."""

    engine: Engine
    sampler: Sampler
    state: State
    positions: Tree
    look: Look
    spread: bool = True
    """Whether each process has chains of its own; otherwise all have the same, and their data are spread."""

    @property
    def tunes(self) -> bool:
        """Whether the warm-up tunes the sampler."""
        return isinstance(self.sampler, Tuner)

    def inner(self, state: State) -> State:
        """Return the state of the sampler that draws, from a state of the warm-up."""
        return state.inner if self.tunes else state

    def tuned(self, state: State) -> Sampler:
        """Return the sampler that draws, from the last state of the warm-up (NumPy arrays, so nothing compiles)."""
        return self.sampler.freeze(state) if isinstance(self.sampler, Tuner) else self.sampler

    def outline(self, state: State) -> Sampler | None:
        """Return the sampler that draws with shapes for what is learnt, from a state of the warm-up; None: unknown."""
        return self.sampler.outline(state) if isinstance(self.sampler, Tuner) else self.sampler


def set_up(sampler: Sampler, start: Any, plan: Plan, mesh: Mesh | None) -> Setup:
    """Check what comes in, wrap the sampler in its tuner, place it on the devices, and compute the first states."""
    if start is None and not sampler.compiled:
        return set_up_own_start(sampler, plan)
    use_compilation_cache()
    positions, random = doors.read_start(start, plan.num_chains, sampler.manifold)
    programs.remember(sampler, positions, plan.thin)
    doors.check_fit(positions, sampler.manifold)
    doors.check_sampler(sampler, positions)
    doors.check_density(doors.density_of(sampler), positions)
    sampler = with_tuning(sampler, plan, mesh)
    key = new_key(np.uint32(plan.seed))
    engine = new_engine(sampler, key, plan, mesh, bytes_per_draw(positions))
    sampler = engine.place_sampler(sampler)
    state, look = _begin(sampler, key, plan, positions, random)
    target = doors.density_of(sampler)
    data = None if target is None else target.data
    doors.check_look(look, positions, sampler.manifold, not isinstance(start, list), data)
    if target is not None:
        doors.check_rows_alone(target, jax.tree.map(lambda leaf: leaf[0], positions))
        doors.check_components(target.manifold, _first_position(state))
        doors.warn_poles(target, _first_position(state), adjusted=sampler.adjusted)
        doors.warn_underflow(target, _first_position(state))
    spread = not sampler.spreads_data and parallel.rows_mesh(sampler) is None
    return Setup(engine, sampler, engine.place(state), positions, look, spread)


def set_up_own_start(sampler: Any, plan: Plan) -> Setup:
    """Set up a sampler that Python steps and that makes its own start: nothing comes in that a door could check."""
    key = new_key(np.uint32(plan.seed))
    states, positions = first_python_states(sampler, key, chains_here(sampler, plan))
    doors.check_sampler(sampler, positions)
    engine = new_engine(sampler, key, plan, None, bytes_per_draw(positions))
    look = Look(None, None, None, None)
    return Setup(engine, sampler, engine.place(states), positions, look, not sampler.spreads_data)


def chains_here(sampler: Any, plan: Plan) -> range:
    """Return the numbers of the chains that this process steps: its own, or all if the data are spread instead."""
    return range(plan.num_chains) if sampler.spreads_data else parallel.own_chains(plan.num_chains)


def new_engine(sampler: Any, key: Any, plan: Plan, mesh: Any, bytes_per_draw: int) -> Engine:
    """Return the engine that suits the sampler."""
    length = buffer_length(bytes_per_draw * plan.num_chains)
    if sampler.compiled:
        return compiled_engine(key, plan.num_chains, mesh, length, parallel.rows_mesh(sampler))
    return PythonEngine(key, chains_here(sampler, plan), length, plan.num_warmup, plan.keep_warmup)


def with_tuning(sampler: Sampler, plan: Plan, mesh: Mesh | None) -> Sampler:
    """Return the sampler, wrapped in its tuner (pooling over all devices) if something is to be learnt."""
    pool = ("chains",) if mesh is None else ("chains", parallel.AXIS)
    if isinstance(sampler, Tuner):
        return replace(sampler, pool=pool, num_warmup=plan.num_warmup)
    if not needs_tuning(sampler):
        return sampler
    if plan.num_warmup < 1:
        raise BadInput(
            f"{type(sampler).__name__} has no step_size (or num_steps), which the warm-up would learn, but num_warmup "
            "is 0; set it by hand or give num_warmup=1000"
        )
    return tuner_for(sampler, plan.num_warmup, pool)


def _first_position(state: State) -> Tree:
    """Return the embedded position of the first chain."""
    if isinstance(state, list):
        return state[0].position
    return jax.tree.map(lambda leaf: np.asarray(leaf)[0], state.position)


def _begin(sampler: Sampler, key: Array, plan: Plan, positions: Tree, random: bool) -> tuple[State, Look]:
    chains = np.arange(plan.num_chains, dtype=np.uint32)
    probe = doors.probe_of(sampler)
    if sampler.compiled:
        _, state, look = first_states(sampler, probe, key, chains, positions, random=random)
        return state, jax.tree.map(np.asarray, look)
    return _begin_in_python(sampler, probe, key, chains, chains_here(sampler, plan), positions, random)


def _begin_in_python(
    sampler: Sampler, probe: Probe, key: Array, chains: np.ndarray, own: range, positions: Tree, random: bool
) -> tuple[State, Look]:
    x, keys, look = first_states(sampler, probe, key, chains, positions, random=random, with_state=False)
    starts = {i: jax.tree.map(lambda leaf, i=i: np.array(leaf[i]), x) for i in own}
    return [sampler.init(starts[i], keys[i]) for i in own], jax.tree.map(np.asarray, look)
