"""The contracts of samplers: BlackJAX's `init` and `step`, and the facts that holders, tuners and doors read.

A sampler is a configured object (see `pytree`) and an argument of the compiled loop. `State` is a NamedTuple with a
field `position` (embedded); `Info` is a NamedTuple of a few numbers of fixed shape, with ArviZ's names where it has
one. The key is never stored in a state; `step` splits it once, at its top, into named keys.

Nobody asks for the class of a sampler. What others must know of it is a fact that it states (whether it is exact, what
is left for the warm-up to learn, at which temperature it runs); every fact has a default, and a holder passes on the
facts of what it holds. Four contracts add what the tuners need:

    ExactSampler         exact; its states have a log density: held by `Tempering`, tuned by `Adapted`
    TrajectorySampler    an exact sampler whose trajectory length can be learnt
    StochasticSampler    stochastic gradients, no Metropolis test: tuned by `StochasticAdapted`
    DiffusionSampler     exact transitions of a diffusion with estimated parameters: tuned by `AdaptedDiffusion`

and what they have in common, a step size and a temperature, is what `Scheduled` sets.

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
from orthodrome.errors import Unsupported
from orthodrome.gradients.estimator import Estimate, GradientEstimator
from orthodrome.gradients.noisy import TemperedGradient
from orthodrome.manifolds.manifold import Manifold
from orthodrome.samplers.learnt import Learnt, Measured

NOTHING: frozenset[str] = frozenset()


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
    def target_acceptance(self) -> float | None:
        """The mean acceptance rate that the sampler should have, about; None: it makes no proposals, or any will do."""
        return None

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

    @abc.abstractmethod
    def at_temperature(self, beta: Number) -> Self:
        """Return the sampler of pi_H^beta, beta being the inverse temperature."""


class ExactSampler(SteppedSampler):
    """A sampler whose stationary distribution is exact.

    Its states have a `position`, its `logdensity`, and its `gradient` (or None).
    """

    blind: ClassVar[bool] = False
    """Whether it has no gradients, so that the warm-up knows the scales from its draws and densities alone."""

    @property
    def adjusted(self) -> bool:
        """Whether the stationary distribution is exact at any setting, by a Metropolis test or exact conditionals."""
        return True

    @property
    def target_acceptance(self) -> float:
        """The mean acceptance rate that dual averaging aims at."""
        return 0.8

    @property
    def learns(self) -> frozenset[str]:
        """The step size if it is not set, with the units of the leaves in which it is measured."""
        return frozenset({"step", "units"}) if self.step_size is None else NOTHING

    def tuned(self, learnt: Learnt) -> Self:
        """Return the sampler with what the warm-up has learnt."""
        return replace(self, step_size=learnt.step_size)


class ExactGradientSampler(ExactSampler):
    """An exact sampler that follows the exact gradient of the log density."""

    gradient: GradientEstimator

    @property
    def manifold(self) -> Manifold:
        """The manifold of the position."""
        return self.gradient.manifold

    def at_temperature(self, beta: Number) -> Self:
        """Return the sampler of pi_H^beta, beta being the inverse temperature."""
        return replace(self, gradient=TemperedGradient(self.gradient, 1 / beta))


class TrajectorySampler(ExactGradientSampler):
    """An exact sampler along leapfrog trajectories.

    If "length" is in `learns`, the warm-up learns the length of the trajectories (`trajectory_length`).
    """

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
        """The manifold of the position."""
        return self.gradient.manifold

    @property
    def learns_units(self) -> bool:
        """Whether the warm-up learns the units of the leaves; otherwise the sampler has a metric of its own."""
        return True

    @property
    def learns(self) -> frozenset[str]:
        """The step size if it is not set, and the units if `learns_units`."""
        if self.step_size is not None:
            return NOTHING
        return frozenset({"step", "units"}) if self.learns_units else frozenset({"step"})

    @abc.abstractmethod
    def tuned(self, measured: Measured) -> Self:
        """Return the sampler with what the warm-up has learnt, where nothing was set."""

    def inverse_metric_at(self, position: Tree, estimate: Estimate) -> Tree:
        """Return the inverse of the sampler's own metric, if it does not learn units; one entry per leaf
        (`linear.leaves`)."""
        raise NotImplementedError

    def at_temperature(self, beta: Number) -> Self:
        """Return the sampler of pi_H^beta, beta being the inverse temperature."""
        return replace(self, gradient=TemperedGradient(self.gradient, 1 / beta))

    def bears_noise(self, told: bool) -> bool:
        """Return whether the sampler compensates for the noise of the gradient; `told`: whether the estimator states
        V."""
        return told

    def absorbs(self, diagonal: Array, dimension: int) -> Array:
        """Return the diagonal of the noise that the sampler makes up for by itself, whatever it is told, from the
        diagonal of what is there, in units in which its friction is the same everywhere."""
        return jnp.zeros_like(diagonal)

    def restarted(self, state: State) -> State:
        """Return the state without what a change of settings makes obsolete."""
        return state


class DiffusionSampler(SteppedSampler):
    """A sampler that draws exact transitions of a diffusion whose parameters a minibatch estimates.

    Its only error is the noise of these estimates: it inflates the variance of the draws by the share
    tanh(h / 2) Var[a_hat] / Var[stationary law], which is what the warm-up keeps small.
    """

    gradient: GradientEstimator

    @property
    def manifold(self) -> Manifold:
        """The space of the position."""
        return self.gradient.manifold

    @property
    def learns(self) -> frozenset[str]:
        """The step size if it is not set."""
        return frozenset({"step"}) if self.step_size is None else NOTHING

    @abc.abstractmethod
    def noise_and_spread(self, one: Estimate, other: Estimate) -> tuple[Tree, Tree]:
        """Return, for each leaf, an estimate of Var[a_hat] from two independent estimates at one position, and the
        variance of the stationary law, both summed over the elements."""

    def tuned(self, learnt: Learnt) -> Self:
        """Return the sampler with what the warm-up has learnt."""
        return replace(self, step_size=learnt.step_size)

    def at_temperature(self, beta: Number) -> Self:
        """Raise Unsupported: the conditional law to a power is not what the counts estimate."""
        raise Unsupported(
            f"{type(self).__name__} draws exact transitions to one law and cannot be heated; schedule its step size "
            "alone, or use SGGMC with the same estimator"
        )


class Holder(Sampler):
    """A sampler that holds another one and passes on its facts; the holder sets or learns the settings of that one
    itself."""

    sampler: Sampler

    @property
    def manifold(self) -> Manifold:
        """The manifold of the position."""
        return self.sampler.manifold

    @property
    def adjusted(self) -> bool:
        """Whether the stationary distribution of the sampler inside is exact."""
        return self.sampler.adjusted

    @property
    def target_acceptance(self) -> float | None:
        """The mean acceptance rate that what it holds should have."""
        return self.sampler.target_acceptance

    def expected_temperature(self, position: Tree, done: Number = 0) -> Array:
        """Return the expected temperature of the sampler inside."""
        return self.sampler.expected_temperature(position, done)


class PythonSampler(Sampler):
    """A sampler that Python steps: `compiled` is False, and the state is a NamedTuple of NumPy arrays and numbers.

    - The loop owns the state. `step` may change its arrays in place and return them, so large buffers are never
      copied; shapes and dtypes stay as `init` made them, because a checkpoint is read into them. Whoever keeps a
      state over a step copies it.
    - Random numbers follow from the key alone, which serves for nothing but `random.keys.seed_of(key)`, the seed of a
      compiled kernel: the loop draws the seeds of many transitions in one call and passes on a `DrawnSeed`.
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
        """The length of the warm-up in which the sampler tunes itself; None: `sample` sets it."""
        return None

    @abc.abstractmethod
    def draw(self, state: State) -> Tree:
        """Return what is kept of a state: a tree with named leaves in the user's coordinates, copied by the loop."""
