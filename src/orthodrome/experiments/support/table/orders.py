"""The order of each integrator of Table 1: how the bias of a second moment falls with the step.

The orders of the words of splittings are exact (`words.linear`; the tests show that the samplers take just those
steps). SGLD on a Gaussian is x <- (1 - h) x + N(0, 2 h), SGHMC an Euler step of the momentum and then one of the
position; their slopes come from the same algebra. The two thermostats move: the law that they keep is computed by a
spectral method (`words.thermostat`). GMC and CHMC
(which is GMC on a `LevelSet`) are exact with their Metropolis test: their order is that of the energy error of a
trajectory, as run, and so is that of RMHMC, with the metric G = 1 + x^2. RMLD and SGRLD have that metric too: the law
that their steps keep is computed on a grid (`grid_law`), RMLD without its test and in time, h^2 / 2 of its step.
SGRHMC is an Euler step with G^-1 = 1/2.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from orthodrome.core.pytree import replace
from orthodrome.dynamics.generalised_leapfrog import PhasePoint
from orthodrome.dynamics.leapfrog import Point, energy, leapfrog
from orthodrome.experiments.support.table.samplers import SAMPLERS, bent, system, unbent
from orthodrome.experiments.support.words.linear import stationary, word
from orthodrome.experiments.support.words.thermostat import thermostat_bias
from orthodrome.gradients import Estimate, FullGradient
from orthodrome.manifolds import Euclidean
from orthodrome.metrics import InverseMetric, LocalMetric
from orthodrome.samplers import RiemannianHMC, RiemannianLangevin
from orthodrome.targets import Target

STEPS = np.array([0.4, 0.2, 0.1, 0.05])


def order(name: str) -> float:
    """Return the slope of the bias in log h over the smallest steps."""
    bias = np.array([abs(BIASES[name](h)) for h in STEPS])
    return round(float(np.polyfit(np.log(STEPS[-3:]), np.log(bias[-3:]), 1)[0]), 3)


def _largest(m: Any, q: Any) -> float:
    """Return the largest bias of E x^2, E x v and E v^2."""
    return float(np.max(np.abs(stationary(m, q) - np.eye(2))))


def _langevin(h: float) -> float:
    """Return the bias of x <- (1 - h) x + N(0, 2 h)."""
    return 2 * h / (1 - (1 - h) ** 2) - 1


def _euler(h: float, inverse: float = 1.0) -> float:
    """Return the bias of r <- r - h S x - h S^2 r + N(0, 2 h S^2), then x <- x + h S r, with S^2 = G^-1."""
    s = np.sqrt(inverse)
    kick, move = np.array([[1.0, 0.0], [-h * s, 1 - h * inverse]]), np.array([[1.0, h * s], [0.0, 1.0]])
    return _largest(move @ kick, move @ np.diag([0.0, 2 * h * inverse]) @ move.T)


def grid_law(mean: Any, variance: Any, grid: Any) -> Any:
    """Return the stationary law of x -> N(mean(x), variance(x)) on a grid."""
    kernel = np.exp(-0.5 * (grid[None] - mean[:, None]) ** 2 / variance[:, None])
    kernel /= kernel.sum(axis=1, keepdims=True)
    equations = np.vstack([kernel.T - np.eye(len(grid)), np.ones(len(grid))])
    return np.linalg.lstsq(equations, np.eye(len(grid) + 1)[-1], rcond=None)[0]


def _metric_langevin(name: str) -> Callable[[float], float]:
    """Return the bias of E x^2 on a standard Gaussian, with the drift and the diffusion of the sampler."""

    def bias(h: float) -> float:
        grid = np.linspace(-6, 6, 481)
        with jax.enable_x64(True):
            gradient = FullGradient(Target(Euclidean(), lambda y: -0.5 * jnp.sum(y**2)))
            drift, diffusion = jax.vmap(MOVES[name](gradient))(jnp.asarray(grid)[:, None])
        law = grid_law(grid + h * np.asarray(drift)[:, 0], 2 * h * np.asarray(diffusion)[:, 0], grid)
        return float(law @ grid**2 - 1)

    return bias


def _moves_of_rmld(gradient: Any) -> Callable[[Array], tuple[Array, Array]]:
    sampler = RiemannianLangevin(gradient, LocalMetric(bent), 1.0, adjusted=False)

    def moves(x: Array) -> tuple[Array, Array]:
        proposal = sampler.proposal(x, -x, lambda y: y, jnp.asarray(1.0))
        return 2 * (proposal.mean - x), proposal.metric.inverse

    return moves


def _moves_of_sgrld(gradient: Any) -> Callable[[Array], tuple[Array, Array]]:
    metric = InverseMetric(unbent)

    def moves(x: Array) -> tuple[Array, Array]:
        inverse, estimate = metric.inverse(x), Estimate(x[0], -x)
        correction = metric.inverse_divergence(jax.random.key(0), x, estimate)
        return inverse * estimate.gradient + correction, inverse

    return moves


MOVES = {"RMLD": _moves_of_rmld, "SGRLD": _moves_of_sgrld}


def _metric_energy(h: float) -> float:
    """Return the energy error of a trajectory of RMHMC of length 0.8, as the sampler runs it."""
    with jax.enable_x64(True):
        gradient = FullGradient(Target(Euclidean(), lambda y: -0.5 * jnp.sum(y**2)))
        dynamics = replace(system(RiemannianHMC(gradient, LocalMetric(bent), h)), tolerance=jnp.asarray(1e-12))
        x = jnp.asarray([0.6, 0.8])
        begin = PhasePoint(x, jnp.asarray([0.8, -0.6]), -0.5 * jnp.sum(x**2), -x)
        step = lambda _, phase: dynamics.step(phase, jnp.asarray(h))[0]
        walk = lambda phase: jax.lax.fori_loop(0, round(0.8 / h), step, phase)
        return float(dynamics.energy(jax.jit(walk)(begin)) - dynamics.energy(begin))


def _energy(name: str) -> Callable[[float], float]:
    """Return the energy error of a trajectory of length 0.8, as the sampler runs it."""

    def error(h: float) -> float:
        with jax.enable_x64(True):
            manifold = SAMPLERS[name][1]
            x = jnp.asarray([0.6, 0.8])
            gradient = FullGradient(Target(manifold, lambda y: 3 * y[0]))
            estimate, _ = gradient.estimate(None, x)
            begin = Point(x, jnp.asarray([0.8, -0.6]), estimate.logdensity, estimate.gradient)
            walk = lambda point: jax.lax.fori_loop(
                0, round(0.8 / h), lambda _, p: leapfrog(gradient, p, jnp.asarray(h)), point
            )
            return float(energy(jax.jit(walk)(begin)) - energy(begin))

    return error


BIASES: dict[str, Callable[[float], float]] = {
    "GMC": _energy("GMC"),
    "RMLD": _metric_langevin("RMLD"),
    "RMHMC": _metric_energy,
    "CHMC": _energy("CHMC"),
    "SGLD": _langevin,
    "SGHMC": _euler,
    "SGNHT": lambda h: thermostat_bias("EA", h),
    "SGRLD": _metric_langevin("SGRLD"),
    "SGRHMC": lambda h: _euler(h, 0.5),
    "SGGMC": lambda h: _largest(*word("ABOBA", h)),
    "gSGNHT": lambda h: thermostat_bias("ABOBA", h),
}
