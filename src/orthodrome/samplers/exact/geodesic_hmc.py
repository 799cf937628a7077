"""Geodesic Hamiltonian Monte Carlo (Byrne & Girolami 2013, Algorithm 1, with erratum 002-1).

H(x, v) = -log pi_H(x) + |v|^2 / 2 is split into kicks by the potential and the exact geodesic flow of the kinetic
energy; the word K A K is repeated `num_steps` times and a Metropolis test on H makes the law exact. Projections are
at the current point of the trajectory (the printed algorithm has them at its start).

No single length suits coordinates of different periods: an odd number of half periods leaves the square of a
coordinate where it was. So `num_steps` may be several lengths that take turns, and with `jitter` u > 0 every
trajectory has its own step, h (1 + u (2 w - 1)), where w runs through a van der Corput sequence. All chains take
the same lengths, so none waits for another; and what is fixed beforehand keeps every transition a reversible
kernel, so the law stays exact.
"""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import Array
from jax.custom_batching import custom_vmap

from orthodrome.core import trees
from orthodrome.core.pytree import pytree, replace, static
from orthodrome.core.types import Setting, Tree
from orthodrome.dynamics.leapfrog import Point, diverges, energy, largest_step, leapfrog, van_der_corput
from orthodrome.gradients.estimator import GradientEstimator
from orthodrome.linear import leaves
from orthodrome.samplers.contract import TrajectorySampler
from orthodrome.samplers.learnt import Learnt


class HMCState(NamedTuple):
    """A position with its log density and ambient gradient, and the number of transitions so far."""

    position: Tree
    logdensity: Array
    gradient: Tree
    transitions: Array


class HMCInfo(NamedTuple):
    """What one transition did.

    lp: the log density
    acceptance_rate: the probability of acceptance
    diverging: whether the energy error was too large or non-finite
    energy: H at the new state
    n_steps: leapfrog steps
    step_size: the largest step of all leaves
    """

    lp: Array
    acceptance_rate: Array
    diverging: Array
    energy: Array
    n_steps: Array
    step_size: Array


@pytree
class GeodesicHMC(TrajectorySampler):
    """Hamiltonian Monte Carlo along exact geodesics, on any manifold (Byrne & Girolami 2013, Algorithm 1).

    From x with a velocity v ~ N(0, I) in the tangent space, a trajectory of T steps of length epsilon follows

        dx = v dt along geodesics,     dv = P(x) grad log pi_H dt,     H(x, v) = -log pi_H(x) + |v|^2 / 2

    by the splitting K A K (half a kick, a geodesic flow, half a kick), and its end (x', v') is accepted with
    probability min(1, exp(H(x, v) - H(x', v'))).

    gradient: an exact estimator (`FullGradient`)
    step_size: epsilon; a number, or a tree with one per leaf (per element on flat leaves); None: learnt in warm-up
    num_steps: T in the paper; a number, or an array of numbers that take turns; None: learnt in warm-up
    jitter: the relative spread of the step from trajectory to trajectory
    compiled: whether JAX compiles `step`; otherwise Python calls it
    """

    gradient: GradientEstimator
    step_size: Setting = None
    num_steps: Setting = None
    jitter: Setting = 0.0
    compiled: bool = static(default=True)

    @property
    def learns(self) -> frozenset[str]:
        """Step and units if `step_size` is None, and the length if `num_steps` is None."""
        return super().learns if self.num_steps is not None else super().learns | {"length"}

    def tuned(self, learnt: Learnt) -> GeodesicHMC:
        """Return the sampler with the step and, where they were learnt, the lengths and the jitter."""
        return replace(
            self,
            step_size=learnt.step_size,
            num_steps=self.num_steps if learnt.num_steps is None else learnt.num_steps,
            jitter=self.jitter if learnt.jitter is None else learnt.jitter,
        )

    def init(self, position: Tree, key: Array | None = None) -> HMCState:
        """Return the state at an embedded position."""
        estimate, _ = self.gradient.estimate(None, position, None)
        return HMCState(position, estimate.logdensity, estimate.gradient, jnp.zeros((), jnp.uint32))

    def step(self, key: Array, state: HMCState) -> tuple[HMCState, HMCInfo]:
        """Draw a velocity, follow the dynamics, accept or stay."""
        velocity_key, accept_key = jax.random.split(key)
        v = self.manifold.random_velocity(velocity_key, state.position)
        start = Point(state.position, v, state.logdensity, state.gradient)
        h = self.steps(state)
        num_steps = self.length(state)
        end = jax.lax.fori_loop(0, num_steps, lambda _, point: leapfrog(self.gradient, point, h), start)
        return self.decide(accept_key, state, start, end, num_steps)

    def decide(
        self, key: Array, state: HMCState, start: Point, end: Point, num_steps: Array
    ) -> tuple[HMCState, HMCInfo]:
        """Accept or reject the end of a trajectory by a Metropolis test on H."""
        change = energy(start) - energy(end)
        accepted = jnp.log(jax.random.uniform(key, dtype=change.dtype)) < change
        kept = trees.where(accepted, end, start)
        info = HMCInfo(
            lp=kept.logdensity,
            acceptance_rate=jnp.exp(jnp.minimum(change, 0)),
            diverging=diverges(self.manifold, change, end),
            energy=energy(kept),
            n_steps=num_steps,
            step_size=largest_step(self.step_size),
        )
        return HMCState(kept.position, kept.logdensity, kept.gradient, state.transitions + 1), info

    def length(self, state: HMCState) -> Array:
        """Return the number of steps of the next trajectory."""
        lengths = jnp.asarray(self.num_steps, jnp.int32)
        return lengths if lengths.ndim == 0 else lengths[in_step(state.transitions) % lengths.size]

    def steps(self, state: HMCState) -> Tree:
        """Return the tree of steps of the next trajectory; every length meets the whole sequence of jitters."""
        h = leaves.spread(self.step_size, state.position)
        turns = 1 if self.num_steps is None else jnp.size(self.num_steps)
        w = van_der_corput(in_step(state.transitions) // turns, state.logdensity.dtype)
        return leaves.scaled(h, 1 + self.jitter * (2 * w - 1))


@custom_vmap
def in_step(count: Array) -> Array:
    """Return a counter of transitions that all chains share, so that their loops are one loop of one length.

    The count says which length and jitter come next, and any sequence of them that does not depend on positions is
    valid:
    chains that were not started together take the turns of the first.
    """
    return count


@in_step.def_vmap
def _(size: int, batched: list[bool], count: Array) -> tuple[Array, bool]:
    return (count[0] if batched[0] else count), False
