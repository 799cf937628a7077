"""Parallel tempering of the network eigenmodel in compiled loops (Geyer 1991; Byrne & Girolami 2013, section 5.3).

The replicas of `samplers.holders.Tempering`, log pi^(e_k) with 0 < e_1 < ... < e_K = 1, are moved one after the other
by `EigenmodelHMC`, in which a gradient costs a third of what it costs in a program of JAX. Even and odd pairs of
neighbours take turns to exchange, with probability

    min(1, exp{(e_k - e_{k+1}) (l_{k+1} - l_k)}),       l = log pi.

What travels is the place with its height and slopes, which are kept untempered; steps and scales are learnt by each
rung. In the warm-up each chain spaces a ladder of its own so that all of its neighbours exchange equally often.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import orthodrome.dynamics.swaps as swaps
from orthodrome.core.pytree import pytree, static
from orthodrome.core.types import Reals
from orthodrome.manifolds.manifold import Manifold
from orthodrome.models.network.hmc import EigenmodelHMC, EigenmodelState
from orthodrome.random.keys import seed_of
from orthodrome.samplers.contract import PythonSampler
from orthodrome.samplers.holders.tempering import TemperingInfo
from orthodrome.tuning.tempering_tuning import respaced
from orthodrome.tuning.windows import WINDOWS

PLACE = ("frame", "flat", "slopes", "flat_slopes", "logdensity")
"""What two rungs exchange."""


class LadderState(NamedTuple):
    """The states of the replicas from hot to cold, the ladder, and the path of each replica.

    exponents: of the rungs
    rejections, since: the sums of the rejection rates in this window of the warm-up, and its transitions
    walker: which replica, by its number at the start, is at each rung
    been_hot: whether each walker has been at the hot end since it last was at the cold end
    round_trips: arrivals at the cold end from the hot end, since the start
    taken: the number of transitions so far
    """

    replicas: tuple[EigenmodelState, ...]
    exponents: Reals
    rejections: Reals
    since: int
    walker: NDArray[np.int32]
    been_hot: NDArray[np.bool_]
    round_trips: int
    taken: int

    @property
    def position(self) -> dict[str, Reals]:
        """The frame, the eigenvalues and the intercept of the cold replica."""
        return self.replicas[-1].position


@pytree
class EigenmodelTempering(PythonSampler):
    """Parallel tempering of the network eigenmodel.

    replica: the sampler of a rung, with the length of the warm-up
    num_replicas, hottest: the number of rungs, and the smallest exponent
    """

    replica: EigenmodelHMC
    num_replicas: int = static(default=10)
    hottest: float = static(default=0.1)
    compiled: bool = static(default=False)

    @property
    def manifold(self) -> Manifold:
        """The manifold of the position."""
        return self.replica.manifold

    @property
    def num_warmup(self) -> int:
        """The length of the warm-up."""
        return self.replica.num_warmup

    @property
    def adjusted(self) -> bool:
        """Whether the stationary distribution is exact: by the Metropolis tests of moves and of exchanges."""
        return True

    @property
    def target_acceptance(self) -> float | None:
        """The acceptance rate that the warm-up aims at."""
        return self.replica.target_acceptance

    @property
    def one_core(self) -> bool:
        """Whether chains may be stepped side by side."""
        return self.replica.one_core

    def problem(self) -> str | None:
        """Return why the settings are invalid, or None."""
        return self.replica.problem()

    def init(self, position: Any, key: Any = None) -> LadderState:
        """Return the state with every replica at the same position, and rungs in a geometric row."""
        number, start = self.num_replicas, self.replica.init(position)
        return LadderState(
            replicas=(start,) * number,
            exponents=self.hottest ** np.linspace(1, 0, number),
            rejections=np.zeros(number - 1),
            since=0,
            walker=np.arange(number, dtype=np.int32),
            been_hot=np.zeros(number, bool),
            round_trips=0,
            taken=0,
        )

    def step(self, key: Any, state: LadderState) -> tuple[LadderState, TemperingInfo]:
        """Move all replicas, then exchange; learn, in the warm-up."""
        rng, exponents = np.random.default_rng(seed_of(key)), state.exponents
        pairs = zip(state.replicas, exponents, strict=True)
        replicas, infos = zip(*(self.replica.moved(rng, one, e) for one, e in pairs), strict=True)
        heights = np.array([one.logdensity for one in replicas])
        order = exchanged(rng, exponents, heights, state.taken)
        rates = swaps.rates(exponents, heights, np)
        after = travelled(state._replace(replicas=settled(replicas, order), taken=state.taken + 1), order)
        info: Any = TemperingInfo._make  # of NumPy's numbers, where `Tempering` has arrays of JAX
        cold = infos[-1]
        steps, trips = np.int32(sum(each.n_steps for each in infos)), np.uint32(after.round_trips)
        ladder = rates, exponents, heights[order]
        numbers = heights[order[-1]], cold.acceptance_rate, cold.diverging, steps, after.walker[-1], trips, *ladder
        return self._spaced(after, 1 - rates), info(numbers)

    def draw(self, state: LadderState) -> dict[str, Reals]:
        """Return the position in the dtype of the draws."""
        return self.replica.draw(state.replicas[-1])

    def distance(self, state: LadderState) -> Any:
        """Return the largest entry of |U'U - I|, of the cold replica."""
        return self.replica.distance(state.replicas[-1])

    def _spaced(self, state: LadderState, rejected: Reals) -> LadderState:
        """Return the state with a transition's rejection rates, and a new ladder at the end of a window."""
        if state.taken > self.num_warmup:
            return state
        state = state._replace(rejections=state.rejections + rejected, since=state.since + 1)
        if not any(state.taken == self.num_warmup * window // 100 for window in WINDOWS):
            return state
        exponents = respaced(state.exponents, state.rejections / state.since, np)
        return state._replace(exponents=exponents, rejections=0 * state.rejections, since=0)


def exchanged(rng: np.random.Generator, exponents: Reals, heights: Reals, turn: int) -> NDArray[np.int64]:
    """Return which replica comes to each rung, after an attempted exchange of every pair of the parity of `turn`."""
    odds = swaps.log_odds(exponents, heights, np)
    taken = (np.log(rng.random(odds.size)) < odds) & (np.arange(odds.size) % 2 == turn % 2)
    order = np.arange(exponents.size)
    for k in np.flatnonzero(taken):
        order[[k, k + 1]] = order[[k + 1, k]]
    return order


def settled(replicas: tuple[EigenmodelState, ...], order: NDArray[np.int64]) -> tuple[EigenmodelState, ...]:
    """Return the states of the rungs with their places exchanged; what a rung has learnt stays with it."""
    places = [{name: getattr(replicas[k], name) for name in PLACE} for k in order]
    return tuple(one._replace(**place) for one, place in zip(replicas, places, strict=True))


def travelled(state: LadderState, order: NDArray[np.int64]) -> LadderState:
    """Return the state with the walkers at their new rungs, and a round trip counted if one has just ended."""
    walker, been_hot = state.walker[order], state.been_hot.copy()
    been_hot[walker[0]] = True
    trips = state.round_trips + int(been_hot[walker[-1]])
    been_hot[walker[-1]] = False
    return state._replace(walker=walker, been_hot=been_hot, round_trips=trips)
