"""Fig. 4 and 5 of Byrne & Girolami (2013): geodesic Monte Carlo on Bingham-von Mises-Fisher laws, one mode or two.

    pi_H(x) ~ exp(c'x + x'Ax) on the sphere in R^5,   A = diag(-20, -10, 0, 10, 20),   c = (c1, 0, 0, 0, 0)

for c1 = 0, 40, 80. For |c1| < 80 the modes are at x1 = c1/80, x5 = +-sqrt(1 - (c1/80)^2); the barrier between them
(over x4) is 10 nats at c1 = 0 and 6.7 at c1 = 40. The paper shows 200 draws with steps of 0.01, 20 to a trajectory, and
says that the sampler has difficulty moving between the modes when there are two. Here that is a number: how often x5
changes its sign in 200 draws, where independent draws would do so 100 times. The paper gives no moments; those of the
sampler are compared with quadrature (`support.bvmf.law`). The self-tuned sampler runs beside it: it moves faster within
a mode, but no tuning of a local sampler crosses 10 nats. Fig. 5, with tempering, is in `support.bvmf.tempering`; what
the section says about Hoff's sampler is in `support.bvmf.hoff`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np
from jax import Array

from orthodrome.core.types import Reals
from orthodrome.experiments.support.bvmf.hoff import HARD, TIMES, collapse_claims, draw_hard, rates
from orthodrome.experiments.support.bvmf.law import DIAGONAL, log_marginal, moments
from orthodrome.experiments.support.bvmf.tempering import TemperedCase, balance_claims, draw_tempered, figure5
from orthodrome.experiments.support.bvmf.tempering import trace_rows as tempered_trace_rows
from orthodrome.experiments.support.claims.claim import within_error
from orthodrome.experiments.support.contract import Claim, Context
from orthodrome.gradients import FullGradient
from orthodrome.manifolds import Sphere
from orthodrome.plots.style import BLUE, GREY, ORANGE, new_figure
from orthodrome.run import sample
from orthodrome.samplers.exact.geodesic_hmc import GeodesicHMC
from orthodrome.samplers.exact.geodesic_nuts import GeodesicNUTS
from orthodrome.targets import Target

NAME = "gmc-bvmf"
TITLE = "Bingham-von Mises-Fisher on the sphere in R^5: mode switches with and without tempering, moments"
PAPER = "Byrne & Girolami 2013, section 5.1, Fig. 4 and 5"
DATA = None

LINEAR = (0.0, 40.0, 80.0)
STEP_SIZE, NUM_STEPS, TRACE_LENGTH = 0.01, 20, 200
FEW, MANY = 5.0, 20.0
"""Sign changes of x5 per 200 draws that count as having difficulty, and as having none."""
TOLERANCE = 4.0
"""In standard errors: if all is right, one moment in 16,000 is off by more."""


class Case(NamedTuple):
    """The draws of one law: the paper's sampler (its own 200 and a long run) and the self-tuned one."""

    c1: float
    fixed: Reals
    tuned: Reals


def logdensity(x: Array, law: dict[str, Array]) -> Array:
    """Return c'x + x'Ax for a diagonal A."""
    return jnp.sum(law["c"] * x) + jnp.sum(law["a"] * x * x)


def target(c1: float, times: float = 1.0) -> Target:
    """Return the law as a user of the package would write it, with A and c multiplied by `times`."""
    law = {"a": jnp.asarray(DIAGONAL, jnp.float32) * times, "c": jnp.asarray([c1 * times, 0, 0, 0, 0], jnp.float32)}
    return Target(Sphere(), logdensity, law)


def run(context: Context) -> list[Claim]:
    """Sample all three laws, write the figures and tables, and return the claims."""
    cases = [draw(context, c1) for c1 in LINEAR]
    tempered = [draw_tempered(context, FullGradient(target(c)), mode(c), c, STEP_SIZE, NUM_STEPS) for c in LINEAR]
    every: list[Case | TemperedCase] = [*cases, *tempered]
    rows = [row for case in every for row in moment_rows(case)]
    context.save_table("moments", rows)
    context.save_table("traces", trace_rows(cases))
    context.save_table("traces_tempered", tempered_trace_rows(tempered))
    context.save_figure(figure(cases), "figure4")
    context.save_figure(figure5(tempered), "figure5")
    mixing = [claim for case in cases for claim in mixing_claims(case)]
    balanced = [claim for case in tempered if case.c1 < 80 for claim in balance_claims(case)]
    hard = draw_hard(context, FullGradient(target(HARD, TIMES)), mode(HARD))
    found = [*(rates(case.c1, case.tuned) for case in cases), rates(HARD, hard[0], TIMES)]
    context.save_table("hoff", [{"c1": r.c1 * r.times, "times": r.times, "log10": v} for r in found for v in r.log10])
    return mixing + balanced + collapse_claims(found, hard) + [moment_claim(row) for row in rows]


def draw(context: Context, c1: float) -> Case:
    """Draw from a law with both samplers, from a mode; the same seeds for each law."""
    gradient, start = FullGradient(target(c1)), mode(c1)
    settings: dict[str, Any] = {"seed": context.seed, "num_chains": 4, "progress": context.progress}
    length = context.pick(quick=4_000, paper=40_000)
    paper_sampler = GeodesicHMC(gradient, step_size=STEP_SIZE, num_steps=NUM_STEPS)
    fixed = sample(paper_sampler, start, num_warmup=200, num_draws=length, **settings)
    tuned = sample(GeodesicNUTS(gradient), start, num_warmup=500, num_draws=length // 4, **settings)
    return Case(c1, positions(fixed), positions(tuned))


def positions(draws: Any) -> Reals:
    """Return the positions as an array (chain, draw, 5)."""
    return np.asarray(draws["posterior"]["x"].values, float)


def mode(c1: float) -> Array:
    """Return the mode with x5 > 0 (at c1 = 80 the two coincide at x1 = 1)."""
    x1 = c1 / 80
    return jnp.asarray([x1, 0, 0, 0, np.sqrt(1 - x1**2)], jnp.float32)


def switches(x: Reals) -> float:
    """Return the number of sign changes of x5 in 200 draws, averaged over all chains."""
    up = x[..., 4] > 0
    return float(np.mean(up[:, 1:] != up[:, :-1]) * TRACE_LENGTH)


def mixing_claims(case: Case) -> list[Claim]:
    """Return the claims that make the paper's sentence under Fig. 4 a number."""
    bimodal = case.c1 < 80
    says = "has difficulty moving between the modes" if bimodal else "one mode: no difficulty"
    claims = []
    for sampler, x, statement in (("paper", case.fixed, says), ("self-tuned", case.tuned, None)):
        changes = switches(x)
        text = f"c1 = {case.c1:.0f}, {sampler}: x5 {'rarely' if bimodal else 'often'} changes sign in 200 draws"
        holds = changes < FEW if bimodal else changes > MANY
        claims.append(Claim(f"switches-{case.c1:.0f}-{sampler}", text, statement, changes, holds))
    return claims


def moment_rows(case: Case | TemperedCase) -> list[dict[str, Any]]:
    """Return each moment by each sampler, with its standard error and the exact value.

    E x5 is left out: its sign is that of the mode a chain happens to be in. The others are the same in both modes.
    """
    from arviz_stats.base import array_stats

    exact = moments(case.c1)
    rows = []
    plain = isinstance(case, Case)
    names = ("paper", "self-tuned") if plain else ("paper-tempered", "self-tuned-tempered")
    for sampler, x in zip(names, case[1:3], strict=True):
        columns = np.concatenate([x[..., :1], x**2], axis=-1)
        errors = array_stats.mcse(columns, chain_axis=0, draw_axis=1)
        for name, mean, error in zip(exact, columns.mean((0, 1)), errors, strict=True):
            row = {"c1": case.c1, "sampler": sampler, "moment": name, "mean": float(mean), "mcse": float(error)}
            rows.append(row | {"exact": exact[name]})
    return rows


def moment_claim(row: dict[str, Any]) -> Claim:
    """Return the claim that a sampler's mean agrees with quadrature."""
    label = f"{row['moment']}-{row['c1']:.0f}-{row['sampler']}"
    text = f"c1 = {row['c1']:.0f}, {row['sampler']}: E {row['moment']} agrees with quadrature"
    measured = {key: row[key] for key in ("mean", "mcse", "exact")}
    off = abs(row["mean"] - row["exact"])
    return within_error(Claim(label, text, None, measured, off < TOLERANCE * row["mcse"]), off, row["mcse"])


def trace_rows(cases: list[Case]) -> list[dict[str, Any]]:
    """Return the table of the traces."""
    return [
        {"c1": case.c1, "draw": i, "x5_paper": case.fixed[0, i, 4], "x5_self_tuned": case.tuned[0, i, 4]}
        for case in cases
        for i in range(TRACE_LENGTH)
    ]


def figure(cases: list[Case]) -> Any:
    """Return a figure of contours of (x1, x5) with the first 200 draws, and below them the traces of x5 by both
    samplers."""
    shape = {"height_ratios": [2.2, 1, 1]}
    drawing, axes = new_figure(3, len(cases), size=(8.0, 6.4), gridspec_kw=shape)
    for column, case in enumerate(cases):
        contours(axes[0, column], case)
        trace(axes[1, column], case.fixed[0, :TRACE_LENGTH, 4], BLUE)
        trace(axes[2, column], case.tuned[0, :TRACE_LENGTH, 4], ORANGE)
        axes[2, column].set_xlabel("draw")
    axes[0, 0].set_ylabel("$x_5$")
    axes[1, 0].set_ylabel("$x_5$, paper's sampler")
    axes[2, 0].set_ylabel("$x_5$, self-tuned")
    return drawing


def contours(axes: Any, case: Case) -> None:
    """Draw exact contours on the disc, 2 nats apart, and the draws of the paper's sampler."""
    radius, angle = np.meshgrid(np.linspace(0, 0.9995, 120), np.linspace(0, 2 * np.pi, 241))
    x1, x5 = radius * np.cos(angle), radius * np.sin(angle)
    height = log_marginal(case.c1, x1, x5)
    levels = np.arange(-12, 0, 2)
    axes.contour(x1, x5, height - height.max(), levels=levels, colors=GREY, linewidths=0.6, linestyles="solid")
    axes.plot(np.cos(angle[:, 0]), np.sin(angle[:, 0]), color=GREY, linewidth=0.8)
    axes.scatter(case.fixed[0, :TRACE_LENGTH, 0], case.fixed[0, :TRACE_LENGTH, 4], s=5, color=BLUE, linewidths=0)
    axes.set_title(f"$c_1$ = {case.c1:.0f}", fontsize=10)
    axes.set(xlabel="$x_1$", aspect="equal", xticks=(-1, 0, 1), yticks=(-1, 0, 1))


def trace(axes: Any, x5: Reals, color: str) -> None:
    """Draw the x5 of one chain."""
    axes.plot(x5, color=color, linewidth=0.7)
    axes.axhline(0, color=GREY, linewidth=0.4)
    axes.set_ylim(-1.05, 1.05)
