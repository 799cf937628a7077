"""Tuning by itself with stochastic gradients: steps and frictions from measured curvature and gradient noise.

There is no acceptance rate to aim at. Every transition of the warm-up is looked at with three gradients
(`gradient_looks`), which tell the curvature and the gradient's noise in the units of the leaves (of flat ones from
differences of gradients, `secants`; of others from the draws of a window alone, `scales`) or in those of the sampler's
own metric; from these follow the step and the friction (`Measured`).

The leading directions of the noise and of the curvature are followed too (`noise_directions`): along those of what the
sampler does not compensate for, the noise may raise the temperature by WARM, and along those of V the noise that is
taken out may have the share COMPENSATED: beyond 1 it could not be. The integrator's error goes by the largest
curvature, not the mean one. Before that the share falls from FALLING over the first third of the warm-up: on its way to
the mode the chain may be hot. Thermostats wait for the last units.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import Array

import orthodrome.tuning.gradient_looks as looks
import orthodrome.tuning.noise_directions as ways
import orthodrome.tuning.scales as scales
import orthodrome.tuning.secants as secants
from orthodrome.core import trees
from orthodrome.core.pytree import pytree, static
from orthodrome.core.types import Info, Setting, State, Tree
from orthodrome.gradients.estimator import Estimate
from orthodrome.samplers.contract import StochasticSampler
from orthodrome.samplers.learnt import SECOND, Measured
from orthodrome.tuning.freezing import TracedTuner
from orthodrome.tuning.gradient_looks import GradientLook, Seen
from orthodrome.tuning.noise_directions import Directions
from orthodrome.tuning.pooling import averaged_where, pooled_mean
from orthodrome.tuning.windows import until

WINDOWS = (10, 25, 45, 70)
"""The ends of the windows, in per cent of the warm-up."""
FALLING, WARM, COMPENSATED = 5.0, 0.03, 0.5
"""The relative rise of the temperature that is allowed: at first, in the end, and where noise is compensated for."""
BLOCKS, LAST = 5, 80
"""Directions turn so often, in per cent of the warm-up, and no more after so much of it."""


class StochasticTuning(NamedTuple):
    """What has been learnt, the same for all chains.

    done: transitions so far
    units: of the leaves
    moments, secants: of the draws, and of the differences of gradients, in this window
    since: draws in this window
    seen: the running means
    directions: along which noise and curvature are extreme
    """

    done: Array
    units: Tree
    moments: Tree
    secants: Tree
    since: Array
    seen: Seen
    directions: Directions


class StochasticAdaptedState(NamedTuple):
    """The state of the sampler inside, and the tuning."""

    inner: State
    tuning: StochasticTuning

    @property
    def position(self) -> Tree:
        """The embedded position."""
        return self.inner.position


@pytree
class StochasticAdapted(TracedTuner):
    """A sampler that tunes the stochastic gradient sampler it holds.

    sampler: what to tune; its `step_size` (or `friction`) None
    num_warmup: the length of the warm-up
    pool: the axes of `vmap` (and of the mesh) over which chains learn together
    """

    sampler: StochasticSampler
    num_warmup: Setting = None
    pool: tuple[str, ...] = static(default=("chains",))
    compiled: bool = static(default=True)

    def init(self, position: Tree, key: Array | None = None) -> StochasticAdaptedState:
        """Return the state at an embedded position, with steps so short that the first gradient hardly changes the
        velocity."""
        init_key, gradient_key = (None, None) if key is None else jax.random.split(key)
        zero = jnp.zeros((), trees.real_dtype(position))
        units = scales.ones(self.manifold, None, position)
        gradient = self.sampler.gradient
        estimate, _ = gradient.estimate(gradient_key, position, gradient.init(position))
        force = self.manifold.project(position, estimate.gradient)
        metric = self._inverse_metric(units, position, estimate)
        steepness = looks.square(metric, force).astype(zero.dtype) / max(1, self.manifold.dimension(position))
        seen = Seen(jnp.maximum(100 * SECOND**2 * steepness, 1), zero, zero, jnp.ones_like(zero), zero)
        moments = scales.start(self.manifold, None, position)
        lines = secants.start(self.manifold, position)
        directions = ways.start(trees.size(position), zero.dtype)
        tuning = StochasticTuning(jnp.zeros((), jnp.int32), units, moments, lines, zero, seen, directions)
        return StochasticAdaptedState(self._at(tuning, position).init(position, init_key), tuning)

    def alone(self, key: Array, state: StochasticAdaptedState) -> tuple[StochasticAdaptedState, Info]:
        """Make one transition of the sampler inside, and learn from it on this device."""
        step_key, one_key, other_key = jax.random.split(key, 3)
        tuning = state.tuning
        sampler = self._at(tuning, state.position)
        inner = trees.where(self._settling(tuning), sampler.restarted(state.inner), state.inner)
        inner, info = sampler.step(step_key, inner)
        look = looks.look(sampler.gradient, self.manifold, one_key, other_key, state.position, inner)
        return StochasticAdaptedState(inner, self._learnt(tuning, look)), info

    def until_meeting(self, state: StochasticAdaptedState) -> Array:
        """Return after how many transitions the next meeting is."""
        of = self.num_warmup
        blocks = [-(-of * percent // 100) for percent in range(BLOCKS, LAST + 1, BLOCKS)]
        return until(state.tuning.done, [*blocks, *(of * w // 100 for w in WINDOWS), of])

    def met(self, state: StochasticAdaptedState) -> StochasticAdaptedState:
        """Average what has been learnt over devices; turn the directions and set the units anew where it is time."""
        tuning = self._turned(self._pooled(state.tuning))
        return StochasticAdaptedState(state.inner, self._window(tuning, state.position))

    def at_end(self, state: StochasticAdaptedState) -> StochasticSampler:
        """Return the tuned sampler, from the state of all chains."""
        one = jax.tree.map(lambda leaf: leaf[0], state)
        chains = len(jax.tree.leaves(state.position)[0])
        tuning = one.tuning._replace(directions=ways.settled(one.tuning.directions, jnp.asarray(chains)))
        return self._at(tuning, one.position)

    def _at(self, tuning: StochasticTuning, position: Tree) -> StochasticSampler:
        """The sampler inside with the current steps and frictions."""
        falling = FALLING * (1 - 3 * tuning.done.astype(tuning.since.dtype) / self.num_warmup)
        noise, left, curvature = (sums.ratio for sums in tuning.directions)
        share = jnp.minimum(COMPENSATED / noise, WARM / jnp.maximum(left, 1e-6))
        *measured, _ = tuning.seen
        found = Measured(tuning.units, self.manifold.max_step(position), jnp.maximum(share, falling), *measured)
        return self.sampler.tuned(found._replace(stiffest=curvature))

    def _inverse_metric(self, units: Tree, position: Tree, estimate: Estimate) -> Tree:
        """Return D, the squares of the units or the inverse of the sampler's own metric."""
        if self.sampler.learns_units:
            return jax.tree.map(jnp.square, units)
        return self.sampler.inverse_metric_at(position, estimate)

    def _learnt(self, tuning: StochasticTuning, look: GradientLook) -> StochasticTuning:
        """Return what is known after one more look."""
        m, x = self.manifold, look.position
        metric = self._inverse_metric(tuning.units, x, look.estimate)
        return tuning._replace(
            done=tuning.done + 1,
            moments=scales.update(m, None, tuning.moments, x, None, self._mean),
            secants=secants.update(m, tuning.secants, look.way, look.bend, self._mean),
            since=tuning.since + 1,
            seen=looks.remembered(tuning.seen, look, metric, max(1, m.dimension(x)), self._mean),
            directions=ways.followed(tuning.directions, self.sampler, look, metric, self._mean),
        )

    def _turned(self, tuning: StochasticTuning) -> StochasticTuning:
        """Turn the directions at the end of a block."""
        percent = 100 * tuning.done // self.num_warmup
        at_end = (percent // BLOCKS != 100 * (tuning.done - 1) // self.num_warmup // BLOCKS) & (percent <= LAST)
        chains = jax.lax.psum(jnp.ones((), tuning.since.dtype), self.pool)
        turn = lambda d: ways.turned(d, chains)
        return tuning._replace(directions=jax.lax.cond(self.common(at_end), turn, lambda d: d, tuning.directions))

    def _pooled(self, tuning: StochasticTuning) -> StochasticTuning:
        """Average what has been learnt over devices: averages over chains, while the number of transitions and the
        units are common already."""
        if not self.pool[1:]:
            return tuning
        moments = scales.averages(self.manifold, None, tuning.moments)
        not_these: Any = {"done": None, "units": None, "since": None}
        return averaged_where(tuning._replace(moments=moments, **not_these), tuning, self.pool[1:])

    def _settling(self, tuning: StochasticTuning) -> Array:
        """Return whether the units are not final yet."""
        return 100 * tuning.done <= WINDOWS[-1] * self.num_warmup

    def _window(self, tuning: StochasticTuning, position: Tree) -> StochasticTuning:
        """Set the units anew, at the end of a window."""
        ends = jnp.stack([tuning.done == self.num_warmup * w // 100 for w in WINDOWS])
        renew = lambda now: self._renewed(now, position)
        return jax.lax.cond(self.common(jnp.any(ends)), renew, lambda now: now, tuning)

    def _renewed(self, tuning: StochasticTuning, position: Tree) -> StochasticTuning:
        units = scales.scales(self.manifold, None, tuning.moments, tuning.since, position, None)
        units = secants.units(self.manifold, tuning.secants, units)
        seen = tuning.seen
        if self.sampler.learns_units:
            # in units of the spread the curvature is about one; the first measurement replaces this
            zero = jnp.zeros_like(tuning.since)
            seen = seen._replace(curvature=zero + 4, measured=zero)
        start = scales.start(self.manifold, None, pooled_mean(position, self.pool))
        lines = secants.start(self.manifold, position)
        return StochasticTuning(tuning.done, units, start, lines, jnp.zeros_like(tuning.since), seen, tuning.directions)

    def _mean(self, x: Array) -> Array:
        """Return the average over the chains of this device."""
        return jax.lax.pmean(x, self.pool[:1])
