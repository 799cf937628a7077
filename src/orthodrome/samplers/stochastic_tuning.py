"""Tuning by itself with stochastic gradients: steps and frictions from measured curvature and gradient noise.

There is no acceptance rate to aim at. After every transition of the warm-up, the gradient is asked three times: twice
at the new position x with independent batches, and with the first of these batches at the old position. In the units
u of the leaves (`scales`, from the draws of a window alone), pooled over chains and averaged with a memory of 50
steps,

    V = |u (g1 - g2)|^2 / (2 m)          the gradient's noise
    L = |u (g1 - g0)| / |(x - x0) / u|   the curvature along the way, of the same batch

and with a friction C = sqrt(L) / u the step of each leaf is h = a u with

    a = min( STABLE / sqrt(L),  2 s sqrt(L) / V ).

The first keeps the integrator's error small, the second the heat from the gradient: uncompensated it raises the
temperature by a V / (2 sqrt(L)), of which s = WARM is allowed; where it is made up for (V told and O in the word, or a
thermostat) s = COMPENSATED. Before that s falls
from FALLING over the first third of the warm-up: on its way to the mode the chain may be hot. Thermostats wait for the
last units.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import Array

import orthodrome.samplers.scales as scales
from orthodrome import trees
from orthodrome.manifolds.manifold import Manifold, Tree
from orthodrome.pytree import pytree, static

WINDOWS = (10, 25, 45, 70)
"""The ends of the windows, in per cent of the warm-up."""
STABLE, FALLING, WARM, COMPENSATED = 0.4, 5.0, 0.04, 0.4
MEMORY = 50


class Seen(NamedTuple):
    """Running means of curvature and gradient noise, and of how many measurements."""

    curvature: Array
    noise: Array
    measured: Array


class StochasticTuning(NamedTuple):
    """What has been learnt; the same for all chains."""

    done: Array
    units: Tree
    moments: Tree
    since: Array
    seen: Seen


class StochasticAdaptedState(NamedTuple):
    """The state of the sampler inside, and the tuning."""

    inner: Any
    tuning: StochasticTuning

    @property
    def position(self) -> Tree:
        """The embedded position."""
        return self.inner.position


@pytree
class StochasticAdapted:
    """A sampler with stochastic gradients that tunes itself; it has `tuned`, `bears_noise` and `expected_temperature`.

    sampler: what to tune; its `step_size` or `friction` None
    num_warmup: the length of the warm-up
    pool: the axes of `vmap` (and of the mesh) over which chains learn together
    """

    sampler: Any
    num_warmup: Any = None
    pool: tuple[str, ...] = static(default=("chains",))
    compiled: bool = static(default=True)

    @property
    def manifold(self) -> Manifold:
        """The space of the position."""
        return self.sampler.manifold

    def init(self, position: Tree, key: Array | None = None) -> StochasticAdaptedState:
        """At an embedded position, with steps so short that the first gradient changes the velocity little."""
        init_key, gradient_key = (None, None) if key is None else jax.random.split(key)
        zero = jnp.zeros((), trees.real_dtype(position))
        units = scales.ones(self.manifold, None, position)
        gradient = self.sampler.gradient
        estimate, _ = gradient.estimate(gradient_key, position, gradient.init(position))
        force = self.manifold.project(position, estimate.gradient)
        steepness = trees.dot(force, force).astype(zero.dtype) / max(1, self.manifold.dimension(position))
        seen = Seen(jnp.maximum(100 * STABLE**2 * steepness, 1), zero, zero)
        moments = scales.start(self.manifold, None, position)
        tuning = StochasticTuning(jnp.zeros((), jnp.int32), units, moments, zero, seen)
        return StochasticAdaptedState(self._at(tuning, position, told=False).init(position, init_key), tuning)

    def step(self, key: Array, state: StochasticAdaptedState) -> tuple[StochasticAdaptedState, Any]:
        """One transition of the sampler inside, and what it teaches."""
        step_key, one_key, other_key = jax.random.split(key, 3)
        tuning = state.tuning
        told = self._told(one_key, state.inner)
        sampler = self._at(tuning, state.position, told)
        inner = trees.where(self._settling(tuning), sampler.restarted(state.inner), state.inner)
        inner, info = sampler.step(step_key, inner)
        seen = self._measured(one_key, other_key, tuning, state.inner.position, inner)
        moments = scales.update(self.manifold, None, tuning.moments, inner.position, None, self._mean)
        tuning = tuning._replace(done=tuning.done + 1, moments=moments, since=tuning.since + 1, seen=seen)
        return StochasticAdaptedState(inner, self._window(tuning, inner.position)), info

    def freeze(self, state: StochasticAdaptedState) -> Any:
        """The tuned sampler, from the state of all chains."""
        one = jax.tree.map(lambda leaf: jnp.asarray(leaf[0]), state)
        told = self._told(jax.random.key(0), one.inner)
        return self._at(one.tuning, one.position, told)

    def _at(self, tuning: StochasticTuning, position: Tree, told: bool) -> Any:
        """The sampler inside with the current steps and frictions."""
        falling = FALLING * (1 - 3 * tuning.done.astype(tuning.since.dtype) / self.num_warmup)
        share = jnp.maximum(COMPENSATED if self.sampler.bears_noise(told) else WARM, falling)
        rate = jnp.sqrt(tuning.seen.curvature)
        by_noise = 2 * share * rate / jnp.maximum(tuning.seen.noise, 1e-30)
        factor = jnp.minimum(STABLE / rate, by_noise)
        bounded = lambda u, m: jnp.minimum(factor.astype(u.dtype) * u, jnp.asarray(m, u.dtype))
        h = jax.tree.map(bounded, tuning.units, self.manifold.max_step(position))
        return self.sampler.tuned(h, jax.tree.map(lambda u: rate.astype(u.dtype) / u, tuning.units))

    def _told(self, key: Array, inner: Any) -> bool:
        """Whether the estimator tells V; a question of structure only."""
        gradient = self.sampler.gradient
        shapes = jax.eval_shape(lambda k, x, m: gradient.estimate(k, x, m)[0], key, inner.position, inner.memory)
        return shapes.noise is not None

    def _measured(self, one_key: Array, other_key: Array, tuning: StochasticTuning, old: Tree, inner: Any) -> Seen:
        x, m, gradient = inner.position, self.manifold, self.sampler.gradient
        ask = lambda key, y: m.project(y, gradient.estimate(key, y, inner.memory)[0].gradient)
        g1, g2, g0 = ask(one_key, x), ask(other_key, x), ask(jax.random.clone(one_key), old)
        in_units = lambda a: jax.tree.map(jnp.multiply, a, tuning.units)
        size = lambda a: trees.dot(a, a).astype(tuning.since.dtype)
        moved = jax.tree.map(jnp.divide, trees.subtract(x, old), tuning.units)
        noise = size(in_units(trees.subtract(g1, g2))) / (2 * max(1, m.dimension(x)))
        curvature = jnp.sqrt(size(in_units(trees.subtract(g1, g0))) / jnp.maximum(size(moved), 1e-30))
        curvature = jnp.where(size(moved) > 0, curvature, jnp.nan)
        seen, weight = tuning.seen, jnp.maximum(1 / (tuning.seen.measured + 1), 1 / MEMORY)
        mix = lambda before, now: before + weight * (self._mean(jnp.where(jnp.isfinite(now), now, before)) - before)
        return Seen(
            curvature=jnp.maximum(mix(seen.curvature, curvature), 1e-12),
            noise=mix(seen.noise, noise),
            measured=seen.measured + 1,
        )

    def _settling(self, tuning: StochasticTuning) -> Array:
        """Until the units are final."""
        return 100 * tuning.done <= WINDOWS[-1] * self.num_warmup

    def _window(self, tuning: StochasticTuning, position: Tree) -> StochasticTuning:
        """At the end of a window: new units."""
        ends = jnp.stack([tuning.done == self.num_warmup * w // 100 for w in WINDOWS])
        return trees.where(jnp.any(ends), self._renewed(tuning, position), tuning)

    def _renewed(self, tuning: StochasticTuning, position: Tree) -> StochasticTuning:
        units = scales.scales(self.manifold, None, tuning.moments, tuning.since, position, None)
        # in units of the spread the curvature is about one; the first measurement replaces this
        seen = tuning.seen._replace(curvature=jnp.full_like(tuning.since, 4.0), measured=jnp.zeros_like(tuning.since))
        start = scales.start(self.manifold, None, jax.tree.map(self._mean, position))
        return StochasticTuning(tuning.done, units, start, jnp.zeros_like(tuning.since), seen)

    def _mean(self, x: Array) -> Array:
        return jax.lax.pmean(x, self.pool)


def temperature_warning(measured: float, expected: float) -> str | None:
    """What to say of a mean temperature v.v/m, judged by the scheme's own; None if all is well."""
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
