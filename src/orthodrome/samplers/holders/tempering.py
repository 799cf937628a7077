"""Parallel tempering around any exact sampler, on any manifold (Geyer 1991; Byrne & Girolami 2013, section 5.1).

Replicas k = 1..K draw from the tempered laws

    pi_k(x) ~ pi_H(x)^(e_k),      0 < e_1 < ... < e_K = 1,

the whole of log pi_H, the log measure included, times the exponent. Each transition moves every replica (all at once,
by `vmap`, each with its own step size if the warm-up has learnt it) and then lets neighbours exchange (`swaps`). The
last replica has the law that was asked for, and its position is the sampler's. A hot replica crosses barriers; what it
finds travels down the ladder.

A round trip is an arrival at the cold end of a replica that has been at the hot end since it last was there: the number
of independent looks at the modes.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from jax.typing import DTypeLike

import orthodrome.dynamics.swaps as swaps
from orthodrome.core import trees
from orthodrome.core.pytree import pytree, replace, static
from orthodrome.core.types import Info, Setting, State, Tree
from orthodrome.samplers.contract import ExactSampler, Holder

HOLDS = "GeodesicHMC, GeodesicNUTS, RandomWalk, ColumnPairs, RiemannianHMC, and RiemannianLangevin with its test"
"""The samplers that can be tempered, for error messages."""


class TemperingState(NamedTuple):
    """The states of the replicas from hot to cold, and the path of each.

    replicas: the states, one row per rung
    walker: which replica, by its number at the start, is at each rung
    been_hot: whether each walker has been at the hot end since it last was at the cold end
    round_trips: arrivals at the cold end from the hot end, since the start
    transitions: the number of transitions so far
    """

    replicas: State
    walker: Array
    been_hot: Array
    round_trips: Array
    transitions: Array

    @property
    def position(self) -> Tree:
        """The embedded position of the cold replica."""
        return jax.tree.map(lambda leaf: leaf[-1], self.replicas.position)


class TemperingInfo(NamedTuple):
    """What one transition did; the fields are those of the cold replica, except for these.

    n_steps: of all replicas together
    walker: which replica is at each rung
    swap_rate: the probability that each pair of neighbours exchanges
    exponent, replica_lp: the ladder, and log pi_H at each of its rungs (untempered): what `log_evidence` needs
    round_trips: arrivals at the cold end from the hot end, since the start
    """

    lp: Array
    acceptance_rate: Array
    diverging: Array
    n_steps: Array
    walker: Array
    round_trips: Array
    swap_rate: Array
    exponent: Array
    replica_lp: Array


@pytree
class Tempering(Holder):
    """Parallel tempering: replicas of a sampler on a ladder of temperatures (Geyer 1991).

    Replica k draws from pi_H(x)^(rho_k), 0 < rho_1 < ... < rho_K = 1. After each move neighbours exchange their
    positions with probability

        min(1, exp((rho_{k+1} - rho_k) (log pi_H(x_k) - log pi_H(x_{k+1})))),

    and the draws are those of the last replica.

    sampler: an exact sampler; what it leaves at None is learnt in warm-up, for each replica
    ladder: the exponents (rho in the paper), increasing in (0, 1], the last 1; None: `num_replicas` of them from
        `hottest` to 1, spaced in warm-up so that all neighbours exchange equally often
    num_replicas, hottest: the number of rungs and the smallest exponent, if `ladder` is None
    random_swaps: None: even and odd pairs take turns; a number: that many random neighbours after each move (the paper)
    replicas: settings of the sampler by name, one row per replica; filled in by the warm-up
    compiled: whether JAX compiles `step`; otherwise Python calls it
    """

    sampler: ExactSampler
    ladder: Setting = None
    num_replicas: int = static(default=10)
    hottest: Setting = 0.1
    random_swaps: int | None = static(default=None)
    replicas: Any = None
    compiled: bool = static(default=True)

    @property
    def learns(self) -> frozenset[str]:
        """The ladder if it is not set, and the settings of the replicas if the sampler has something to learn."""
        ladder = {"ladder"} if self.ladder is None else set()
        replicas = {"replicas"} if self.replicas is None and self.sampler.learns else set()
        return frozenset(ladder | replicas)

    def problem(self) -> str | None:
        """Return why the settings are invalid, or None."""
        if not (isinstance(self.sampler, ExactSampler) and self.sampler.adjusted):
            return f"{type(self.sampler).__name__} cannot be exchanged between temperatures; it can hold {HOLDS}"
        if self.random_swaps is not None and self.random_swaps < 1:
            return f"random_swaps is {self.random_swaps}; give at least 1, or None for alternating swaps"
        return _ladder_problem(self.ladder) if self.ladder is not None else self._spread_problem()

    def _spread_problem(self) -> str | None:
        if self.num_replicas < 2:
            return f"num_replicas is {self.num_replicas}; it takes at least 2"
        return None if 0 < float(self.hottest) < 1 else f"hottest is {self.hottest}; it must lie between 0 and 1"

    def exponents(self, dtype: DTypeLike) -> Array:
        """Return the ladder: as set or learnt, otherwise a geometric one."""
        if self.ladder is not None:
            return jnp.asarray(self.ladder, dtype)
        powers = jnp.linspace(1, 0, self.num_replicas, dtype=dtype)
        return jnp.asarray(self.hottest, dtype) ** powers

    def init(self, position: Tree, key: Array | None = None) -> TemperingState:
        """Return the state with every replica at the same embedded position."""
        exponents = self.exponents(trees.real_dtype(position))
        return begin(jax.vmap(lambda settings, e: self.replica(settings, e).init(position))(self.settings(), exponents))

    def step(self, key: Array, state: TemperingState) -> tuple[TemperingState, TemperingInfo]:
        """Move all replicas, then exchange."""
        move_key, swap_key = jax.random.split(key)
        exponents = self.exponents(state.replicas.logdensity.dtype)

        def move(settings: dict[str, Any], exponent: Array, rung: Array, replica: State) -> tuple[State, Info]:
            return self.replica(settings, exponent).step(jax.random.fold_in(move_key, rung), replica)

        replicas, infos = jax.vmap(move)(self.settings(), exponents, jnp.arange(exponents.size), state.replicas)
        return self.exchange(swap_key, state._replace(replicas=replicas), infos)

    def exchange(self, key: Array, state: TemperingState, infos: Info) -> tuple[TemperingState, TemperingInfo]:
        """Exchange neighbouring replicas, and return the state and the info."""
        exponents = self.exponents(state.replicas.logdensity.dtype)
        heights = state.replicas.logdensity / exponents
        if self.random_swaps is None:
            order = swaps.in_turns(key, exponents, heights, state.transitions)
        else:
            order = swaps.at_random(key, exponents, heights, self.random_swaps)
        replicas = reordered(state.replicas, order, exponents)
        state = _travelled(state._replace(replicas=replicas), state.walker[order])
        return state, self._report(state, infos, exponents, heights, heights[order])

    def replica(self, settings: dict[str, Any], exponent: Array) -> ExactSampler:
        """Return the sampler of one rung of the ladder."""
        return replace(self.sampler, **settings).at_temperature(exponent)

    def settings(self) -> dict[str, Any]:
        """Return the settings that differ from replica to replica, besides the exponent."""
        return {} if self.replicas is None else self.replicas

    def _report(
        self, state: TemperingState, infos: Info, exponents: Array, before: Array, heights: Array
    ) -> TemperingInfo:
        seen = infos._asdict()
        never, once = jnp.zeros(exponents.shape, bool), jnp.ones(exponents.shape, jnp.int32)
        return TemperingInfo(
            lp=heights[-1],
            acceptance_rate=infos.acceptance_rate[-1],
            diverging=seen.get("diverging", never)[-1],
            n_steps=jnp.sum(jnp.broadcast_to(seen.get("n_steps", once), exponents.shape)),
            walker=state.walker[-1],
            round_trips=state.round_trips,
            swap_rate=swaps.rates(exponents, before),
            exponent=exponents,
            replica_lp=heights,
        )


def begin(replicas: State) -> TemperingState:
    """Return the state before the first transition."""
    number = replicas.logdensity.size
    zero = jnp.zeros((), jnp.uint32)
    return TemperingState(replicas, jnp.arange(number, dtype=jnp.int32), jnp.zeros(number, bool), zero, zero)


def reordered(replicas: State, order: Array, exponents: Array) -> State:
    """Return the states moved between rungs: positions travel, log densities and gradients are tempered anew."""
    moved = replicas._replace(
        position=jax.tree.map(lambda leaf: leaf[order], replicas.position),
        logdensity=replicas.logdensity[order],
        gradient=jax.tree.map(lambda leaf: leaf[order], replicas.gradient),
    )
    return rescaled(moved, exponents / exponents[order])


def rescaled(replicas: State, factor: Array) -> State:
    """Return the states with the log density and gradient of each replica times a factor."""

    def times(leaf: Array) -> Array:
        return leaf * factor.astype(leaf.dtype).reshape(-1, *[1] * (leaf.ndim - 1))

    return replicas._replace(logdensity=times(replicas.logdensity), gradient=jax.tree.map(times, replicas.gradient))


def _travelled(state: TemperingState, walker: Array) -> TemperingState:
    """Return the state with the new walkers, and the round trips that have just ended counted."""
    been_hot = state.been_hot.at[walker[0]].set(True)
    home = been_hot[walker[-1]]
    return state._replace(
        walker=walker,
        been_hot=been_hot.at[walker[-1]].set(False),
        round_trips=state.round_trips + home.astype(jnp.uint32),
        transitions=state.transitions + 1,
    )


def _ladder_problem(ladder: Setting) -> str | None:
    values = np.asarray(ladder, float)
    if values.ndim != 1 or values.size < 2:
        return f"ladder has the shape {values.shape}; give a list of at least 2 exponents, such as (0.25, 0.5, 1)"
    if not np.all(np.isfinite(values)) or values[0] <= 0 or values[-1] != 1 or not np.all(np.diff(values) > 0):
        return f"ladder is {values.tolist()}; exponents must increase in (0, 1] and end at 1, such as (0.25, 0.5, 1)"
    return None
