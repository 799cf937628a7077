"""The contract of every sampler, `init` and `step`, with the defaults of the facts that it states."""

from __future__ import annotations

import abc
from typing import Any, Self

import jax.numpy as jnp
from jax import Array

from orthodrome.core import trees
from orthodrome.core.types import Info, Number, Setting, State, Tree
from orthodrome.dynamics.ingredients import Ingredients
from orthodrome.dynamics.ingredients.geodesic import Chart
from orthodrome.manifolds.manifold import Manifold

NOTHING: frozenset[str] = frozenset()
"""What is left to learn for a sampler whose settings are all set."""


class Sampler(abc.ABC):
    """The contract of every sampler: `init` and `step`.

    compiled: whether `step` may be traced by JAX; otherwise it is called from Python
    """

    compiled: bool = True

    num_warmup: Any = None
    """The length of the warm-up that the sampler was made for; None: `sample` sets it."""

    @property
    @abc.abstractmethod
    def manifold(self) -> Manifold:
        """The manifold of the position."""

    @abc.abstractmethod
    def init(self, position: Tree, key: Array | None = None) -> State:
        """Return the state at an embedded position."""

    @abc.abstractmethod
    def step(self, key: Array, state: State) -> tuple[State, Info]:
        """Make one transition."""

    @property
    def adjusted(self) -> bool:
        """Whether the stationary distribution is exact at any setting, by a Metropolis test or exact conditionals."""
        return False

    @property
    def spreads_data(self) -> bool:
        """Whether several processes have each a part of the data and step the same chains, rather than each its own
        chains; `step` then exchanges what it must with the others, and the draws are the same on all."""
        return False

    @property
    def one_core(self) -> bool:
        """Whether a transition called from Python keeps to one core and releases the interpreter: chains are then
        stepped side by side."""
        return False

    @property
    def target_acceptance(self) -> float | None:
        """The mean acceptance rate that the sampler should have, about; None: it makes no proposals, or any will do."""
        return None

    @property
    def held(self) -> tuple[str, ...]:
        """The variables that draws carry along but no transition after the warm-up moves: nothing is to be judged."""
        return ()

    @property
    def learns(self) -> frozenset[str]:
        """What the warm-up has to learn because it is not set: of "step", "units", "length", "friction", "ladder"
        and "replicas". Empty: the sampler is ready to draw."""
        return NOTHING

    def expected_temperature(self, position: Tree, done: Number = 0) -> Array:
        """Return the mean of v.v/m under the integrator itself, with exact gradients, after `done` transitions."""
        return jnp.ones((), trees.real_dtype(position))

    def noise_heat(self, position: Tree) -> Tree | None:
        """Return by how much one unit of the gradient's noise heats each leaf or element; None: that is not known."""
        return None

    def supports(self, manifold: Manifold) -> str | None:
        """Return why the sampler cannot work on a manifold, and what to use instead; None if it can."""
        return None

    def problem(self) -> str | None:
        """Return why the settings are invalid, or None."""
        return None

    def problem_at(self, position: Tree) -> str | None:
        """Return why the sampler cannot start at a position in the user's coordinates, or None."""
        return None

    def resume_problem(self) -> str | None:
        """Return why the sampler cannot be resumed from a checkpoint, or None."""
        return None


class SteppedSampler(Sampler):
    """A sampler with a step size, whose target can be tempered."""

    step_size: Setting

    def ingredients(self) -> Ingredients | None:
        """Return H, D and Q of the sampler (`recipe_of`); None: it has none in the coordinates of its position."""
        return None

    def ingredients_in(self, chart: Chart) -> Ingredients | None:
        """Return H, D and Q of the sampler in the coordinates of a chart q -> x; None: it needs no chart."""
        return None

    @abc.abstractmethod
    def at_temperature(self, beta: Number) -> Self:
        """Return the sampler of pi_H^beta, beta being the inverse temperature."""
