"""Stochastic gradient Fisher scoring (Ahn, Korattikara & Welling 2012).

    x <- x + P (g + N(0, 4 B / h)),     P = 2 (V + I + 4 B / h)^-1

where V is the covariance of the gradient's error and I the information of all data. In their notation V + I = gamma
N I_1 with gamma = (n + N) / n. Near a posterior that is normal with precision I the step is exact at any h:

    (1 - P I) I^-1 (1 - I P) + P (V + 4 B / h) P = I^-1,

so large steps are sound where the posterior is nearly normal, and for small steps it is Langevin dynamics with D =
B^-1 / 2, whatever the posterior (Ma, Chen & Fox 2015, section 3.1: the minibatch's noise is part of the noise that
is wanted). With another precision A than I (the spread of the scores is the information only if the model is right) the
variance is wrong by the share P (A - I) / (2 - P A), which the learnt step keeps small. Needs an estimator that knows
V: `Minibatch(..., noise=EmpiricalFisher(...))`; its form (scalar, diagonal, full) is that of P.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
from jax import Array

from orthodrome.core import trees
from orthodrome.core.pytree import pytree, replace, static
from orthodrome.core.types import Noise, Setting, Tree
from orthodrome.dynamics.flat import FlatInfo, moved
from orthodrome.dynamics.langevin import LangevinState
from orthodrome.dynamics.leapfrog import largest_step
from orthodrome.errors import BadInput
from orthodrome.gradients.estimator import Estimate, GradientEstimator
from orthodrome.gradients.minibatch import Minibatch
from orthodrome.linear import leaves, maps
from orthodrome.linear.dense import Dense
from orthodrome.linear.linear_map import is_map
from orthodrome.samplers.learnt import Measured
from orthodrome.samplers.stochastic.flat import FlatSampler

LONG, WRONG = 0.5, 0.03
"""The fraction of the way to the mode that one learnt step may go, and the share by which the variance may be wrong
where the information is not the curvature."""


@pytree
class SGFS(FlatSampler):
    """Stochastic gradient Fisher scoring: Langevin dynamics preconditioned by the Fisher information.

        x <- x + P (g + N(0, 4 B / epsilon)),     P = 2 (V + I + 4 B / epsilon)^-1

    (Ahn, Korattikara & Welling 2012), where g is the estimate of grad log pi, V the covariance of its error and I the
    information of all data. For a normal posterior with precision I the step is exact at any epsilon.

    gradient: an estimator that knows V
    step_size: epsilon; a number, or a tree with one per leaf; None: learnt in warm-up
    injected: B; a number, an array of the leaf's shape, `Dense` or `LowRank`; None: V + I
    information: I, in the same forms; None: from V, with the sizes of batch and data (of a `Minibatch`)
    compiled: whether JAX compiles `step`; otherwise Python calls it
    """

    gradient: GradientEstimator
    step_size: Setting = None
    injected: Setting = None
    information: Setting = None
    compiled: bool = static(default=True)

    @property
    def matrices(self) -> tuple[Any, ...]:
        """The settings that may hold matrices: B and I."""
        return self.injected, self.information

    @property
    def learns_units(self) -> bool:
        """Whether the warm-up learns units: no, B is the metric."""
        return False

    def inverse_metric_at(self, position: Tree, estimate: Estimate) -> Tree:
        """Return B^-1."""
        return leaves.over(maps.inverse, self._injected(self._total(estimate.noise, position), position))

    def bears_noise(self, told: bool) -> bool:
        """Return True: V is a part of the noise that the scheme injects."""
        return True

    def tuned(self, measured: Measured) -> SGFS:
        """Return the sampler with a step at which P L is at most LONG, and P |L - I| at most WRONG (2 - P L).

        For a normal posterior whose precision is I any step is right; for others the curvature changes along a long
        step. With T = V + I, all in units of B, P = 2 / (T + 4 / h), and the second bound is 4 / h >= |L - I| / WRONG +
        L - T.
        """
        curvature = jnp.maximum(measured.curvature, 1e-3)
        step = 2 * LONG / curvature
        information = self._measured_information(measured)
        if information is not None:
            wrong = jnp.abs(curvature - information) / WRONG + curvature - measured.noise - information
            step = jnp.minimum(step, 4 / jnp.maximum(wrong, 1e-6))
        return replace(self, step_size=step)

    def _measured_information(self, measured: Measured) -> Array | None:
        """Return I in units of B; None if both are set by hand."""
        if self.information is None:
            share = information_share(self.gradient)
            return share * measured.noise if self.injected is not None else jnp.asarray(share / (1 + share))
        return jnp.maximum(1 - measured.noise, 0) if self.injected is None else None

    def init(self, position: Tree, key: Array | None = None) -> LangevinState:
        """Return the state at a position."""
        return LangevinState(position, self.gradient.init(position))

    def step(self, key: Array, state: LangevinState) -> tuple[LangevinState, FlatInfo]:
        """Take one step of the algorithm of Ahn et al."""
        gradient_key, noise_key = jax.random.split(key)
        x, h = state.position, leaves.spread(self.step_size, state.position)
        estimate, memory = self.gradient.estimate(gradient_key, x, state.memory)
        total = self._total(estimate.noise, x)
        extra = leaves.over(lambda b, s: maps.scaled(b, 4 / s), self._injected(total, x), h)
        noise = leaves.over(lambda b, n: maps.apply(maps.root(b), n), extra, trees.normal_like(noise_key, x))
        precision = leaves.scaled(leaves.over(maps.add, total, extra, x), 0.5)
        change = leaves.over(maps.solve, precision, trees.add(estimate.gradient, noise))
        temperature = trees.dot(change, leaves.over(maps.apply, precision, change)) / (2 * trees.size(x))
        info = FlatInfo(estimate.logdensity, temperature, largest_step(self.step_size), jnp.zeros((), bool))
        return LangevinState(moved(self.manifold, x, change), memory), info

    def _injected(self, total: Tree, x: Tree) -> Tree:
        """Return B."""
        return total if self.injected is None else leaves.spread(self.injected, x)

    def _total(self, noise: Noise, x: Tree) -> Tree:
        """Return V + I."""
        if noise is None:
            raise BadInput("SGFS needs the noise of the gradient; use Minibatch(..., noise=EmpiricalFisher())")
        v = leaves.over(lambda entry: Dense(entry.dense()) if is_map(entry) else entry, leaves.spread(noise, x))
        if self.information is None:
            return leaves.scaled(v, 1 + information_share(self.gradient))
        return leaves.over(maps.add, v, leaves.spread(self.information, x), x)


def information_share(gradient: Any) -> float:
    """Return I / V, where V = (N^2 / n) (1 - n / N) Cov without replacement, and I = N Cov."""
    if not isinstance(gradient, Minibatch):
        raise BadInput(
            f"SGFS cannot derive the information from the noise of {type(gradient).__name__}; give `information`"
        )
    share = gradient.batch_size / gradient.target.num_data
    return share if gradient.replace else share / (1 - share)
