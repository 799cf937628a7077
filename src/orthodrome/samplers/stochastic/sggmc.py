"""Stochastic gradient geodesic Monte Carlo (Liu, Zhu & Song 2016, Algorithm 1, with errata 000-9, 003-1 and c-3).

Langevin dynamics on a manifold, with friction C and a gradient whose error has the covariance V(x):

    dx = v dt along geodesics,     dv = P(x) [grad log pi_H dt - C v dt + N(0, 2 C dt)],

in the order ABOBA: half a geodesic flow (A), half of the friction (B), the gradient with the noise that V leaves to
inject (O), and back. `order` spells other words over A, B, O, K and U (see `splitting`); what the molecular-dynamics
literature calls BAOAB is KAUAK here. There is no Metropolis test: the law has a bias of O(h^2). Only O compensates for
V: with K the gradient's noise stays in the chain.

Each kick draws its own batch. With `reuse_batch` one batch serves all of the inner steps, as the paper has it; its
error is then the same in all of them and heats the chain about `num_steps` times as much.
"""

from __future__ import annotations

from typing import ClassVar, NamedTuple

import jax
from jax import Array

import orthodrome.dynamics.phase as stochastic
from orthodrome.core.pytree import pytree, replace, static
from orthodrome.core.types import Memory, Number, Setting, Tree
from orthodrome.dynamics import splitting
from orthodrome.dynamics.friction import expected_temperature, friction_problem, friction_range, noise_heat
from orthodrome.dynamics.ingredients import Ingredients
from orthodrome.dynamics.ingredients.geodesic import Chart, of_geodesics
from orthodrome.dynamics.leapfrog import largest_step
from orthodrome.dynamics.words import follow, word_problem
from orthodrome.gradients.estimator import GradientEstimator
from orthodrome.linear import leaves
from orthodrome.samplers.contract import NOTHING, StochasticSampler
from orthodrome.samplers.learnt import SECOND, Measured


class SGGMCState(NamedTuple):
    """Position, velocity, and the estimator's memory."""

    position: Tree
    velocity: Tree
    memory: Memory


class SGGMCInfo(NamedTuple):
    """What one transition did.

    lp: the estimated log density at the last kick
    temperature: v.v/m, to be compared with `expected_temperature`
    step_size: the largest step of all leaves
    clipped: whether V was more than the friction can compensate for
    diverging: whether the move was rejected because it was non-finite
    """

    lp: Array
    temperature: Array
    step_size: Array
    clipped: Array
    diverging: Array


@pytree
class SGGMC(StochasticSampler):
    """Langevin dynamics along geodesics with stochastic gradients, on any manifold (Liu, Zhu & Song 2016, Algorithm 1).

        dx = v dt along geodesics,     dv = P(x) [grad log pi_H dt - C v dt + N(0, 2 C dt)],

    integrated in the order ABOBA. The noise that is injected is reduced by what the gradient's noise V, if the
    estimator knows it, puts in. There is no Metropolis test: the bias is of order epsilon^2.

    gradient: any estimator
    step_size: epsilon; a number, or a tree with one per leaf (per element on flat leaves); None: learnt in warm-up
    friction: C; a number, an array of the leaf's shape, `Dense` or `LowRank`; one for all leaves or one per leaf; None:
        learnt in warm-up
    num_steps: L, the words in one transition
    order: the word, over A, B, O, K and U
    reuse_batch: whether one batch serves all steps of a transition
    compiled: whether JAX compiles `step`; otherwise Python calls it
    """

    has_momentum: ClassVar[bool] = True
    letters: ClassVar[str] = "ABOKU"

    gradient: GradientEstimator
    step_size: Setting = None
    friction: Setting = None
    num_steps: int = static(default=1)
    order: str = static(default="ABOBA")
    reuse_batch: bool = static(default=False)
    compiled: bool = static(default=True)

    @property
    def learns(self) -> frozenset[str]:
        """The step and the friction if they are not set, and the units of the leaves."""
        unset = {name for name, value in (("step", self.step_size), ("friction", self.friction)) if value is None}
        return frozenset(unset | {"units"}) if unset else NOTHING

    def problem(self) -> str | None:
        """Return why the settings are invalid, or None."""
        return word_problem(self.order, self.letters) or friction_problem(self.friction)

    def ingredients_in(self, chart: Chart) -> Ingredients:
        """Return H, D and Q of the dynamics in the coordinates of a chart."""
        return of_geodesics(chart)

    def init(self, position: Tree, key: Array | None = None) -> SGGMCState:
        """Return the state at an embedded position, with a random velocity."""
        velocity = stochastic.first_velocity(self.manifold, position, key)
        return SGGMCState(position, velocity, self.gradient.init(position))

    def step(self, key: Array, state: SGGMCState) -> tuple[SGGMCState, SGGMCInfo]:
        """Apply `num_steps` words."""
        word_key, batch_key = jax.random.split(key)
        manifold = self.manifold
        h = leaves.spread(self.step_size, state.position)
        friction = leaves.spread(self.friction, state.position)

        def letter(name: str, key: Array, phase: stochastic.Phase, share: Number) -> stochastic.Phase:
            x, v, part = phase.position, phase.velocity, leaves.scaled(h, share)
            if name == "A":
                x, v = splitting.flow(manifold, x, v, part)
            elif name == "B":
                v = splitting.damp(manifold, x, v, friction, part)
            elif name == "U":
                v = splitting.thermalise(key, manifold, x, v, friction, part)
            else:
                own, noise_key = jax.random.split(key)
                batch = jax.random.clone(batch_key) if self.reuse_batch else own
                return stochastic.kicked(
                    self.gradient, batch, noise_key if name == "O" else None, phase, friction, part
                )
            return phase._replace(position=x, velocity=v)

        begun = stochastic.begin(state)
        end, refused = stochastic.settled(begun, follow(self.order, self.num_steps, letter, word_key, begun))
        heat = stochastic.temperature(manifold, end.position, end.velocity)
        info = SGGMCInfo(end.logdensity, heat, largest_step(self.step_size), end.clipped, refused)
        return SGGMCState(end.position, end.velocity, end.memory), info

    def expected_temperature(self, position: Tree, done: Number = 0) -> Array:
        """Return the mean of v.v/m under the integrator itself (erratum c-10)."""
        return expected_temperature(self.order, self.step_size, self.friction, position)

    def noise_heat(self, position: Tree) -> Tree | None:
        """Return h / (2 C) over the number of kicks, which have batches of their own unless they share one."""
        kicks = sum(self.order.count(letter) for letter in "OK")
        return noise_heat(self.step_size, self.friction, kicks / (self.num_steps if self.reuse_batch else 1), position)

    def bears_noise(self, told: bool) -> bool:
        """Return whether the word has an O, which alone compensates for V, and V is known."""
        return told and "O" in self.order

    def tuned(self, measured: Measured) -> SGGMC:
        """Return the sampler with a friction of sqrt(L) and the step that it allows, where they are not set."""
        weakest, _ = friction_range(self.friction, measured.units)
        step = measured.in_units(measured.second_order(SECOND, weakest))
        return replace(
            self,
            step_size=step if self.step_size is None else self.step_size,
            friction=measured.frictions() if self.friction is None else self.friction,
        )
