"""Table 1 of Liu, Zhu & Song (2016): what each sampler can do, every cell computed.

stochastic gradient     a step from a minibatch runs, and needs no Metropolis test
no inner iteration      no loop that runs until convergence in one step (in the program that JAX traces)
no global coordinates   it works on a sphere, by geodesics, and not by a metric in coordinates
order of integrator     the slope in log h of the largest bias of a second moment of (x, v), on a Gaussian
                        (`support.table.orders`)
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
from jax import Array

from orthodrome.dynamics.generalised_leapfrog import PhasePoint
from orthodrome.dynamics.leapfrog import Point, leapfrog
from orthodrome.experiments.support.contract import Claim, Context
from orthodrome.experiments.support.table.orders import BIASES, STEPS, order
from orthodrome.experiments.support.table.samplers import SAMPLERS, point, posterior, system
from orthodrome.gradients import FullGradient, Minibatch
from orthodrome.manifolds import Sphere
from orthodrome.plots.style import BLUE, GREEN, GREY, ORANGE, new_figure
from orthodrome.samplers import GeodesicHMC, RiemannianHMC, Sampler

NAME = "sampler-table"
TITLE = "What each sampler can do: stochastic gradients, inner iterations, coordinates, order"
PAPER = "Liu, Zhu & Song 2016, Table 1"
DATA = None

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
"""The cells as printed in the paper."""
COLUMNS = ("stochastic gradient", "no inner iteration", "no global coordinates", "order")


def run(context: Context) -> list[Claim]:
    """Compute every row of the table, write the figure, and return the claims."""
    rows = {name: (stochastic(name), not iterates(name), without_coordinates(name), order(name)) for name in SAMPLERS}
    context.save_table(
        "table1", [{"sampler": name} | dict(zip(COLUMNS, row, strict=True)) for name, row in rows.items()]
    )
    context.save_figure(figure(rows), "table1")
    return [claim for name, row in rows.items() for claim in claims(name, row)]


def claims(name: str, row: tuple[Any, ...]) -> list[Claim]:
    """Return a claim for every cell that the paper fills; a dash is not a claim."""
    cells = zip(COLUMNS, PRINTED[name], row, strict=True)
    return [
        Claim(f"{name}: {column}".replace(" ", "-"), f"{name}: {column}", printed, found, agrees(printed, found))
        for column, printed, found in cells
        if printed is not None
    ]


def agrees(printed: Any, found: Any) -> bool:
    """Return whether a cell agrees with the printed one; a slope agrees with an order within 0.2."""
    return abs(found - printed) < 0.2 if not isinstance(printed, bool) else found == printed


def stochastic(name: str) -> bool:
    """Return whether a step from a minibatch can be traced and has no acceptance rate."""
    make, manifold = SAMPLERS[name]
    sampler = make(Minibatch(posterior(manifold), 2))
    try:
        _, info = jax.eval_shape(lambda key: sampler.step(key, sampler.init(point(manifold), key)), jax.random.key(0))
    except (TypeError, ValueError, AttributeError):
        return False
    return "acceptance_rate" not in info._fields


def iterates(name: str) -> bool:
    """Return whether one step of the dynamics iterates until convergence."""
    make, manifold = SAMPLERS[name]
    sampler, x = make(FullGradient(posterior(manifold))), point(manifold)
    return " while[" in str(jax.make_jaxpr(partial(DYNAMICS.get(name, _transition), sampler, x))(x))


def _leapfrog(sampler: GeodesicHMC, x: Array, v: Array) -> Any:
    """Take one step of a trajectory, from x with the velocity v."""
    return leapfrog(sampler.gradient, Point(x, v, x[0], x), jnp.asarray(0.1))


def _implicit_leapfrog(sampler: RiemannianHMC, x: Array, p: Array) -> Any:
    """Take one step of a trajectory, from x with the momentum p."""
    return system(sampler).step(PhasePoint(x, p, x[0], x), jnp.asarray(0.1))


def _transition(sampler: Sampler, x: Array, moved: Array) -> Any:
    """Make one transition, which is the step of a sampler without trajectories."""
    return sampler.step(jax.random.key(0), sampler.init(x)._replace(position=moved))


DYNAMICS: dict[str, Callable[..., Any]] = {"GMC": _leapfrog, "CHMC": _leapfrog, "RMHMC": _implicit_leapfrog}
"""The samplers that follow a trajectory, and what one step of it is."""


def without_coordinates(name: str) -> bool | None:
    """Return whether the sampler accepts a sphere; False if it needs a metric in coordinates, None if it is of flat
    space."""
    make, _ = SAMPLERS[name]
    sampler = make(FullGradient(posterior(Sphere())))
    if sampler.supports(Sphere()) is None:
        return True
    return False if "metric" in sampler.__dataclass_fields__ else None


def figure(rows: dict[str, tuple[Any, ...]]) -> Any:
    """Return a figure of the biases against the step."""
    drawing, axes = new_figure(1, 1, size=(4.5, 3.2))
    for name, color in (("SGLD", GREY), ("SGHMC", ORANGE), ("SGRLD", GREEN), ("SGGMC", BLUE)):
        bias = [abs(BIASES[name](h)) for h in STEPS]
        axes[0, 0].loglog(STEPS, bias, "o-", color=color, markersize=3, label=f"{name}, slope {rows[name][3]:.2f}")
    axes[0, 0].set(xlabel="step size", ylabel="largest bias", xticks=STEPS, xticklabels=[f"{h:g}" for h in STEPS])
    axes[0, 0].minorticks_off()
    axes[0, 0].legend(frameon=False, fontsize=7)
    return drawing
