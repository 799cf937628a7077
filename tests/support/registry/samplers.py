"""SAMPLERS: how the tests make every class with `step`, and the facts that say which of them apply to it.

A new sampler is one entry here and inherits the contract tests (`tests/samplers/test_contract.py`). Its law is tested
by one of three facts: `laws` (a Metropolis test makes them exact: `test_stay_in_truth.py`), `variance` (the law of its
discretisation is known on a standard normal: `test_discrete_law.py`), or `elsewhere` (a test of its own).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

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
    RiemannianHMC,
    RiemannianLangevin,
    Scheduled,
    SimplexLangevin,
    Streamed,
    Tempering,
)
from orthodrome.tuning import Adapted, AdaptedDiffusion, StochasticAdapted
from orthodrome.tuning.tempering_tuning import AdaptedTempering
from support import discrete_laws
from support.registry import construction as new
from support.registry.law import Law
from support.registry.targets import ONE_PER_MANIFOLD, TARGETS

WITH_A_METRIC = tuple(name for name, law in TARGETS.items() if law.metric is not None)
EVERYWHERE = tuple(name for name in TARGETS if name not in ("funnel-mixed", "square-frames"))
"""The laws of the geodesic samplers: all, but for those that another one repeats without its metric or its chart."""


def own_step(sampler: Any, step_size: Any) -> Any:
    return replace(sampler, step_size=step_size)


def step_inside(sampler: Any, step_size: Any) -> Any:
    """For a sampler that holds another."""
    return replace(sampler, sampler=replace(sampler.sampler, step_size=step_size))


@dataclass(frozen=True)
class Case:
    """A sampler and its facts.

    kind: its class; make: (estimator, law) -> the sampler, with steps set by hand
    start: the name of what the contract tests step on
    exact: whether a Metropolis test, or draws from conditional laws, keep the law exactly; else gradients may be noisy
    retuned: (sampler, step size) -> the sampler with another step; None: it has none
    per_leaf: whether a step size may be a tree
    traces: how often a transition traces the density at most
    laws: names of the laws that it keeps exactly; fast: those of them that the fast suite takes
    chains: how many chains see 3 % of a standard deviation there
    reversible: whether one transition satisfies detailed balance
    variance: step size -> E x^2 in equilibrium of a standard normal, with noise of the gradient that is told
    order: the power of the step with which the bias of that falls; step: one at which it is easily seen, if it ever is
    copies: coordinates of the position there
    elsewhere: file::test of its law, if that is a test of its own
    """

    kind: type
    make: Callable[[Any, Law], Any]
    start: str = "curved tree"
    exact: bool = True
    retuned: Callable[[Any, Any], Any] | None = own_step
    per_leaf: bool = True
    traces: int = 2
    laws: tuple[str, ...] = ()
    fast: tuple[str, ...] = ()
    chains: Callable[[Law], int] = lambda law: law.chains
    reversible: bool = False
    variance: Callable[[float], float] | None = None
    order: int = 2
    step: float = 0.2
    copies: int = 4_000
    elsewhere: str = ""


def geodesic(kind: type, make: Any, *fast: str, **facts: Any) -> Case:
    return Case(kind, make, laws=EVERYWHERE, fast=fast, reversible=True, **facts)


def riemannian(kind: type, make: Any, **facts: Any) -> Case:
    return Case(kind, make, "smooth tree", per_leaf=False, laws=WITH_A_METRIC, fast=("funnel",), **facts)


def unadjusted(kind: type, make: Any, **facts: Any) -> Case:
    return Case(kind, make, exact=False, **facts)


def flat(kind: type, make: Any, variance: Any, **facts: Any) -> Case:
    return unadjusted(kind, make, start="walled tree", variance=variance, **facts)


def columns(kind: type, make: Any, **facts: Any) -> Case:
    return Case(kind, make, "frame", per_leaf=False, **facts)


SAMPLERS: dict[str, Case] = {
    "GeodesicHMC": geodesic(GeodesicHMC, new.hmc, *ONE_PER_MANIFOLD, "log-ratio-tiny"),
    "GeodesicNUTS": geodesic(GeodesicNUTS, new.nuts, "bingham"),
    "GeodesicWALNUTS": geodesic(GeodesicWALNUTS, new.walnuts, "vmf-2", chains=lambda law: int(1.3 * law.chains)),
    "RandomWalk": geodesic(RandomWalk, new.walk, "vmf-3", chains=lambda law: law.walkers),
    "RiemannianHMC": riemannian(RiemannianHMC, new.riemannian_hmc),
    "RiemannianLangevin": riemannian(
        RiemannianLangevin, new.riemannian_langevin, chains=lambda law: int(2.6 * law.chains)
    ),
    "ColumnPairs": columns(
        ColumnPairs, new.column_pairs, laws=("square-frames",), chains=lambda law: int(2.4 * law.chains)
    ),
    "ColumnGibbs": columns(
        ColumnGibbs,
        new.column_gibbs,
        retuned=None,
        elsewhere="samplers/exact/test_column_gibbs.py::test_frames_stay_in_the_truth",
    ),
    "EigenmodelGibbs": Case(
        EigenmodelGibbs,
        new.eigenmodel_gibbs,
        "network",
        retuned=None,
        per_leaf=False,
        elsewhere="samplers/exact/test_column_gibbs.py::test_the_network_s_gibbs_sampler_keeps_the_prior",
    ),
    "Tempering": Case(
        Tempering,
        new.tempering,
        retuned=step_inside,
        elsewhere="samplers/holders/test_tempering.py::test_every_replica_stays_in_its_truth",
    ),
    "Adapted": Case(
        Adapted,
        new.adapted,
        retuned=None,
        traces=4,
        elsewhere="tuning/test_adapted.py::test_tuned_by_itself_it_draws_from_the_law",
    ),
    "AdaptedTempering": Case(
        AdaptedTempering,
        new.adapted_tempering,
        retuned=None,
        traces=4,
        elsewhere="samplers/holders/test_tempering.py::test_modes_are_crossed",
    ),
    "SGGMC": unadjusted(SGGMC, new.sggmc, step=1.0, variance=lambda h: discrete_laws.aboba(h, new.FRICTION)),
    "GSGNHT": unadjusted(
        GSGNHT, new.gsgnht, step=0.8, variance=lambda h: discrete_laws.aboba_thermostat(h, new.FRICTION)
    ),
    "Scheduled": unadjusted(
        Scheduled,
        new.scheduled,
        retuned=step_inside,
        step=1.0,
        variance=lambda h: discrete_laws.aboba(h, new.FRICTION),
    ),
    "StochasticAdapted": unadjusted(
        StochasticAdapted,
        new.stochastic_adapted,
        retuned=None,
        traces=4,
        elsewhere="tuning/test_stochastic_tuning.py::test_minibatches",
    ),
    "AdaptedDiffusion": unadjusted(
        AdaptedDiffusion,
        new.adapted_diffusion,
        start="weights tree",
        retuned=None,
        traces=4,
        elsewhere="tuning/test_diffusion_tuning.py::test_the_learnt_step_inflates_by_the_share",
    ),
    "SCIR": unadjusted(
        SCIR,
        new.scir,
        start="weights tree",
        traces=4,
        elsewhere="samplers/stochastic/test_scir.py::test_the_law_stays",
    ),
    "SOU": unadjusted(
        SOU,
        new.sou,
        start="smooth tree",
        elsewhere="samplers/stochastic/test_sou.py::test_the_law_stays",
    ),
    "SWF": unadjusted(
        SWF,
        new.swf,
        start="weights alone",
        per_leaf=False,  # no step is short enough for a leaf to stand still
        traces=4,
        elsewhere="samplers/stochastic/test_swf.py::test_the_law_stays",
    ),
    "SimplexLangevin": unadjusted(
        SimplexLangevin,
        new.simplex_langevin,
        start="weights alone",
        traces=4,
        elsewhere="samplers/stochastic/test_simplex_langevin.py::test_the_bias_is_of_the_order_of_the_step",
    ),
    "SGLD": flat(SGLD, new.sgld, discrete_laws.langevin, order=1),
    "SGFS": flat(SGFS, new.sgfs, lambda h: 1.0),
    "SGHMC": flat(SGHMC, new.sghmc, lambda h: discrete_laws.semi_implicit(h, new.FRICTION)[0], step=0.4),
    "SGNHT": flat(SGNHT, new.sgnht, lambda h: discrete_laws.thermostat(h, new.FRICTION), order=1),
    "SGRLD": flat(SGRLD, new.sgrld, lambda h: discrete_laws.langevin(new.STRETCH * h), order=1),
    "SGRHMC": flat(
        SGRHMC,
        new.sgrhmc,
        lambda h: discrete_laws.semi_implicit(new.STRETCH**0.5 * h, new.STRETCH**0.5)[0],
        step=0.28,
    ),
    "Recipe": flat(
        Recipe,
        new.recipe,
        lambda h: discrete_laws.semi_implicit(h, new.FRICTION)[0],
        per_leaf=False,
        step=0.4,
        copies=1,
    ),
    "Streamed": flat(Streamed, new.streamed, discrete_laws.langevin, retuned=step_inside, order=1),
}
