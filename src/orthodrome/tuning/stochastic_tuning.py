"""Tuning by itself with stochastic gradients: steps and frictions from measured curvature and gradient noise.

There is no acceptance rate to aim at. After every transition of the warm-up, the gradient is asked three times: twice
at the new position x with independent batches, and with the first of these batches at the old position. With D the
squares of the units of the leaves (of flat ones from these differences, `secants`; of others from the draws of a
window alone, `scales`) or the inverse of the sampler's own metric, pooled over chains and averaged with a memory of
50 steps,

    V   = (g1 - g2)' D (g1 - g2) / (2 m)                             the gradient's noise
    L^2 = (g1 - g0)' D (g1 - g0) / (x - x0)' D^-1 (x - x0)           the curvature along the way, of the same batch

give the step and the friction (`Measured`). The noise may raise the temperature by the share WARM, or by COMPENSATED
where it is compensated for (V told to a sampler that takes it out, or a thermostat). Before that the share falls from
FALLING over the first third of the warm-up: on its way to the mode the chain may be hot. Thermostats wait for the
last units.
"""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import Array

import orthodrome.tuning.scales as scales
import orthodrome.tuning.secants as secants
from orthodrome.core import trees
from orthodrome.core.pytree import pytree, static
from orthodrome.core.types import Info, Setting, State, Tree
from orthodrome.gradients.estimator import Estimate
from orthodrome.linear import leaves, maps
from orthodrome.samplers.contract import StochasticSampler
from orthodrome.samplers.learnt import SECOND, Measured
from orthodrome.tuning.tuner import Tuner

WINDOWS = (10, 25, 45, 70)
"""The ends of the windows, in per cent of the warm-up."""
FALLING, WARM, COMPENSATED = 5.0, 0.04, 0.4
"""The relative rise of the temperature that is allowed: at first, in the end, and where noise is compensated for."""
MEMORY = 50
"""The number of transitions over which the running means are averaged."""


class Seen(NamedTuple):
    """Running means of curvature, gradient noise (also without units) and the metric's size, and their number."""

    curvature: Array
    noise: Array
    raw_noise: Array
    stretch: Array
    measured: Array


class StochasticTuning(NamedTuple):
    """What has been learnt, the same for all chains.

    done: transitions so far
    units: of the leaves
    moments, secants: of the draws, and of the differences of gradients, in this window
    since: draws in this window
    seen: the running means
    """

    done: Array
    units: Tree
    moments: Tree
    secants: Tree
    since: Array
    seen: Seen


class StochasticAdaptedState(NamedTuple):
    """The state of the sampler inside, and the tuning."""

    inner: State
    tuning: StochasticTuning

    @property
    def position(self) -> Tree:
        """The embedded position."""
        return self.inner.position


@pytree
class StochasticAdapted(Tuner):
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
        steepness = _square(metric, force).astype(zero.dtype) / max(1, self.manifold.dimension(position))
        seen = Seen(jnp.maximum(100 * SECOND**2 * steepness, 1), zero, zero, jnp.ones_like(zero), zero)
        moments = scales.start(self.manifold, None, position)
        lines = secants.start(self.manifold, position)
        tuning = StochasticTuning(jnp.zeros((), jnp.int32), units, moments, lines, zero, seen)
        return StochasticAdaptedState(self._at(tuning, position, told=False).init(position, init_key), tuning)

    def step(self, key: Array, state: StochasticAdaptedState) -> tuple[StochasticAdaptedState, Info]:
        """Make one transition of the sampler inside, and learn from it."""
        step_key, one_key, other_key = jax.random.split(key, 3)
        tuning = state.tuning
        told = self._told(one_key, state.inner)
        sampler = self._at(tuning, state.position, told)
        inner = trees.where(self._settling(tuning), sampler.restarted(state.inner), state.inner)
        inner, info = sampler.step(step_key, inner)
        seen, lines = self._measured(one_key, other_key, tuning, state.inner.position, inner)
        moments = scales.update(self.manifold, None, tuning.moments, inner.position, None, self._mean)
        learnt = StochasticTuning(tuning.done + 1, tuning.units, moments, lines, tuning.since + 1, seen)
        return StochasticAdaptedState(inner, self._window(learnt, inner.position)), info

    def freeze(self, state: StochasticAdaptedState) -> StochasticSampler:
        """Return the tuned sampler, from the state of all chains."""
        one = jax.tree.map(lambda leaf: jnp.asarray(leaf[0]), state)
        told = self._told(jax.random.key(0), one.inner)
        return self._at(one.tuning, one.position, told)

    def _at(self, tuning: StochasticTuning, position: Tree, told: bool) -> StochasticSampler:
        """Return the sampler inside with the current steps and frictions."""
        falling = FALLING * (1 - 3 * tuning.done.astype(tuning.since.dtype) / self.num_warmup)
        share = jnp.maximum(COMPENSATED if self.sampler.bears_noise(told) else WARM, falling)
        *measured, _ = tuning.seen
        return self.sampler.tuned(Measured(tuning.units, self.manifold.max_step(position), share, *measured))

    def _inverse_metric(self, units: Tree, position: Tree, estimate: Estimate) -> Tree:
        """Return D, the squares of the units or the inverse of the sampler's own metric."""
        if self.sampler.learns_units:
            return jax.tree.map(jnp.square, units)
        return self.sampler.inverse_metric_at(position, estimate)

    def _told(self, key: Array, inner: State) -> bool:
        """Return whether the estimator states V, from the structure of its result."""
        gradient = self.sampler.gradient
        shapes = jax.eval_shape(lambda k, x, m: gradient.estimate(k, x, m)[0], key, inner.position, inner.memory)
        return shapes.noise is not None

    def _measured(
        self, one_key: Array, other_key: Array, tuning: StochasticTuning, old: Tree, inner: State
    ) -> tuple[Seen, Tree]:
        x, m, gradient = inner.position, self.manifold, self.sampler.gradient
        ask = lambda key, y: gradient.estimate(key, y, inner.memory)[0]
        estimate = ask(one_key, x)
        here, again = m.project(x, estimate.gradient), m.project(x, ask(other_key, x).gradient)
        there = m.project(old, ask(jax.random.clone(one_key), old).gradient)
        metric = self._inverse_metric(tuning.units, x, estimate)
        size = lambda a: a.astype(tuning.since.dtype)
        way, bend, error = trees.subtract(x, old), trees.subtract(here, there), trees.subtract(here, again)
        moved, twice = size(_inverse_square(metric, way)), 2 * max(1, m.dimension(x))
        noise, raw_noise = size(_square(metric, error)) / twice, size(trees.dot(error, error)) / twice
        curvature = jnp.sqrt(size(_square(metric, bend)) / jnp.maximum(moved, 1e-30))
        curvature = jnp.where(moved > 0, curvature, jnp.nan)
        seen, weight = tuning.seen, jnp.maximum(1 / (tuning.seen.measured + 1), 1 / MEMORY)
        mix = lambda before, now: before + weight * (self._mean(jnp.where(jnp.isfinite(now), now, before)) - before)
        seen = Seen(
            curvature=jnp.maximum(mix(seen.curvature, curvature), 1e-12),
            noise=mix(seen.noise, noise),
            raw_noise=mix(seen.raw_noise, raw_noise),
            stretch=jnp.maximum(mix(seen.stretch, size(leaves.largest_diagonal(metric, x))), 1e-12),
            measured=seen.measured + 1,
        )
        return seen, secants.update(m, tuning.secants, way, bend, self._mean)

    def _settling(self, tuning: StochasticTuning) -> Array:
        """Return whether the units are not final yet."""
        return 100 * tuning.done <= WINDOWS[-1] * self.num_warmup

    def _window(self, tuning: StochasticTuning, position: Tree) -> StochasticTuning:
        """Set the units anew, at the end of a window."""
        ends = jnp.stack([tuning.done == self.num_warmup * w // 100 for w in WINDOWS])
        return trees.where(jnp.any(ends), self._renewed(tuning, position), tuning)

    def _renewed(self, tuning: StochasticTuning, position: Tree) -> StochasticTuning:
        units = scales.scales(self.manifold, None, tuning.moments, tuning.since, position, None)
        units = secants.units(self.manifold, tuning.secants, units)
        seen = tuning.seen
        if self.sampler.learns_units:
            # in units of the spread the curvature is about one; the first measurement replaces this
            zero = jnp.zeros_like(tuning.since)
            seen = seen._replace(curvature=zero + 4, measured=zero)
        start = scales.start(self.manifold, None, jax.tree.map(self._mean, position))
        lines = secants.start(self.manifold, position)
        return StochasticTuning(tuning.done, units, start, lines, jnp.zeros_like(tuning.since), seen)

    def _mean(self, x: Array) -> Array:
        return jax.lax.pmean(x, self.pool)


def _square(metric: Tree, g: Tree) -> Array:
    """Return g' D g."""
    return trees.dot(g, leaves.over(maps.apply, metric, g))


def _inverse_square(metric: Tree, d: Tree) -> Array:
    """Return d' D^-1 d."""
    return trees.dot(d, leaves.over(maps.solve, metric, d))


def temperature_warning(measured: float, expected: float) -> str | None:
    """Return a warning if a mean temperature v.v/m differs from that of the scheme itself by a quarter; else None."""
    ratio = measured / expected
    if 0.8 <= ratio <= 1.25:
        return None
    known = f"the temperature v.v/m is {measured:.3g} on average, where the scheme's own is {expected:.3g}"
    if not ratio > 1.25:
        return f"{known}: the chain runs cold: its steps are too long; use a shorter step_size"
    return (
        f"{known}: the gradient's noise heats the chain, and its draws are too wide; use a shorter step_size, more "
        "friction, a larger batch, or tell the sampler of the noise (noise=EmpiricalFisher())"
    )
