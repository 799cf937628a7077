"""Table 1 of Liu, Zhu & Song (2016): what each sampler can do, every cell computed.

    stochastic gradient     a step from a minibatch runs, and needs no Metropolis test
    no inner iteration      no loop that runs until convergence in one step (in the program that JAX traces)
    no global coordinates   it works on a sphere, by geodesics, and not by a metric in coordinates
    order of integrator     the slope in log h of the largest bias of a second moment of (x, v), on a Gaussian

The orders of the words of splittings are exact (`linear_words`; the tests show that the samplers take just those
steps). SGLD on a Gaussian is x <- (1 - h) x + N(0, 2 h), SGHMC an Euler step of the momentum and then one of the
position; their slopes come from the same algebra. The two thermostats are taken at a fixed thermostat. GMC and CHMC
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

from orthodrome.experiments.contract import Claim, Context
from orthodrome.experiments.linear_words import stationary, word
from orthodrome.gradients import Estimate, FullGradient, Minibatch
from orthodrome.manifolds import Euclidean, LevelSet, Manifold, Sphere
from orthodrome.plots.style import BLUE, GREEN, GREY, ORANGE, new_figure
from orthodrome.pytree import replace
from orthodrome.samplers import (
    GSGNHT,
    SGGMC,
    SGHMC,
    SGLD,
    SGNHT,
    SGRHMC,
    SGRLD,
    GeodesicHMC,
    InverseMetric,
    LocalMetric,
    RiemannianHMC,
    RiemannianLangevin,
)
from orthodrome.samplers.generalised_leapfrog import Phase, System
from orthodrome.samplers.leapfrog import Point, energy, leapfrog
from orthodrome.targets import Posterior, Target

NAME = "sampler-table"
TITLE = "What each sampler can do: stochastic gradients, inner iterations, coordinates, order"
PAPER = "Liu, Zhu & Song 2016, Table 1"
DATA = None

STEPS = np.array([0.4, 0.2, 0.1, 0.05])


def logprior(x: Array) -> Array:
    """None to speak of."""
    return -0.5 * jnp.sum(x**2)


def loglikelihood(x: Array, row: Array) -> Array:
    """A Gaussian, or a von Mises-Fisher law where x is a unit vector."""
    return jnp.sum(x * row)


def circle_equation(x: Array) -> Array:
    """Zero on the unit circle."""
    return jnp.sum(x**2) - 1


def posterior(manifold: Manifold) -> Posterior:
    """Eight rows on a space of two coordinates."""
    return Posterior(manifold, logprior, loglikelihood, jnp.asarray(np.eye(2)[[0, 1] * 4], jnp.float32))


def bent(x: Array) -> Array:
    """G = 1 + x^2, element by element."""
    return 1 + x**2


def unbent(x: Array) -> Array:
    """G^-1."""
    return 1 / (1 + x**2)


SAMPLERS: dict[str, tuple[Callable[[Any], Any], Manifold]] = {
    "GMC": (lambda g: GeodesicHMC(g, 0.1, 2), Sphere()),
    "RMLD": (lambda g: RiemannianLangevin(g, LocalMetric(bent), 0.1, adjusted=False), Euclidean()),
    "RMHMC": (lambda g: RiemannianHMC(g, LocalMetric(bent), 0.1), Euclidean()),
    "CHMC": (lambda g: GeodesicHMC(g, 0.1, 2), LevelSet(circle_equation)),
    "SGLD": (lambda g: SGLD(g, 0.1), Euclidean()),
    "SGHMC": (lambda g: SGHMC(g, 0.1), Euclidean()),
    "SGNHT": (lambda g: SGNHT(g, 0.1), Euclidean()),
    "SGRLD": (lambda g: SGRLD(g, InverseMetric(unbent), 0.1), Euclidean()),
    "SGRHMC": (lambda g: SGRHMC(g, InverseMetric(unbent), 0.1), Euclidean()),
    "SGGMC": (lambda g: SGGMC(g, 0.1, 1.0), Sphere()),
    "gSGNHT": (lambda g: GSGNHT(g, 0.1, 1.0), Sphere()),
}
PRINTED = {
    "GMC": (False, True, True, 2),
    "RMLD": (False, True, False, 1),
    "RMHMC": (False, False, False, 2),
    "CHMC": (False, False, True, 2),
    "SGLD": (True, True, None, 1),
    "SGHMC": (True, True, None, 1),
    "SGNHT": (True, True, None, 1),
    "SGRLD": (True, True, False, 1),
    "SGRHMC": (True, True, False, 1),
    "SGGMC": (True, True, True, 2),
    "gSGNHT": (True, True, True, 2),
}
COLUMNS = ("stochastic gradient", "no inner iteration", "no global coordinates", "order")


def run(context: Context) -> list[Claim]:
    """Every row of the table."""
    rows = {name: (stochastic(name), not iterates(name), without_coordinates(name), order(name)) for name in SAMPLERS}
    context.save_table(
        "table1", [{"sampler": name} | dict(zip(COLUMNS, row, strict=True)) for name, row in rows.items()]
    )
    context.save_figure(figure(rows), "table1")
    return [claim for name, row in rows.items() for claim in claims(name, row)]


def claims(name: str, row: tuple[Any, ...]) -> list[Claim]:
    """The cells that the paper fills; a dash is none."""
    cells = zip(COLUMNS, PRINTED[name], row, strict=True)
    return [
        Claim(f"{name}: {column}".replace(" ", "-"), f"{name}: {column}", printed, found, agrees(printed, found))
        for column, printed, found in cells
        if printed is not None
    ]


def agrees(printed: Any, found: Any) -> bool:
    """A slope agrees with an order within 0.2."""
    return abs(found - printed) < 0.2 if not isinstance(printed, bool) else found == printed


def stochastic(name: str) -> bool:
    """Whether a step from a minibatch is traced, and has no acceptance rate."""
    make, manifold = SAMPLERS[name]
    sampler = make(Minibatch(posterior(manifold), 2))
    try:
        _, info = jax.eval_shape(lambda key: sampler.step(key, sampler.init(point(manifold), key)), jax.random.key(0))
    except (TypeError, ValueError, AttributeError):
        return False
    return "acceptance_rate" not in info._fields


def iterates(name: str) -> bool:
    """Whether one step of the dynamics loops until it has converged."""
    make, manifold = SAMPLERS[name]
    sampler, x = make(FullGradient(posterior(manifold))), point(manifold)
    if isinstance(sampler, GeodesicHMC):
        step: Any = lambda v: leapfrog(sampler.gradient, Point(x, v, x[0], x), jnp.asarray(0.1))
    elif isinstance(sampler, RiemannianHMC):
        step = lambda v: system(sampler).step(Phase(x, v, x[0], x), jnp.asarray(0.1))
    else:
        state = sampler.init(x)
        step = lambda v: sampler.step(jax.random.key(0), state._replace(position=v))
    return " while[" in str(jax.make_jaxpr(step)(x))


def without_coordinates(name: str) -> bool | None:
    """Whether it accepts a sphere; False if it takes a metric in coordinates instead, None if it is of flat space."""
    make, _ = SAMPLERS[name]
    sampler = make(FullGradient(posterior(Sphere())))
    supports = getattr(type(sampler), "supports", None)
    if supports is None or supports(sampler, Sphere()) is None:
        return True
    return False if "metric" in sampler.__dataclass_fields__ else None


def system(sampler: RiemannianHMC) -> System:
    """The dynamics of RMHMC."""
    return System(sampler.gradient, sampler.metric, jnp.asarray(1e-6), lambda x: x, sampler.max_iterations)


def point(manifold: Manifold) -> Array:
    """A point of each of the spaces here."""
    return jnp.asarray([0.6, 0.8])


def order(name: str) -> float:
    """The slope of the bias in log h over the smallest steps."""
    bias = np.array([abs(BIASES[name](h)) for h in STEPS])
    return round(float(np.polyfit(np.log(STEPS[-3:]), np.log(bias[-3:]), 1)[0]), 3)


def _largest(m: Any, q: Any) -> float:
    """The largest bias of E x^2, E x v and E v^2."""
    return float(np.max(np.abs(stationary(m, q) - np.eye(2))))


def _langevin(h: float) -> float:
    """x <- (1 - h) x + N(0, 2 h)."""
    return 2 * h / (1 - (1 - h) ** 2) - 1


def _euler(h: float, inverse: float = 1.0) -> float:
    """r <- r - h S x - h S^2 r + N(0, 2 h S^2), then x <- x + h S r, with S^2 = G^-1."""
    s = np.sqrt(inverse)
    kick, move = np.array([[1.0, 0.0], [-h * s, 1 - h * inverse]]), np.array([[1.0, h * s], [0.0, 1.0]])
    return _largest(move @ kick, move @ np.diag([0.0, 2 * h * inverse]) @ move.T)


def grid_law(mean: Any, variance: Any, grid: Any) -> Any:
    """The stationary law of x -> N(mean(x), variance(x)) on a grid."""
    kernel = np.exp(-0.5 * (grid[None] - mean[:, None]) ** 2 / variance[:, None])
    kernel /= kernel.sum(axis=1, keepdims=True)
    equations = np.vstack([kernel.T - np.eye(len(grid)), np.ones(len(grid))])
    return np.linalg.lstsq(equations, np.eye(len(grid) + 1)[-1], rcond=None)[0]


def _metric_langevin(name: str) -> Callable[[float], float]:
    """The bias of E x^2 of a standard Gaussian, of the drift and the diffusion that the sampler has."""

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
        proposal = sampler._proposal(x, -x, lambda y: y, jnp.asarray(1.0))
        return 2 * (proposal.mean - x), proposal.shape.inverse

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
    """The energy error of a trajectory of RMHMC of length 0.8, as the sampler runs it."""
    with jax.enable_x64(True):
        gradient = FullGradient(Target(Euclidean(), lambda y: -0.5 * jnp.sum(y**2)))
        dynamics = replace(system(RiemannianHMC(gradient, LocalMetric(bent), h)), tolerance=jnp.asarray(1e-12))
        x = jnp.asarray([0.6, 0.8])
        begin = Phase(x, jnp.asarray([0.8, -0.6]), -0.5 * jnp.sum(x**2), -x)
        step = lambda _, phase: dynamics.step(phase, jnp.asarray(h))[0]
        walk = lambda phase: jax.lax.fori_loop(0, round(0.8 / h), step, phase)
        return float(dynamics.energy(jax.jit(walk)(begin)) - dynamics.energy(begin))


def _energy(name: str) -> Callable[[float], float]:
    """The energy error of a trajectory of length 0.8, as the sampler runs it."""

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
    "SGNHT": _euler,
    "SGRLD": _metric_langevin("SGRLD"),
    "SGRHMC": lambda h: _euler(h, 0.5),
    "SGGMC": lambda h: _largest(*word("ABOBA", h)),
    "gSGNHT": lambda h: _largest(*word("ABOBA", h)),
}


def figure(rows: dict[str, tuple[Any, ...]]) -> Any:
    """The biases against the step."""
    drawing, axes = new_figure(1, 1, size=(4.5, 3.2))
    for name, color in (("SGLD", GREY), ("SGHMC", ORANGE), ("SGRLD", GREEN), ("SGGMC", BLUE)):
        bias = [abs(BIASES[name](h)) for h in STEPS]
        axes[0, 0].loglog(STEPS, bias, "o-", color=color, markersize=3, label=f"{name}, slope {rows[name][3]:.2f}")
    axes[0, 0].set(xlabel="step size", ylabel="largest bias", xticks=STEPS, xticklabels=[f"{h:g}" for h in STEPS])
    axes[0, 0].minorticks_off()
    axes[0, 0].legend(frameon=False, fontsize=7)
    return drawing
