"""How each sampler is made from an estimator and a law: one small function each, and nothing else."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from jax.flatten_util import ravel_pytree

from orthodrome.gradients import BatchGradient, ConjugateCounts, ConjugatePosterior
from orthodrome.metrics import InverseMetric, LocalMetric, ProbedDivergence
from orthodrome.models.network.gibbs import EigenmodelGibbs
from orthodrome.recipe import Recipe
from orthodrome.samplers import (
    GSGNHT,
    SCIR,
    SGFS,
    SGGMC,
    SGHMC,
    SGLD,
    SGNHT,
    SGRHMC,
    SGRLD,
    SOU,
    SWF,
    ColumnGibbs,
    ColumnPairs,
    GeodesicHMC,
    GeodesicNUTS,
    GeodesicWALNUTS,
    RandomWalk,
    ReducedMean,
    RiemannianHMC,
    RiemannianLangevin,
    Scheduled,
    SimplexLangevin,
    Streamed,
    Tempering,
)
from orthodrome.schedules import Constant
from orthodrome.targets import Posterior
from orthodrome.tuning import Adapted, AdaptedDiffusion, StochasticAdapted
from orthodrome.tuning.tempering_tuning import AdaptedTempering
from support.registry.law import Law

FRICTION = 1.5
STRETCH = 2.25
"""The inverse metric of the samplers with one, where their law is known."""
LADDER = (0.5, 1.0)
ALONE: tuple[str, ...] = ()
"""No axis to pool over: a chain that learns by itself, so that chains side by side are chains one by one."""
EDGES = np.array([[0, 1, 0, 1], [1, 0, 1, np.nan], [0, 1, 0, 0], [1, np.nan, 0, 0.0]])


# --- exact -----------------------------------------------------------------------------------------------------------


def hmc(gradient: Any, law: Law) -> GeodesicHMC:
    return GeodesicHMC(gradient, step_size=law.step, num_steps=law.num_steps)


def nuts(gradient: Any, law: Law) -> GeodesicNUTS:
    return GeodesicNUTS(gradient, step_size=law.step, max_depth=law.max_depth)


def walnuts(gradient: Any, law: Law) -> GeodesicWALNUTS:
    """Energies may vary so little that most trajectories have steps of several levels."""
    return GeodesicWALNUTS(gradient, step_size=law.step, max_error=0.05, max_depth=law.max_depth)


def walk(gradient: Any, law: Law) -> RandomWalk:
    return RandomWalk(gradient.target, step_size=law.walk)


def riemannian_hmc(gradient: Any, law: Law) -> RiemannianHMC:
    return RiemannianHMC(gradient, LocalMetric(law.metric), law.step, law.num_steps)


def riemannian_langevin(gradient: Any, law: Law) -> RiemannianLangevin:
    return RiemannianLangevin(gradient, LocalMetric(law.metric), law.langevin)


def column_pairs(gradient: Any, law: Law) -> ColumnPairs:
    return ColumnPairs(gradient, 0.8, 2)


def column_gibbs(gradient: Any, law: Law) -> ColumnGibbs:
    """The density of the start "frame"."""
    linear = np.array([[2.0, 0.0], [0.0, 1.0], [-1.0, 0.0], [0.0, 0.0]])
    return ColumnGibbs(np.zeros((4, 4)), np.ones(2), linear)


def eigenmodel_gibbs(gradient: Any, law: Law) -> EigenmodelGibbs:
    return EigenmodelGibbs(EDGES)


# --- stochastic ------------------------------------------------------------------------------------------------------


def sggmc(gradient: Any, law: Law) -> SGGMC:
    return SGGMC(gradient, law.step, FRICTION)


def gsgnht(gradient: Any, law: Law) -> GSGNHT:
    return GSGNHT(gradient, law.step, FRICTION)


def sgld(gradient: Any, law: Law) -> SGLD:
    return SGLD(gradient, law.step)


def sgfs(gradient: Any, law: Law) -> SGFS:
    return SGFS(gradient, law.step, information=1.0)


def sghmc(gradient: Any, law: Law) -> SGHMC:
    return SGHMC(gradient, law.step, FRICTION)


def sgnht(gradient: Any, law: Law) -> SGNHT:
    return SGNHT(gradient, law.step, FRICTION)


def inverse_metric(law: Law) -> InverseMetric:
    return InverseMetric(law.inverse_metric, None, ProbedDivergence())


def sgrld(gradient: Any, law: Law) -> SGRLD:
    return SGRLD(gradient, inverse_metric(law), law.step)


def sgrhmc(gradient: Any, law: Law) -> SGRHMC:
    return SGRHMC(gradient, inverse_metric(law), law.step)


def momentum_energy(z: Any) -> Array:
    return 0.5 * sum(jnp.sum(leaf**2) for leaf in jax.tree.leaves(z[1]))


def blocks(z: Any, position_position: float, position_momentum: float, momentum_momentum: float) -> Array:
    """((a, -b), (b, c)) over the ravelled (position, momentum)."""
    n = ravel_pytree(z[0])[0].size
    pattern = jnp.asarray([[position_position, -position_momentum], [position_momentum, momentum_momentum]])
    return jnp.kron(pattern, jnp.eye(n)).astype(ravel_pytree(z)[0].dtype)


def friction_of_momentum(z: Any) -> Array:
    return blocks(z, 0.0, 0.0, FRICTION)


def symplectic(z: Any) -> Array:
    return blocks(z, 0.0, 1.0, 0.0)


def resting_or_normal(key: Any, x: Any) -> tuple[Any]:
    """The momentum of a start."""
    flat, unravel = ravel_pytree(x)
    return (unravel(jnp.zeros_like(flat) if key is None else jax.random.normal(key, flat.shape, flat.dtype)),)


def recipe(gradient: Any, law: Law) -> Recipe:
    """SGHMC as a recipe."""
    return Recipe(
        momentum_energy,
        friction_of_momentum,
        symplectic,
        law.step,
        gradient=gradient,
        auxiliary=resting_or_normal,
    )


def conjugate_counts(gradient: Any, law: Law) -> ConjugateCounts:
    """Six rows of ones, of which a batch has two; the density of the law is asked for no more than to be counted."""

    def counts(key: Array, p: Any, rows: Array) -> Any:
        asked = 0 * law.logdensity(p)
        return jax.tree.map(lambda leaf: jnp.full_like(leaf, jnp.sum(rows) + asked), p)

    return ConjugateCounts(ConjugatePosterior(gradient.manifold, 0.5, counts, jnp.ones(6), 2.0), 2)


def scir(gradient: Any, law: Law) -> SCIR:
    return SCIR(conjugate_counts(gradient, law), law.step)


def sou(gradient: Any, law: Law) -> SOU:
    return SOU(conjugate_counts(gradient, law), law.step)


def swf(gradient: Any, law: Law) -> SWF:
    return SWF(conjugate_counts(gradient, law), law.step)


def simplex_langevin(gradient: Any, law: Law) -> SimplexLangevin:
    return SimplexLangevin(conjugate_counts(gradient, law), ReducedMean(), law.step)


# --- samplers that hold samplers -------------------------------------------------------------------------------------


def scheduled(gradient: Any, law: Law) -> Scheduled:
    return Scheduled(sggmc(gradient, law), step_size=Constant(1.0), temperature=Constant(1.0))


def streamed(gradient: Any, law: Law) -> Streamed:
    """Batches of two rows out of two, each with half of the log density: an exact gradient, fed from outside."""

    def half(p: Any, row: Array) -> Array:
        return row * law.logdensity(p)

    halves = jnp.asarray([0.5, 0.5])
    posterior = Posterior(gradient.manifold, no_prior, half, halves)
    return Streamed(SGLD(BatchGradient(posterior, num_data=2), law.step), lambda number: halves)


def no_prior(p: Any) -> Array:
    return 0 * sum(jnp.sum(leaf) for leaf in jax.tree.leaves(p))


def tempering(gradient: Any, law: Law) -> Tempering:
    return Tempering(hmc(gradient, law), LADDER)


def adapted(gradient: Any, law: Law) -> Adapted:
    return Adapted(GeodesicHMC(gradient, num_steps=law.num_steps), 40, pool=ALONE)


def adapted_tempering(gradient: Any, law: Law) -> AdaptedTempering:
    return AdaptedTempering(Tempering(RandomWalk(gradient.target), num_replicas=2), 40, pool=ALONE)


def adapted_diffusion(gradient: Any, law: Law) -> AdaptedDiffusion:
    return AdaptedDiffusion(SCIR(conjugate_counts(gradient, law)), 40, pool=ALONE)


def stochastic_adapted(gradient: Any, law: Law) -> StochasticAdapted:
    return StochasticAdapted(SGGMC(gradient), 40, pool=ALONE)
