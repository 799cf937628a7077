"""Riemannian manifold Hamiltonian Monte Carlo (Girolami & Calderhead 2011), on flat coordinates.

Momenta have the covariance G(x), and the dynamics of H = -log pi + log det G / 2 + p' G^-1 p / 2 is followed by
`generalised_leapfrog`. This is what geodesic Monte Carlo does without: where the space is a sphere, a simplex or a
frame in disguise, use `GeodesicHMC` on it. A metric earns its cost on laws whose scale changes from place to place.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import Array
from jax.flatten_util import ravel_pytree

from orthodrome.core import trees
from orthodrome.core.pytree import pytree, static
from orthodrome.core.types import Setting
from orthodrome.dynamics.generalised_leapfrog import Faults, PhasePoint, System, default_tolerance
from orthodrome.dynamics.leapfrog import DIVERGENT_ENERGY, largest_step
from orthodrome.gradients.estimator import GradientEstimator
from orthodrome.linear.sweeps import cholesky, product
from orthodrome.metrics.local_metric import PointMetric
from orthodrome.samplers.exact.local_metric import RiemannianSampler, RiemannianState


class RiemannianHMCInfo(NamedTuple):
    """What one transition did; the last three say why it could not be accepted.

    lp: the log density
    acceptance_rate: the probability of acceptance
    diverging: whether the energy error was too large or non-finite
    energy: H at the new state
    n_steps, step_size: leapfrog steps and their size
    not_definite: whether the metric was not positive definite
    not_converged: whether a fixed-point iteration did not converge
    not_reversible: whether the reversed step did not return to its start
    """

    lp: Array
    acceptance_rate: Array
    diverging: Array
    energy: Array
    n_steps: Array
    step_size: Array
    not_definite: Array
    not_converged: Array
    not_reversible: Array


@pytree
class RiemannianHMC(RiemannianSampler):
    """Hamiltonian Monte Carlo with a metric that depends on the position, on flat coordinates.

    The trajectory follows the dynamics of

        H(x, p) = -log pi(x) + log det G(x) / 2 + p' G(x)^-1 p / 2,     p ~ N(0, G(x)),

    by the generalised leapfrog (Girolami & Calderhead 2011), and is accepted with probability
    min(1, exp(H(x, p) - H(x', p'))).

    gradient: an exact estimator (`FullGradient`)
    metric: `LocalMetric(x -> G(x))`, or `FisherMetric(posterior)`
    step_size: epsilon, one number; None: learnt in warm-up
    num_steps: leapfrog steps of a trajectory
    tolerance: of the fixed-point iterations, relative; None: a hundred rounding errors
    max_iterations: of each fixed-point iteration, after which the move is rejected
    compiled: whether JAX compiles `step`; otherwise Python calls it
    """

    gradient: GradientEstimator
    metric: PointMetric
    step_size: Setting = None
    num_steps: Setting = 5
    tolerance: Setting = None
    max_iterations: int = static(default=50)
    compiled: bool = static(default=True)

    def step(self, key: Array, state: RiemannianState) -> tuple[RiemannianState, RiemannianHMCInfo]:
        """Draw a momentum, follow the dynamics, accept or stay."""
        momentum_key, accept_key = jax.random.split(key)
        x, unravel = ravel_pytree(state.position)
        tolerance = default_tolerance(x.dtype) if self.tolerance is None else self.tolerance
        system = System(self.gradient, self.metric, jnp.asarray(tolerance, x.dtype), unravel, self.max_iterations)
        p = product(cholesky(system.metric_at(x).matrix), jax.random.normal(momentum_key, x.shape, x.dtype))
        start = PhasePoint(x, p, state.logdensity, ravel_pytree(state.gradient)[0])
        end, faults = self._follow(system, start)
        change = system.energy(start) - system.energy(end)
        faulty = faults.not_definite | faults.not_converged | faults.not_reversible
        change = jnp.where(faulty | jnp.isnan(change), -jnp.inf, change)
        accepted = jnp.log(jax.random.uniform(accept_key, dtype=x.dtype)) < change
        proposal = RiemannianState(unravel(end.x), end.logdensity, unravel(end.gradient))
        kept = trees.where(accepted, proposal, state)
        info = RiemannianHMCInfo(
            lp=kept.logdensity,
            acceptance_rate=jnp.exp(jnp.minimum(change, 0)),
            diverging=~faulty & ~(change > -DIVERGENT_ENERGY),
            energy=jnp.where(accepted, system.energy(end), system.energy(start)),
            n_steps=jnp.asarray(self.num_steps, jnp.int32),
            step_size=largest_step(self.step_size),
            **faults._asdict(),
        )
        return kept, info

    def _follow(self, system: System, start: PhasePoint) -> tuple[PhasePoint, Faults]:
        """Take all leapfrog steps; after a fault the trajectory stands still."""
        none = Faults(*jnp.zeros((3,), bool))
        h = jnp.asarray(self.step_size, start.x.dtype)

        def advance(_: Any, carry: tuple[PhasePoint, Faults]) -> tuple[PhasePoint, Faults]:
            point, faults = carry
            failed = faults.not_definite | faults.not_converged | faults.not_reversible
            new, found = system.step(point, h)
            return trees.where(failed, point, new), trees.where(failed, faults, found)

        number = jnp.asarray(self.num_steps, jnp.int32)
        end: tuple[PhasePoint, Faults] = jax.lax.fori_loop(0, number, advance, (start, none))
        return end
