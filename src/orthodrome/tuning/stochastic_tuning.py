"""Tuning by itself with stochastic gradients: steps and frictions from measured curvature and gradient noise.

There is no acceptance rate to aim at. After every transition of the warm-up, the gradient is asked three times: twice
at the new position x with independent batches, and with the first of these batches at the old position. With D the
squares of the units of the leaves (of flat ones from these differences, `secants`; of others from the draws of a
window alone, `scales`) or the inverse of the sampler's own metric, pooled over chains and averaged with a memory of
50 steps,

    V   = (g1 - g2)' D (g1 - g2) / (2 m)                             the gradient's noise
    L^2 = (g1 - g0)' D (g1 - g0) / (x - x0)' D^-1 (x - x0)           the curvature along the way, of the same batch

give the step and the friction (`Measured`). In a direction w, in these units, a step h with a friction C heats by

    h w'(V - V_told - A) w / (2 C),

where V_told is what the sampler takes out of its own noise and A what a thermostat absorbs: the mean, or the diagonal.
So a diagonal V_told that is right in total is wrong in every direction along which coordinates are correlated, and the
draws are too wide along some and too narrow along others while the mean temperature is 1. Therefore the leading
directions of this remainder are followed (`leading`), along which the noise may raise the temperature by WARM, and
those of V, along which the noise that is taken out may have the share COMPENSATED: beyond 1 it could not be. The
integrator's error goes by the largest curvature, not the mean one. Before that the share falls from FALLING over the
first third of the warm-up: on its way to the mode the chain may be hot. Thermostats wait for the last units.
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
from orthodrome.linear.linear_map import is_map
from orthodrome.samplers.contract import StochasticSampler
from orthodrome.samplers.learnt import SECOND, Measured
from orthodrome.tuning import leading
from orthodrome.tuning.leading import Leading
from orthodrome.tuning.tuner import Tuner

WINDOWS = (10, 25, 45, 70)
"""The ends of the windows, in per cent of the warm-up."""
FALLING, WARM, COMPENSATED = 5.0, 0.03, 0.5
"""The relative rise of the temperature that is allowed: at first, in the end, and where noise is compensated for."""
MEMORY = 50
"""The number of transitions over which the running means are averaged."""
BLOCKS, LAST = 5, 80
"""Directions turn so often, in per cent of the warm-up, and no more after so much of it."""


class Seen(NamedTuple):
    """Running means of curvature, gradient noise (also without units) and the metric's size, and their number."""

    curvature: Array
    noise: Array
    raw_noise: Array
    stretch: Array
    measured: Array


class Directions(NamedTuple):
    """The leading directions of the gradient's noise, of what is left of it, and of the curvature."""

    noise: Leading
    left: Leading
    curvature: Leading


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
        fresh = [leading.start(trees.size(position), zero.dtype, ratio) for ratio in (1.0, 0.0, 1.0)]
        tuning = StochasticTuning(jnp.zeros((), jnp.int32), units, moments, lines, zero, seen, Directions(*fresh))
        return StochasticAdaptedState(self._at(tuning, position).init(position, init_key), tuning)

    def step(self, key: Array, state: StochasticAdaptedState) -> tuple[StochasticAdaptedState, Info]:
        """Make one transition of the sampler inside, and learn from it."""
        step_key, one_key, other_key = jax.random.split(key, 3)
        tuning = state.tuning
        sampler = self._at(tuning, state.position)
        inner = trees.where(self._settling(tuning), sampler.restarted(state.inner), state.inner)
        inner, info = sampler.step(step_key, inner)
        seen, lines, directions = self._measured(one_key, other_key, tuning, state.inner.position, inner)
        moments = scales.update(self.manifold, None, tuning.moments, inner.position, None, self._mean)
        learnt = StochasticTuning(tuning.done + 1, tuning.units, moments, lines, tuning.since + 1, seen, directions)
        return StochasticAdaptedState(inner, self._window(self._turned(learnt), inner.position)), info

    def freeze(self, state: StochasticAdaptedState) -> StochasticSampler:
        """Return the tuned sampler, from the state of all chains."""
        one = jax.tree.map(lambda leaf: jnp.asarray(leaf[0]), state)
        chains = len(jax.tree.leaves(state.position)[0])
        tuning = one.tuning._replace(directions=_settled(one.tuning.directions, jnp.asarray(chains)))
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

    def _measured(
        self, one_key: Array, other_key: Array, tuning: StochasticTuning, old: Tree, inner: State
    ) -> tuple[Seen, Tree, Directions]:
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
        lines = secants.update(m, tuning.secants, way, bend, self._mean)
        return seen, lines, self._followed(tuning.directions, x, metric, estimate, error, way, bend)

    def _followed(
        self, old: Directions, x: Tree, metric: Tree, estimate: Estimate, error: Tree, way: Tree, bend: Tree
    ) -> Directions:
        """Add one step to the sums of each set of directions."""
        root = leaves.over(maps.root, metric)
        inward = lambda g: trees.row(leaves.over(maps.transposed, root, g))
        z, b, w = inward(error) / 2**0.5, inward(bend), inward(leaves.over(maps.solve, metric, way))
        m, dtype = max(1, self.manifold.dimension(x)), old.noise.directions.dtype
        z, b, w = (a.astype(dtype) for a in (z, b, w))
        outer = lambda a, d: jnp.outer(a, a @ d)
        mean, squares = z @ z / m, lambda a, d: (a @ d) ** 2
        d = old.noise.directions
        noise = leading.add(old.noise, outer(z, d), squares(z, d), mean, self._mean)
        image = self._left(old.left.directions, x, root, estimate, z)
        left = leading.add(old.left, image, squares(z, old.left.directions), mean, self._mean)
        d = old.curvature.directions
        speed = jnp.sqrt(b @ b / jnp.maximum(w @ w, 1e-30))
        curvature = leading.add(old.curvature, outer(b, d), squares(w, d), speed, self._mean)
        return Directions(noise, left, curvature)

    def _left(self, directions: Array, x: Tree, root: Tree, estimate: Estimate, z: Array) -> Array:
        """Return (V - V_told - A) times the directions, in the tangent space, for one sample z of the noise."""
        unflat = lambda column: trees.like_row(column, x)
        tangent = jax.vmap(lambda c: trees.row(self.manifold.project(x, unflat(c))), 1, 1)
        d = tangent(directions).astype(z.dtype)
        diagonal, image = z**2, jnp.outer(z, z @ d)
        if estimate.noise is not None and self.sampler.bears_noise(True):
            v = leaves.spread(estimate.noise, x)
            told = lambda c: leaves.over(maps.transposed, root, _applied(v, leaves.over(maps.apply, root, unflat(c))))
            image = image - jax.vmap(lambda c: trees.row(told(c)), 1, 1)(d).astype(z.dtype)
            diagonal = diagonal - trees.row(_diagonal_between(root, v, x)).astype(z.dtype)
        absorbed = self.sampler.absorbs(diagonal, max(1, self.manifold.dimension(x)))
        return tangent(image - absorbed[:, None] * d).astype(z.dtype)

    def _turned(self, tuning: StochasticTuning) -> StochasticTuning:
        """Turn the directions at the end of a block."""
        percent = 100 * tuning.done // self.num_warmup
        at_end = (percent // BLOCKS != 100 * (tuning.done - 1) // self.num_warmup // BLOCKS) & (percent <= LAST)
        chains = jax.lax.psum(jnp.ones((), tuning.since.dtype), self.pool)
        turned = jax.lax.cond(
            jax.lax.pmax(at_end.astype(jnp.int32), self.pool) > 0,
            lambda d: Directions(*(leading.turned(sums, sums.ratio) for sums in _settled(d, chains))),
            lambda d: d,
            tuning.directions,
        )
        return tuning._replace(directions=turned)

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
        return StochasticTuning(tuning.done, units, start, lines, jnp.zeros_like(tuning.since), seen, tuning.directions)

    def _mean(self, x: Array) -> Array:
        return jax.lax.pmean(x, self.pool)


def _settled(directions: Directions, chains: Array) -> Directions:
    """Return the directions with the ratios that their sums tell."""
    noise, left, curvature = directions
    return Directions(
        noise._replace(ratio=jnp.maximum(leading.largest(noise), 1)),
        left._replace(ratio=leading.remainder(left, chains)),
        curvature._replace(ratio=jnp.maximum(leading.stiffest(curvature), 1)),
    )


def _applied(noise: Tree, u: Tree) -> Tree:
    """Return V u."""
    return leaves.over(maps.apply, noise, u)


def _diagonal_between(root: Tree, noise: Tree, x: Tree) -> Tree:
    """Return the diagonal of R'VR; of a matrix R column by column."""

    def between(r: Tree, v: Tree, a: Array) -> Array:
        if not is_map(r):
            return maps.diagonal(r, a) ** 2 * maps.diagonal(v, a)
        entry = lambda e: jnp.sum(e * maps.transposed(r, maps.apply(v, maps.apply(r, e))))
        return jax.vmap(entry)(jnp.eye(a.size, dtype=a.dtype).reshape(a.size, *a.shape)).reshape(a.shape)

    return leaves.over(between, root, noise, x)


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
