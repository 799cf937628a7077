"""The step of exact transitions with estimated parameters (SCIR, SOU): as long as the noise of the batches allows.

There is no discretisation to resolve: a long step mixes better, and costs nothing but spread. The stationary variance
is that of the law times

    1 + tanh(h / 2) R,      R = Var[a_hat] / Var[law]     (SCIR: Var[a_hat] / a),

so the longest step that inflates it by at most the share s is

    h = 2 artanh( min(s / R, tanh(LONGEST / 2)) ).

R is measured after every transition of the warm-up from two independent estimates, Var[a_hat] = (a_1 - a_2)^2 / 2,
averaged over the elements of a leaf (by their variances), over chains, and with a memory of 50 steps. At the start the
share falls from FALLING over the first third of the warm-up: on its way to the mode a chain may be hot. Without noise
the step is LONGEST, at which successive draws have the correlation e^-1.
"""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from orthodrome.core.pytree import pytree, static
from orthodrome.core.types import Info, Setting, State, Tree
from orthodrome.samplers.contract import DiffusionSampler
from orthodrome.samplers.learnt import Learnt
from orthodrome.tuning.freezing import TracedTuner
from orthodrome.tuning.pooling import pooled_mean
from orthodrome.tuning.windows import until

SHARE = 0.05
"""By how much the noise of the batches may inflate the variance of the draws."""
FALLING, LONGEST, MEMORY = 5.0, 1.0, 50


class Inflation(NamedTuple):
    """Running means, for each leaf, of Var[a_hat] and of the variance of the law, and the number of transitions."""

    noise: Tree
    spread: Tree
    done: Array


class AdaptedDiffusionState(NamedTuple):
    """The state of the sampler inside, and what was measured."""

    inner: State
    seen: Inflation

    @property
    def position(self) -> Tree:
        """The embedded position."""
        return self.inner.position


@pytree
class AdaptedDiffusion(TracedTuner):
    """A sampler with exact transitions that learns its step sizes, one for each leaf.

    sampler: what to tune; num_warmup: the length of the warm-up
    pool: the axes of `vmap` (and of the mesh) over which chains learn together
    """

    sampler: DiffusionSampler
    num_warmup: Setting = None
    pool: tuple[str, ...] = static(default=("chains",))
    compiled: bool = static(default=True)

    def init(self, position: Tree, key: Array | None = None) -> AdaptedDiffusionState:
        """Return the state at an embedded position, with a first measurement there."""
        init_key, one_key, other_key = jax.random.split(jax.random.key(0) if key is None else key, 3)
        inner = self.sampler.init(position, init_key)
        noise, spread = self._measured(one_key, other_key, inner)
        return AdaptedDiffusionState(inner, Inflation(noise, spread, jnp.zeros((), jnp.int32)))

    def alone(self, key: Array, state: AdaptedDiffusionState) -> tuple[AdaptedDiffusionState, Info]:
        """Make one transition of the sampler inside, and measure the noise of the estimates where it ends."""
        step_key, one_key, other_key = jax.random.split(key, 3)
        seen = state.seen
        inner, info = self._at(seen).step(step_key, state.inner)
        noise, spread = self._measured(one_key, other_key, inner)
        weight = lambda a: jnp.maximum(1 / (seen.done + 2).astype(a.dtype), 1 / MEMORY)
        mix = lambda before, now: jax.tree.map(lambda a, b: a + weight(a) * (b - a), before, now)
        seen = Inflation(mix(seen.noise, noise), mix(seen.spread, spread), seen.done + 1)
        return AdaptedDiffusionState(inner, seen), info

    def until_meeting(self, state: AdaptedDiffusionState) -> Array:
        """Return after how many transitions the next meeting is."""
        return until(state.seen.done, [self.num_warmup])

    def met(self, state: AdaptedDiffusionState) -> AdaptedDiffusionState:
        """Average what was measured over devices."""
        noise, spread = pooled_mean((state.seen.noise, state.seen.spread), self.pool[1:])
        return state._replace(seen=Inflation(noise, spread, state.seen.done))

    def at_end(self, state: AdaptedDiffusionState) -> DiffusionSampler:
        """Return the sampler with the learnt steps, from the state of all chains."""
        noise, spread, _ = jax.tree.map(lambda leaf: leaf[0], state.seen)
        return self.sampler.tuned(Learnt(steps(noise, spread, SHARE)))

    def _at(self, seen: Inflation) -> DiffusionSampler:
        """Return the sampler inside with the current steps."""
        share = jnp.maximum(SHARE, FALLING * (1 - 3 * seen.done.astype(jnp.float32) / self.num_warmup))
        return self.sampler.tuned(Learnt(steps(seen.noise, seen.spread, share)))

    def _measured(self, one_key: Array, other_key: Array, inner: State) -> tuple[Tree, Tree]:
        ask = lambda key: self.sampler.gradient.estimate(key, inner.position, inner.memory)[0]
        found = self.sampler.noise_and_spread(ask(one_key), ask(other_key))
        return jax.lax.pmean(found, self.pool[:1])


def steps(noise: Tree, spread: Tree, share: Setting) -> Tree:
    """Return the longest step of each leaf at which the noise inflates the variance by at most the share."""
    most = float(np.tanh(LONGEST / 2))

    def one(v: Array, s: Array) -> Array:
        allowed = jnp.asarray(share, v.dtype) * s / jnp.maximum(v, jnp.finfo(v.dtype).tiny)
        return 2 * jnp.arctanh(jnp.minimum(allowed, most))

    return jax.tree.map(one, noise, spread)
