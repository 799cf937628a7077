"""The contracts of samplers: BlackJAX's `init` and `step`, and the facts that holders, tuners and doors read.

A sampler is a configured object (see `pytree`) and an argument of the compiled loop. `State` is a NamedTuple with a
field `position` (embedded); `Info` is a NamedTuple of a few numbers of fixed shape, with ArviZ's names where it has
one. The key is never stored in a state; `step` splits it once, at its top, into named keys.

Nobody asks for the class of a sampler. What others must know of it is a fact that it states (is it exact, what is left
for the warm-up to learn, at which temperature does it run), every fact has a default, and a holder passes on the facts
of what it holds. Three contracts add what the tuners need:

    ExactSampler         its law is exact, its states know their log density: held by `Tempering`, tuned by `Adapted`
    TrajectorySampler    an exact sampler whose trajectory length can be learnt
    StochasticSampler    stochastic gradients, no Metropolis test: tuned by `StochasticAdapted`

and what the last and the first have in common, a step size and a temperature, is what `Scheduled` sets.

A sampler with `compiled = False` is stepped from Python (numba kernels, streams of data); see `PythonSampler`.
"""

from __future__ import annotations

import abc
from typing import Any, ClassVar, Self

import jax.numpy as jnp
from jax import Array

from orthodrome.core import trees
from orthodrome.core.pytree import replace
from orthodrome.core.types import Info, Number, Setting, State, Tree
from orthodrome.dynamics.leapfrog import Point
from orthodrome.gradients.estimator import Estimate, GradientEstimator
from orthodrome.gradients.noisy import TemperedGradient
from orthodrome.manifolds.manifold import Manifold
from orthodrome.samplers.learnt import Learnt, Measured

NOTHING: frozenset[str] = frozenset()


class Sampler(abc.ABC):
    """init and step; `compiled` says whether `step` may be traced by JAX or is called from Python."""

    compiled: bool = True

    num_warmup: Any = None
    """The length of the warm-up that it was made for; None: `sample` says."""

    @property
    @abc.abstractmethod
    def manifold(self) -> Manifold:
        """The space of the position."""

    @abc.abstractmethod
    def init(self, position: Tree, key: Array | None = None) -> State:
        """Return the state at an embedded position."""

    @abc.abstractmethod
    def step(self, key: Array, state: State) -> tuple[State, Info]:
        """Make one transition."""

    @property
    def adjusted(self) -> bool:
        """Whether the law is exact at any setting, by a Metropolis test or by exact conditionals."""
        return False

    @property
    def learns(self) -> frozenset[str]:
        """What the warm-up has to find, since nothing is set: of "step", "units", "length", "friction", "ladder" and
        "replicas". Empty: the sampler is ready to draw."""
        return NOTHING

    def expected_temperature(self, position: Tree, done: Number = 0) -> Array:
        """Return the mean of v.v/m that the scheme itself has, with exact gradients, after `done` transitions."""
        return jnp.ones((), trees.real_dtype(position))

    def noise_heat(self, position: Tree) -> Tree | None:
        """Return by how much one unit of the gradient's noise heats each leaf or element; None: that is not known."""
        return None

    def supports(self, manifold: Manifold) -> str | None:
        """Return why it cannot work on a space, and what to use instead; None if it can."""
        return None

    def problem(self) -> str | None:
        """Return what is wrong with its settings, or None."""
        return None

    def problem_at(self, position: Tree) -> str | None:
        """Return what is wrong with it at a start in the user's coordinates, or None."""
        return None

    def resume_problem(self) -> str | None:
        """Return why it cannot go on from a checkpoint, or None."""
        return None


class SteppedSampler(Sampler):
    """A sampler with a step size, of a law that can be heated."""

    step_size: Setting

    @abc.abstractmethod
    def at_temperature(self, beta: Number) -> Self:
        """Return the sampler of pi_H^beta, beta being the inverse temperature."""


class ExactSampler(SteppedSampler):
    """A sampler whose law is exact; its states have a `position`, its `logdensity`, and its `gradient` (or None)."""

    blind: ClassVar[bool] = False
    """Whether it has no gradients, so that the warm-up knows the scales from its draws and densities alone."""

    @property
    def adjusted(self) -> bool:
        """Whether the law is exact at any setting, by a Metropolis test or by exact conditionals."""
        return True

    @property
    def target_acceptance(self) -> float:
        """The mean acceptance rate that dual averaging aims at."""
        return 0.8

    @property
    def learns(self) -> frozenset[str]:
        """The step size if it is not set, in the units of the leaves, which are learnt with it."""
        return frozenset({"step", "units"}) if self.step_size is None else NOTHING

    def tuned(self, learnt: Learnt) -> Self:
        """Return the sampler with what the warm-up has learnt."""
        return replace(self, step_size=learnt.step_size)


class ExactGradientSampler(ExactSampler):
    """An exact sampler that follows the exact gradient of its law."""

    gradient: GradientEstimator

    @property
    def manifold(self) -> Manifold:
        """The space of the position."""
        return self.gradient.manifold

    def at_temperature(self, beta: Number) -> Self:
        """Return the sampler of pi_H^beta, beta being the inverse temperature."""
        return replace(self, gradient=TemperedGradient(self.gradient, 1 / beta))


class TrajectorySampler(ExactGradientSampler):
    """An exact sampler along leapfrog trajectories, whose length the warm-up learns (`trajectory_length`) if it says
    so in `learns`."""

    @abc.abstractmethod
    def steps(self, state: State) -> Tree:
        """Return the tree of steps of the next trajectory."""

    @abc.abstractmethod
    def decide(self, key: Array, state: State, start: Point, end: Point, num_steps: Array) -> tuple[State, Info]:
        """Accept or reject the end of a trajectory of `num_steps` steps."""


class StochasticSampler(SteppedSampler):
    """A sampler with stochastic gradients; `sample` tunes it where something is left unset."""

    gradient: GradientEstimator

    @property
    def manifold(self) -> Manifold:
        """The space of the position."""
        return self.gradient.manifold

    @property
    def learns_units(self) -> bool:
        """Whether it wants the units of the leaves; else it has a metric of its own."""
        return True

    @property
    def learns(self) -> frozenset[str]:
        """The step size if it is not set, and the units if it wants them."""
        if self.step_size is not None:
            return NOTHING
        return frozenset({"step", "units"}) if self.learns_units else frozenset({"step"})

    @abc.abstractmethod
    def tuned(self, measured: Measured) -> Self:
        """Return the sampler with what was learnt, where nothing was set."""

    def inverse_metric_at(self, position: Tree, estimate: Estimate) -> Tree:
        """Return its own metric's inverse, if it does not learn units; one entry per leaf (see `linear.leaves`)."""
        raise NotImplementedError

    def at_temperature(self, beta: Number) -> Self:
        """Return the sampler of pi_H^beta, beta being the inverse temperature."""
        return replace(self, gradient=TemperedGradient(self.gradient, 1 / beta))

    def bears_noise(self, told: bool) -> bool:
        """Whether it compensates for the gradient's noise, given whether the estimator tells V."""
        return told

    def absorbs(self, diagonal: Array, dimension: int) -> Array:
        """Return the diagonal of the noise that the sampler makes up for by itself, whatever it is told, from the
        diagonal of what is there, in units in which its friction is the same everywhere."""
        return jnp.zeros_like(diagonal)

    def restarted(self, state: State) -> State:
        """Return the state without what a change of settings makes stale."""
        return state


class Holder(Sampler):
    """A sampler that holds a sampler, and passes on its facts. What is inside, it sets or learns itself."""

    sampler: Sampler

    @property
    def manifold(self) -> Manifold:
        """The space of the position."""
        return self.sampler.manifold

    @property
    def adjusted(self) -> bool:
        """Whether the law of what it holds is exact."""
        return self.sampler.adjusted

    def expected_temperature(self, position: Tree, done: Number = 0) -> Array:
        """Return the temperature of what it holds."""
        return self.sampler.expected_temperature(position, done)


class PythonSampler(Sampler):
    """A sampler that Python steps: `compiled` is False, and the state is a NamedTuple of NumPy arrays and numbers.

    - The loop owns the state. `step` may change its arrays in place and return them, so large buffers are never
      copied; shapes and dtypes stay as `init` made them, because a checkpoint is read into them. Whoever keeps a
      state over a step copies it.
    - Random numbers follow from the key alone: `random.keys.seed_of(key)` is the seed for a compiled kernel.
    - `init(None, key)` makes a start of its own (`sample(sampler, None, ...)`), if the sampler can.
    - A sampler that tunes itself has a field `num_warmup`, which is then the length of the warm-up, and counts its
      transitions in its state: `step` tunes as long as the count is below it. The sampler does not change, and what
      was learnt is in the state.
    - `manifold` is that of `state.position`, or None if there is none to be far from.
    - `draw(state)` may be left out; then the position in the user's coordinates is kept.
    """

    compiled: bool = False

    @property
    def num_warmup(self) -> int | None:
        """The length of the warm-up in which the sampler tunes itself; None: `sample` says."""
        return None

    @abc.abstractmethod
    def draw(self, state: State) -> Tree:
        """Return what is kept of a state: a tree with named leaves in the user's coordinates, copied by the loop."""
