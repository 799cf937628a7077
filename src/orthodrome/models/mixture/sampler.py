"""What the samplers of a Dirichlet-process mixture share: the problem, the state, its clusters, the watch.

    w ~ sticks(alpha),   theta_j ~ G_0,   z_i ~ w,   x_i ~ f(. | theta_{z_i}),   alpha ~ Gamma(a, b) or fixed.

Components live in slots, of which there are `capacity`: a row's label is the slot of its component, and a slot that has
no rows is free. `order` lists the slots of the components that are held, in the order of their sticks; so components
change places without a look at any row. Samplers change the arrays of their state in place.
"""

from __future__ import annotations

import abc
import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from orthodrome.core.pytree import pytree, static
from orthodrome.core.types import Reals
from orthodrome.errors import BadInput
from orthodrome.kernels.threads.choice import on_fastest_threads
from orthodrome.models.mixture.assigning import Batch
from orthodrome.models.mixture.compiled.rows import change_labels, find_places
from orthodrome.models.mixture.components.contract import Components, Labels, Names
from orthodrome.models.mixture.spread import SPREAD, all_statistics, relabel_spread
from orthodrome.random.keys import seed_of
from orthodrome.run.parallel import Team
from orthodrome.samplers.contract import PythonSampler


@pytree
class ScoreWatch:
    """The mean log predictive density of held-out rows at single states, now and then.

    every, total: looked at after every so many transitions, and after the last one
    """

    rows: Any
    every: int = static()
    total: int = static()

    def due(self, taken: int) -> bool:
        """Whether it is time to look."""
        return taken % self.every == 0 or taken == self.total


@pytree
class MixtureProblem:
    """Rows, the law of a component, and the run.

    data: the rows; total: the number of rows that these stand for
    concentration: where alpha starts; prior: (a, b) of its Gamma law, None to keep alpha fixed
    clusters: how many the chain begins with, rows divided at random; capacity: the largest number of components
    """

    components: Components
    data: Any
    concentration: float = static()
    prior: tuple[float, float] | None = static()
    clusters: int = static()
    capacity: int = static()
    num_warmup: int = static()
    total: int = static()
    watch: ScoreWatch | None = None


class MixtureState(NamedTuple):
    """A state of any method; what a method does not use has no elements.

    labels: (N,), the slot of each row, -1 for none; sizes, statistics: of all rows of each slot
    parameters: theta, zero in free slots; weights: w, zero in free slots; auxiliary: weights or momenta of an update
    sticks: (log g_0, log g_1) by place; order: slots by place, of which the first `held` are in use
    """

    labels: Labels
    sizes: NDArray[np.int64]
    statistics: NDArray[np.float64]
    parameters: NDArray[np.float64]
    weights: NDArray[np.float64]
    auxiliary: NDArray[np.float64]
    sticks: NDArray[np.float64]
    order: NDArray[np.int32]
    held: int
    concentration: float
    taken: int = 0
    score: float = math.nan

    @property
    def position(self) -> dict[str, Reals]:
        """The weights and the concentration; a mixture has no one manifold."""
        return {"concentration": np.asarray(self.concentration), "weights": self.weights}


class MixtureInfo(NamedTuple):
    """What one transition did.

    opened: components that slices asked for; splits, merges: accepted; attempts: proposed of both
    capped: whether slices asked for more components than there are slots; step_size: 0 for Gibbs
    """

    num_clusters: int
    opened: int
    splits: int
    merges: int
    attempts: int
    capped: bool
    step_size: float
    score: float | None = None


class MixtureSampler(PythonSampler, abc.ABC):
    """A sampler of a `MixtureProblem`."""

    given: MixtureProblem

    @property
    @abc.abstractmethod
    def num_auxiliary(self) -> int:
        """The length of a line of auxiliary numbers."""

    @abc.abstractmethod
    def begin(self, seed: int, state: MixtureState) -> MixtureState:
        """Return the first state, from one that has labels and statistics."""

    @abc.abstractmethod
    def move(self, seed: int, state: MixtureState) -> tuple[MixtureState, MixtureInfo]:
        """Take a transition."""

    @abc.abstractmethod
    def search(self, seed: int, labels: Labels) -> Labels:
        """Return better labels to begin with than random ones, if there are transitions that look for them."""

    @property
    def manifold(self) -> Any:
        """None: the number of components changes."""
        return None

    @property
    def spreads_data(self) -> bool:
        """Whether each process has a part of the rows."""
        return isinstance(self.given.data, SPREAD) and Team().processes > 1

    @property
    def num_warmup(self) -> int:
        """The transitions before the first draw."""
        return self.given.num_warmup

    def init(self, position: Any, key: Any = None) -> MixtureState:
        """Return a state with labels that a search found from random ones, or given: position["labels"], one slot for
        each row.

        A position with parameters and weights (a draw) is where a stream goes on.
        """
        given, seed = self.given, seed_of(key) >> 1
        count, slots, own = given.data.count, given.capacity, given.components
        if position is None:
            labels = np.random.default_rng(seed).integers(given.clusters, size=count).astype(np.int32)
            labels = self.search(seed, labels)
        else:
            labels = np.array(position.get("labels", np.full(count, -1)), np.int32)
        statistics: Any = all_statistics(own, given.data, labels, slots)
        state = MixtureState(
            labels,
            np.bincount(labels[labels >= 0], minlength=slots).astype(np.int64),
            statistics,
            np.zeros((slots, own.num_parameters)),
            np.zeros(slots),
            np.zeros((slots, self.num_auxiliary)),
            np.zeros((slots, 2)),
            np.zeros(slots, np.int32),
            0,
            given.concentration,
        )
        return self.begin(seed, state) if position is None or "labels" in position else self.go_on(position, state)

    def go_on(self, draw: Any, state: MixtureState) -> MixtureState:
        """Return the state at the weights and parameters of a draw, for rows without labels."""
        raise BadInput("method='gibbs' needs all rows at once; for a stream use a stochastic method")

    def step(self, key: Any, state: MixtureState) -> tuple[MixtureState, MixtureInfo]:
        """Take a transition, and look at the held-out rows if it is time."""
        state, info = on_fastest_threads(self.move, seed_of(key) >> 1, state)
        state, watch = state._replace(taken=int(state.taken) + 1), self.given.watch
        if watch is None:
            return state, info
        if watch.due(state.taken):
            score = float(np.mean(log_predictive(self.given.components, watch.rows, state.weights, state.parameters)))
            state = state._replace(score=score)
        return state, info._replace(score=state.score)

    def draw(self, state: MixtureState) -> dict[str, Any]:
        """Return what is kept: the clusters' weights and parameters, and what does not depend on labels."""
        found = {"concentration": np.asarray(state.concentration, np.float64), "weights": state.weights}
        found |= {"num_clusters": np.asarray(np.count_nonzero(state.sizes))}
        return found | self.given.components.named(state.parameters)

    def warm(self, state: MixtureState) -> bool:
        """Return whether the next transition belongs to the warm-up."""
        return int(state.taken) < self.num_warmup


def free_slots(state: MixtureState, held: NDArray[np.int32]) -> NDArray[np.int64]:
    """Return the slots that are not held."""
    free = np.ones(state.sizes.shape[0], bool)
    free[held] = False
    return np.flatnonzero(free)


def places_of(state: MixtureState, held: NDArray[np.int32], labels: Labels) -> Labels:
    """Return the places of the slots of rows, -1 for a row without one."""
    found: Labels = find_places(held, labels, state.sizes.shape[0])
    return found


def relabel(
    given: MixtureProblem, state: MixtureState, rows: Names, labels: Labels, batch: Batch | None = None
) -> None:
    """Give rows new labels, and bring sizes and statistics up to date; batch: the same rows, brought together."""
    if isinstance(given.data, SPREAD):
        relabel_spread(given.components, given.data, state.labels, labels, state.sizes, state.statistics)
        return
    before = np.empty(rows.shape[0], np.int32)
    emptied = change_labels(rows, labels, state.labels, state.sizes, before)
    data, places = (given.data, rows) if batch is None else (batch.data, batch.places)
    given.components.move(data, places, before, labels, state.statistics)
    state.statistics[emptied] = 0.0  # what rounding leaves


def keep(state: MixtureState, held: NDArray[np.int32], weights: Reals, kept: NDArray[np.bool_]) -> None:
    """Hold some of the components, and clear the slots of the others; weights by place, of which draws show those
    with rows."""
    if not kept.all():
        clear(state, held[~kept])
    state.weights[:] = 0.0
    state.weights[held] = np.where(state.sizes[held] > 0, weights, 0.0)


def clear(state: MixtureState, slots: Any) -> None:
    """Forget the parameters of components."""
    state.parameters[slots] = 0.0
    state.auxiliary[slots] = 0.0


def log_predictive(components: Components, data: Any, weights: Reals, parameters: Reals) -> Reals:
    """Return log [ sum_k w_k f(x_i | theta_k) + (1 - sum_k w_k) f_0(x_i) ], f_0 being the density of a new component.

    The components without rows are integrated out: what weight they have is that of the base measure.
    """
    rows, own = np.arange(data.count), np.flatnonzero(weights > 0)
    rest = max(1.0 - float(weights[own].sum()), 1e-300)
    logs = np.append(np.log(weights[own]), math.log(rest))
    densities = np.empty((rows.shape[0], own.shape[0] + 1))
    densities[:, -1] = components.log_base(data, rows)
    densities[:, :-1] = components.all_densities(data, rows, np.ascontiguousarray(parameters[own]))
    densities += logs
    top = densities.max(axis=1)
    return top + np.log(np.exp(densities - top[:, None]).sum(axis=1))
