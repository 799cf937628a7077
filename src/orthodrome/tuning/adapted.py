"""Adaptation of exact samplers: the step size, the units of the leaves, and the trajectory length.

`Adapted` holds a sampler and runs it through warm-up, a phase of its own under `vmap(axis_name="chains")`: what is
learnt is pooled over the chains of a device at every transition, and over devices when they meet (`windows`; waiting
for each other would take devices longer than the transition of a light density). `freeze` returns the tuned sampler,
shared by all chains, and nothing is changed after it.

    0-5, 5-15, 15-30, 30-60 %   dual averaging of one step size; at the end of each window the units of the leaves
                                are set anew from its draws and gradients (`scales`), and dual averaging restarts
    60-75 %                     dual averaging with the final units
    75-100 %                    HMC without `num_steps`: measure trajectories (`trajectories.length`); NUTS: measure
                                kinds of trees (`trajectories.depth_choice`); else as before

The step of a leaf is (one number) x (its unit), never more than the manifold's `max_step`. A sampler without gradients
asks the density itself for units that its draws cannot tell (`probing`), at the start and at the end of each window.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple, cast

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

import orthodrome.tuning.dual_averaging as dual_averaging
import orthodrome.tuning.probing as probing
import orthodrome.tuning.scales as scales
import orthodrome.tuning.trajectories.choice as trajectory_choice
import orthodrome.tuning.trajectories.depth_choice as depth_choice
import orthodrome.tuning.trajectories.length as trajectory_length
import orthodrome.tuning.windows as windows
from orthodrome.core import trees
from orthodrome.core.programs import keeps_programs
from orthodrome.core.pytree import pytree, static
from orthodrome.core.types import Info, Setting, State, Tree
from orthodrome.linear import leaves
from orthodrome.linear.linear_map import is_map
from orthodrome.samplers.contract import ExactSampler, TrajectorySampler
from orthodrome.samplers.learnt import Learnt
from orthodrome.tuning.dual_averaging import DualAveraging
from orthodrome.tuning.metrics import Metric, PerElement
from orthodrome.tuning.pooling import averaged_where, pooled_mean
from orthodrome.tuning.trajectories.depth_choice import DepthSums
from orthodrome.tuning.trajectories.length import TrajectorySums
from orthodrome.tuning.trajectories.stage import Stage
from orthodrome.tuning.tuner import Tuner

JITTER = 0.1
"""The relative spread of the step from trajectory to trajectory when the length is learnt."""


class ExactTuning(NamedTuple):
    """What has been learnt, the same for all chains.

    step: transitions so far
    dual: the state of dual averaging
    units: of the leaves
    moments: of the draws in this window
    since: draws in this window
    curve: the sums over trajectories, or over kinds of trees; None: no length and no depth is learnt
    """

    step: Array
    dual: DualAveraging
    units: Tree
    moments: Tree
    since: Array
    curve: TrajectorySums | DepthSums | None


class AdaptedState(NamedTuple):
    """The state of the sampler inside, and the tuning."""

    inner: State
    tuning: ExactTuning

    @property
    def position(self) -> Tree:
        """The embedded position."""
        return self.inner.position


@pytree
class Adapted(Tuner):
    """A sampler that tunes the exact sampler it holds.

    sampler: what to tune; its `step_size` (and `num_steps`) None
    num_warmup: the length of the warm-up; None: `sample` sets it
    target_acceptance: the mean acceptance rate that dual averaging aims at; None: the sampler's own
    metric: None (a unit per element on flat leaves and `LogRatioSimplex`, one number elsewhere), or `DenseMetric()` or
        `LowRankMetric()` for correlated Euclidean leaves
    pool: the axes over which chains learn together: that of `vmap` at every transition, those of a mesh at meetings
    """

    sampler: ExactSampler
    num_warmup: Setting = None
    target_acceptance: Setting = None
    metric: Metric | None = None
    pool: tuple[str, ...] = static(default=("chains",))
    compiled: bool = static(default=True)

    @property
    def learns_length(self) -> bool:
        """Whether the trajectory length is to be learnt."""
        return "length" in self.sampler.learns

    @property
    def learns_depth(self) -> bool:
        """Whether the limit of the depth of trees is to be learnt."""
        return "depth" in self.sampler.learns

    @property
    def _metric(self) -> Metric | None:
        """The metric; without gradients the units come from the density (`probing`), which knows numbers only."""
        return PerElement() if self.metric is None and not self.sampler.blind else self.metric

    def init(self, position: Tree, key: Array | None = None) -> AdaptedState:
        """Return the state at an embedded position, with untuned steps."""
        dtype = trees.real_dtype(position)
        units = self._probed(scales.ones(self.manifold, self._metric, position), position, lambda a: a)
        tuning = ExactTuning(
            step=jnp.zeros((), jnp.int32),
            dual=self._begin(position, units),
            units=units,
            moments=scales.start(self.manifold, self._metric, position),
            since=jnp.zeros((), dtype),
            curve=self._nothing_measured(position),
        )
        return AdaptedState(self._at(tuning).init(position, key), tuning)

    def alone(self, key: Array, state: AdaptedState) -> tuple[AdaptedState, Info]:
        """Make one transition of the sampler inside, and learn from it on this device."""
        tuning = state.tuning
        sampler, stage = self._at(tuning), self._stage(tuning, state.position)
        curve: TrajectorySums | DepthSums | None
        if isinstance(tuning.curve, DepthSums):
            inner, info, curve = depth_choice.taken(self.sampler, stage, key, state.inner, tuning.curve)
        elif tuning.curve is not None:  # a sampler that learns the length promises that contract
            long = cast(TrajectorySampler, sampler)
            inner, info, curve = trajectory_length.taken(long, stage, key, state.inner, tuning.curve)
        else:
            (inner, info), curve = sampler.step(key, state.inner), None
        moments = scales.update(self.manifold, self._metric, tuning.moments, inner.position, inner.gradient, self._mean)
        dual = self._dual(tuning, info, inner.position)
        tuning = ExactTuning(tuning.step + 1, dual, tuning.units, moments, tuning.since + 1, curve)
        return AdaptedState(inner, tuning), info

    def until_meeting(self, state: AdaptedState) -> Array:
        """Return after how many transitions the next meeting is."""
        return windows.until_meeting(state.tuning.step, self.num_warmup)

    def met(self, state: AdaptedState) -> AdaptedState:
        """Pool what has been learnt over devices; at the end of a window, set the units anew and restart dual
        averaging."""
        tuning, x = self._pooled(state.tuning), state.position
        at_end = self.common(windows.ends_window(tuning.step, self.num_warmup))
        return AdaptedState(
            state.inner, jax.lax.cond(at_end, lambda now: self._renewed(now, x), lambda now: now, tuning)
        )

    def freeze(self, state: AdaptedState) -> ExactSampler:
        """Return the tuned sampler, from the state of all chains."""
        tuning = jax.tree.map(lambda leaf: leaf[0], state.tuning)
        tuning = tuning._replace(dual=tuning.dual._replace(log_step=tuning.dual.log_average))
        position = jax.tree.map(lambda leaf: leaf[0], state.position)
        step, room = _settled(self, tuning, position, 1.0)
        sampler = self._tuned(step, tuning)
        if self.learns_depth:
            factor, limit, persistence, apart = depth_choice.best(cast(DepthSums, tuning.curve))
            step, _ = _settled(self, tuning, position, min(factor, float(room)))
            straight = np.asarray(persistence, tuning.dual.log_step.dtype)
            return sampler.tuned(Learnt(step, depth_limit=limit, persistence=straight, leaf_steps=apart))
        if not self.learns_length:
            return sampler
        overhead = trajectory_choice.overhead(cast(TrajectorySampler, sampler), position)
        factor, num_steps = trajectory_choice.best(cast(TrajectorySums, tuning.curve), overhead)
        step, _ = _settled(self, tuning, position, min(factor, float(room)))
        return sampler.tuned(Learnt(step, num_steps))

    def outline(self, state: AdaptedState) -> ExactSampler:
        """Return the sampler that `freeze` will return, with shapes in place of arrays."""
        shapes: ExactSampler = jax.eval_shape(self.like_tuned, state)
        return shapes

    def like_tuned(self, state: AdaptedState) -> ExactSampler:
        """Return a sampler with the shapes of the tuned one, from any state of all chains."""
        sampler = self._at(jax.tree.map(lambda leaf: leaf[0], state.tuning))
        if self.learns_depth:
            half, count = jnp.zeros((), state.tuning.dual.log_step.dtype), jnp.zeros((), jnp.int32)
            return sampler.tuned(Learnt(sampler.step_size, depth_limit=count, persistence=half, leaf_steps=count))
        if not self.learns_length:
            return sampler
        return sampler.tuned(Learnt(sampler.step_size, jnp.zeros(trajectory_choice.TURNS, jnp.int32)))

    def _at(self, tuning: ExactTuning) -> ExactSampler:
        """Return the sampler inside with the current steps."""
        return self._tuned(self._steps(tuning) if "step" in self.sampler.learns else self.sampler.step_size, tuning)

    def _tuned(self, h: Any, tuning: ExactTuning) -> ExactSampler:
        """Return the sampler inside with these steps."""
        jitter = jnp.asarray(JITTER, tuning.dual.log_step.dtype) if self.learns_length else None
        return self.sampler.tuned(Learnt(h, jitter=jitter))

    def _steps(self, tuning: ExactTuning) -> Any:
        """Return the steps of the leaves, one number times their units; a sampler with a metric of its own has one
        number."""
        h = jnp.exp(tuning.dual.log_step)
        return leaves.scaled(tuning.units, h) if "units" in self.sampler.learns else h

    def _nothing_measured(self, position: Tree) -> TrajectorySums | DepthSums | None:
        if self.learns_depth:
            return depth_choice.begin(self.manifold, position, cast(Any, self.sampler).max_depth)
        return trajectory_length.start(self.manifold, position) if self.learns_length else None

    def _stage(self, tuning: ExactTuning, position: Tree) -> Stage:
        log_step, room = tuning.dual.log_step, self._room(tuning.dual.log_step, tuning.units, position)
        settled = windows.counts_depths(tuning.step, self.num_warmup)
        measuring = self._measuring(tuning)
        return Stage(tuning.step, measuring, settled, log_step, self._steps(tuning), room, self._mean, self.common)

    def _dual(self, tuning: ExactTuning, info: Info, position: Tree) -> DualAveraging:
        wanted = self.sampler.target_acceptance if self.target_acceptance is None else self.target_acceptance
        error = wanted - self._mean(info.acceptance_rate)
        updated = dual_averaging.update(tuning.dual, error, self._ceiling(position, tuning.units))
        frozen = (self.learns_length | self.learns_depth) & self._measuring(tuning)
        settled = tuning.dual._replace(log_step=tuning.dual.log_average)
        return trees.where(frozen, settled, updated)

    def _pooled(self, tuning: ExactTuning) -> ExactTuning:
        """Average what has been learnt over devices: averages over chains, while the number of transitions and the
        units are common already."""
        if not self.pool[1:]:
            return tuning
        moments = scales.averages(self.manifold, self._metric, tuning.moments)
        not_these: Any = {"step": None, "units": None, "since": None}
        return averaged_where(tuning._replace(moments=moments, **not_these), tuning, self.pool[1:])

    def _renewed(self, tuning: ExactTuning, position: Tree) -> ExactTuning:
        units = scales.scales(self.manifold, self._metric, tuning.moments, tuning.since, position, self._gather)
        everywhere = lambda x: pooled_mean(x, self.pool)
        units = self._probed(units, position, everywhere)
        return tuning._replace(
            dual=self._begin(position, units),
            units=units,
            moments=scales.start(self.manifold, self._metric, everywhere(position)),
            since=jnp.zeros_like(tuning.since),
        )

    def _probed(self, units: Tree, position: Tree, pool: Callable[[Array], Array]) -> Tree:
        """Correct the units of a sampler without gradients by the density: draws that do not move tell nothing."""
        if not self.sampler.blind or self.metric is not None or "units" not in self.sampler.learns:
            return units
        height = lambda x: self.sampler.init(x).logdensity
        return probing.corrected(self.manifold, height, position, units, pool)

    def _measuring(self, tuning: ExactTuning) -> Array:
        return windows.measures(tuning.step, self.num_warmup)

    def _begin(self, position: Tree, units: Tree) -> DualAveraging:
        """Start dual averaging at d^(-1/4), as the stable step shrinks with the dimension where the spread is one."""
        first = jnp.asarray(-0.25 * math.log(max(1, self.manifold.dimension(position))), trees.real_dtype(position))
        return dual_averaging.start(jnp.minimum(first, self._ceiling(position, units)))

    def _ceiling(self, position: Tree, units: Tree) -> Array:
        """Return the largest log step: no leaf beyond its manifold's `max_step`."""
        most = jax.tree.map(_units_in, self.manifold.max_step(position), units)
        return jnp.log(jnp.min(jnp.stack([leaf.astype(trees.real_dtype(position)) for leaf in jax.tree.leaves(most)])))

    def _room(self, log_step: Array, units: Tree, position: Tree) -> Array:
        """Return the factor by which a step may still grow."""
        return jnp.exp(self._ceiling(position, units) - log_step)

    def _mean(self, x: Array) -> Array:
        """Return the average over the chains of this device."""
        return jax.lax.pmean(x, self.pool[:1])

    def _gather(self, rows: Array) -> Array:
        """Return the rows of all chains, one below the other."""
        for axis in self.pool:
            rows = jax.lax.all_gather(rows, axis, tiled=True)
        return rows


@keeps_programs
@jax.jit
def _settled(adapted: Adapted, tuning: ExactTuning, position: Tree, factor: float) -> tuple[Any, Array]:
    """Return the steps times a factor, and by how much they may grow: one program for all that `freeze` computes."""
    room = adapted._room(tuning.dual.log_average, tuning.units, position)
    return leaves.scaled(adapted._at(tuning).step_size, factor), room


def _units_in(most: float, unit: Any) -> Array:
    """Return how many units fit in the largest step of a leaf: infinitely many on flat leaves, where maps live."""
    return jnp.full((), jnp.inf, unit.size.dtype) if is_map(unit) else jnp.min(jnp.asarray(most, unit.dtype) / unit)
