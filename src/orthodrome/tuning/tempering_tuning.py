"""The warm-up of parallel tempering: every replica is tuned, and the ladder is spaced.

Each replica is an `Adapted` sampler of its own tempered law, pooled over chains. The ladder is set anew at the ends of
the same windows: with r_k the mean rejection rate of the exchange k, k + 1 in the window, the cumulative sum R(e) of
the r_k is a function that depends on the law and little on the ladder (the communication barrier of Syed et al. 2022);
rungs at equal distances of R make all exchanges equally likely.
"""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from orthodrome.core import trees
from orthodrome.core.pytree import pytree, replace, static
from orthodrome.core.types import Number, Setting, Tree
from orthodrome.samplers.contract import ExactSampler
from orthodrome.samplers.holders.tempering import Tempering, TemperingInfo, TemperingState, begin, rescaled
from orthodrome.tuning.adapted import Adapted, AdaptedState
from orthodrome.tuning.pooling import pooled_mean
from orthodrome.tuning.tuner import Tuner
from orthodrome.tuning.windows import ends_window, until_meeting

LEAST = 1e-3
"""The smallest rejection rate that counts, so that no two rungs coincide."""


class Ladder(NamedTuple):
    """The ladder that is being learnt.

    exponents: of the rungs
    rejections: sums of the rejection rates in this window
    since: transitions in this window
    done: transitions so far
    """

    exponents: Array
    rejections: Array
    since: Array
    done: Array


class AdaptedTemperingState(NamedTuple):
    """The state of the tempering, what each replica has learnt, and the ladder."""

    inner: TemperingState
    tunings: Any
    ladder: Ladder

    @property
    def position(self) -> Tree:
        """The embedded position of the cold replica."""
        return self.inner.position


@pytree
class AdaptedTempering(Tuner):
    """A sampler that tunes the replicas and the ladder of a `Tempering`, where they are None.

    sampler: the tempering
    num_warmup: the length of the warm-up
    pool: the axes of `vmap` (and of the mesh) over which chains learn together
    """

    finds: ClassVar[frozenset[str]] = frozenset({"ladder", "replicas"})

    sampler: Tempering
    num_warmup: Setting = None
    pool: tuple[str, ...] = static(default=("chains",))
    compiled: bool = static(default=True)

    @property
    def tunes_replicas(self) -> bool:
        """Whether the sampler inside has something to learn."""
        return "replicas" in self.sampler.learns

    def init(self, position: Tree, key: Array | None = None) -> AdaptedTemperingState:
        """Return the untuned state with every replica at the same embedded position."""
        exponents = self.sampler.exponents(trees.real_dtype(position))
        zero = jnp.zeros((), exponents.dtype)
        ladder = Ladder(exponents, jnp.zeros_like(exponents[1:]), zero, jnp.zeros((), jnp.int32))
        if not self.tunes_replicas:
            return AdaptedTemperingState(self.sampler.init(position, key), None, ladder)
        states = jax.vmap(lambda e: self._replica(e).init(position))(exponents)
        return AdaptedTemperingState(begin(states.inner), states.tuning, ladder)

    def alone(self, key: Array, state: AdaptedTemperingState) -> tuple[AdaptedTemperingState, TemperingInfo]:
        """Make one transition, and learn from it on this device."""
        move_key, swap_key = jax.random.split(key)
        tempering = replace(self.sampler, ladder=state.ladder.exponents)
        if self.tunes_replicas:
            states, infos = self._moved(move_key, state)
            inner = state.inner._replace(replicas=states.inner)
            (inner, info), tunings = tempering.exchange(swap_key, inner, infos), states.tuning
        else:
            (inner, info), tunings = tempering.step(move_key, state.inner), None
        exponents, rejections, since, done = state.ladder
        rejections = rejections + jax.lax.pmean(1 - info.swap_rate, self.pool[:1])
        return AdaptedTemperingState(inner, tunings, Ladder(exponents, rejections, since + 1, done + 1)), info

    def until_meeting(self, state: AdaptedTemperingState) -> Array:
        """Return after how many transitions the next meeting is: that of every replica."""
        return until_meeting(state.ladder.done, self.num_warmup)

    def met(self, state: AdaptedTemperingState) -> AdaptedTemperingState:
        """Let every replica meet its likes, and space the ladder at the end of a window."""
        tunings = state.tunings
        if tunings is not None:
            meet = lambda exponent, replica: self._replica(exponent).met(replica)
            tunings = jax.vmap(meet)(state.ladder.exponents, AdaptedState(state.inner.replicas, tunings)).tuning
        ladder = self._spaced(state.ladder)
        replicas = rescaled(state.inner.replicas, ladder.exponents / state.ladder.exponents)
        return AdaptedTemperingState(state.inner._replace(replicas=replicas), tunings, ladder)

    def freeze(self, state: AdaptedTemperingState) -> Tempering:
        """Return the tuned tempering, from the state of all chains."""
        exponents = np.asarray(state.ladder.exponents)[0]
        tempering = replace(self.sampler, ladder=exponents)
        if state.tunings is None:
            return tempering
        states = AdaptedState(state.inner.replicas, state.tunings)
        learnt = [self._learnt(e, jax.tree.map(lambda a, k=k: a[:, k], states)) for k, e in enumerate(exponents)]
        return replace(tempering, replicas=jax.tree.map(lambda *rows: np.stack(rows), *learnt))

    def outline(self, state: AdaptedTemperingState) -> Tempering:
        """Return the tempering that `freeze` will return, with shapes in place of arrays."""

        def like_tuned(state: AdaptedTemperingState) -> Tempering:
            exponents = state.ladder.exponents[0]
            tempering = replace(self.sampler, ladder=exponents)
            if state.tunings is None:
                return tempering
            states = jax.tree.map(lambda a: a[:, 0], AdaptedState(state.inner.replicas, state.tunings))
            replica = self._replica(exponents[0])
            learnt = changed(replica.sampler, replica.like_tuned(states))
            repeated = lambda leaf: jnp.zeros((exponents.size, *jnp.shape(leaf)), jnp.asarray(leaf).dtype)
            return replace(tempering, replicas=jax.tree.map(repeated, learnt))

        shapes: Tempering = jax.eval_shape(like_tuned, state)
        return shapes

    def _moved(self, key: Array, state: AdaptedTemperingState) -> tuple[AdaptedState, Any]:
        def move(exponent: Array, rung: Array, one: AdaptedState) -> Any:
            return self._replica(exponent).alone(jax.random.fold_in(key, rung), one)

        exponents = state.ladder.exponents
        states = AdaptedState(state.inner.replicas, state.tunings)
        return jax.vmap(move)(exponents, jnp.arange(exponents.size), states)

    def _replica(self, exponent: Number) -> Adapted:
        return Adapted(self.sampler.sampler.at_temperature(exponent), self.num_warmup, pool=self.pool)

    def _learnt(self, exponent: Number, state: AdaptedState) -> dict[str, Any]:
        """Return the settings that tuning has changed."""
        replica = self._replica(exponent)
        return changed(replica.sampler, replica.freeze(state))

    def _spaced(self, ladder: Ladder) -> Ladder:
        exponents, rejections, since, done = ladder
        rejections = pooled_mean(rejections, self.pool[1:])
        if self.sampler.ladder is not None:
            return ladder._replace(rejections=rejections)
        spaced = Ladder(respaced(exponents, rejections / since), 0 * rejections, 0 * since, done)
        return trees.where(ends_window(done, self.num_warmup), spaced, ladder._replace(rejections=rejections))


def changed(before: ExactSampler, after: ExactSampler) -> dict[str, Any]:
    """Return the settings of a sampler that are not those before."""
    return {name: value for name, value in vars(after).items() if value is not vars(before)[name]}


def respaced(exponents: Any, rejection: Any, xp: Any = jnp) -> Any:
    """Return rungs at equal distances of the cumulative rejection rate, between the same ends.

    xp: the library of the arrays, JAX's or NumPy
    """
    zero = xp.zeros(1, exponents.dtype)
    barrier = xp.concatenate([zero, xp.cumsum(xp.maximum(rejection, LEAST))])
    wanted = xp.linspace(0, 1, exponents.size, dtype=exponents.dtype) * barrier[-1]
    inside = xp.interp(wanted[1:-1], barrier, exponents)
    return xp.concatenate([exponents[:1], inside, exponents[-1:]])
