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
thermostat) s = COMPENSATED. Whatever else heats the chain is seen by the temperature itself: at the end of a window,
more than HOT above the scheme's own shortens the steps.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import Array

from orthodrome import trees
from orthodrome.manifolds.manifold import Manifold, Tree
from orthodrome.pytree import pytree, static
from orthodrome.samplers import scales

WINDOWS = (10, 25, 45, 70)
"""The ends of the windows, in per cent of the warm-up."""
STABLE, WARM, COMPENSATED, HOT = 0.4, 0.04, 0.4, 0.25
MEMORY = 50


class Seen(NamedTuple):
    """Running means: curvature, gradient noise, temperature over the scheme's own; and of how many."""

    curvature: Array
    noise: Array
    heat: Array
    measured: Array


class StochasticTuning(NamedTuple):
    """What has been learnt; the same for all chains."""

    done: Array
    units: Tree
    moments: Tree
    since: Array
    seen: Seen
    brake: Array


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
        seen = Seen(jnp.maximum(100 * STABLE**2 * steepness, 1), zero, zero + 1, zero)
        moments = scales.start(self.manifold, None, position)
        tuning = StochasticTuning(jnp.zeros((), jnp.int32), units, moments, zero, seen, zero + 1)
        return StochasticAdaptedState(self._at(tuning, position, told=False).init(position, init_key), tuning)

    def step(self, key: Array, state: StochasticAdaptedState) -> tuple[StochasticAdaptedState, Any]:
        """One transition of the sampler inside, and what it teaches."""
        step_key, one_key, other_key = jax.random.split(key, 3)
        tuning = state.tuning
        told = self._told(one_key, state.inner)
        sampler = self._at(tuning, state.position, told)
        inner = trees.where(self._settling(tuning), sampler.restarted(state.inner), state.inner)
        inner, info = sampler.step(step_key, inner)
        heat = info.temperature / sampler.expected_temperature(inner.position)
        seen = self._measured(one_key, other_key, tuning, state.inner.position, inner, heat)
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
        share = COMPENSATED if self.sampler.bears_noise(told) else WARM
        share = jnp.where(self._settling(tuning), COMPENSATED, share)
        rate = jnp.sqrt(tuning.seen.curvature)
        by_noise = 2 * share * rate / jnp.maximum(tuning.seen.noise, 1e-30)
        factor = jnp.minimum(STABLE / rate, by_noise) * tuning.brake
        bounded = lambda u, m: jnp.minimum(factor.astype(u.dtype) * u, jnp.asarray(m, u.dtype))
        h = jax.tree.map(bounded, tuning.units, self.manifold.max_step(position))
        return self.sampler.tuned(h, jax.tree.map(lambda u: rate.astype(u.dtype) / u, tuning.units))

    def _told(self, key: Array, inner: Any) -> bool:
        """Whether the estimator tells V; a question of structure only."""
        gradient = self.sampler.gradient
        shapes = jax.eval_shape(lambda k, x, m: gradient.estimate(k, x, m)[0], key, inner.position, inner.memory)
        return shapes.noise is not None

    def _measured(
        self, one_key: Array, other_key: Array, tuning: StochasticTuning, old: Tree, inner: Any, heat: Array
    ) -> Seen:
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
        mix = lambda w, before, now: before + w * (self._mean(jnp.where(jnp.isfinite(now), now, before)) - before)
        return Seen(
            curvature=jnp.maximum(mix(weight, seen.curvature, curvature), 1e-12),
            noise=mix(weight, seen.noise, noise),
            heat=mix(1 / (tuning.since + 1), seen.heat, heat),
            measured=seen.measured + 1,
        )

    def _settling(self, tuning: StochasticTuning) -> Array:
        """Before the last window: the chain may be warm on its way to the mode, and thermostats wait."""
        return 100 * tuning.done < WINDOWS[-2] * self.num_warmup

    def _window(self, tuning: StochasticTuning, position: Tree) -> StochasticTuning:
        """At the end of a window: new units, and shorter steps if it was hot."""
        ends = jnp.stack([tuning.done == self.num_warmup * w // 100 for w in WINDOWS])
        return trees.where(jnp.any(ends), self._renewed(tuning, position), tuning)

    def _renewed(self, tuning: StochasticTuning, position: Tree) -> StochasticTuning:
        units = scales.scales(self.manifold, None, tuning.moments, tuning.since, position, None)
        # only the last window is judged: the first are hot from the fall to the mode
        excess = jnp.where(self._settling(tuning), 0, tuning.seen.heat - 1)
        brake = tuning.brake * jnp.clip(HOT / jnp.maximum(excess, 1e-6), 0.3, 1)
        # in units of the spread the curvature is about one; the first measurement replaces this
        seen = Seen(jnp.full_like(brake, 4.0), tuning.seen.noise, jnp.ones_like(brake), jnp.zeros_like(brake))
        start = scales.start(self.manifold, None, jax.tree.map(self._mean, position))
        return StochasticTuning(tuning.done, units, start, jnp.zeros_like(brake), seen, brake)

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
