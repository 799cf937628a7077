"""Fig. 5 of Byrne & Girolami (2013): the laws of Fig. 4 by parallel tempering.

The paper's scheme has ten replicas at the exponents 0.1, 0.2, ..., 1, each moved by the sampler of Fig. 4, and ten
random exchanges between moves. Ours tunes the ladder and every replica's step by itself, and even and odd pairs take
turns. By symmetry x5 is as often above 0 as below: that is the exact balance of the modes, and how far the sign of x5
is from it, in its standard errors, is the claim.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from orthodrome.core.types import Reals
from orthodrome.experiments.support.claims.claim import within_error
from orthodrome.experiments.support.contract import Claim, Context
from orthodrome.plots.style import BLUE, GREY, ORANGE, new_figure
from orthodrome.run import sample
from orthodrome.samplers.exact.geodesic_hmc import GeodesicHMC
from orthodrome.samplers.holders.tempering import Tempering

LADDER, EXCHANGES = tuple(np.round(np.arange(1, 11) / 10, 1).tolist()), 10
BALANCED = 3.0
"""The largest deviation of the mean sign of x5 from zero, in standard errors."""
TRACE_LENGTH = 200


class TemperedCase(NamedTuple):
    """The draws of one law by both schemes, and the round trips of all chains."""

    c1: float
    paper: Reals
    tuned: Reals
    round_trips: dict[str, int]


def draw_tempered(
    context: Context, gradient: Any, start: Any, c1: float, step_size: float, num_steps: int
) -> TemperedCase:
    """Draw with both schemes, all replicas from one mode."""
    settings: dict[str, Any] = {"seed": context.seed, "num_chains": 4, "progress": context.progress}
    length = context.pick(quick=1_000, paper=40_000)
    as_printed = Tempering(GeodesicHMC(gradient, step_size, num_steps), LADDER, random_swaps=EXCHANGES)
    paper = sample(as_printed, start, num_warmup=200, num_draws=length, **settings)
    ours = Tempering(GeodesicHMC(gradient, num_steps=3), num_replicas=len(LADDER))
    tuned = sample(ours, start, num_warmup=500, num_draws=length, **settings)
    trips = {name: _trips(tree) for name, tree in (("paper", paper), ("self-tuned", tuned))}
    return TemperedCase(c1, _positions(paper), _positions(tuned), trips)


def _positions(draws: Any) -> Reals:
    return np.asarray(draws["posterior"]["x"].values, float)


def _trips(draws: Any) -> int:
    return int(draws["sample_stats"]["round_trips"].values[:, -1].sum())


def balance(x: Reals) -> dict[str, float]:
    """Return the mean sign of x5, its standard error, and their ratio."""
    from arviz_stats.base import array_stats

    sign = np.sign(x[..., 4])
    error = float(array_stats.mcse(sign, chain_axis=0, draw_axis=1, method="mean"))
    stuck = not np.isfinite(error) or error == 0  # a chain that never leaves its mode has no error of its own
    z = np.inf if stuck else abs(float(sign.mean())) / error
    return {"mean_sign": float(sign.mean()), "mcse": error, "z": float(z)}


def balance_claims(case: TemperedCase) -> list[Claim]:
    """Return the claims that both modes, where there are two, are visited equally often."""
    claims = []
    for name, x in (("paper", case.paper), ("self-tuned", case.tuned)):
        found = balance(x) | {"round_trips": case.round_trips[name]}
        text = f"c1 = {case.c1:.0f}, {name} tempering balances the two modes: z-score of the sign of x5 below 3"
        holds = found["z"] < BALANCED and found["mcse"] < 0.2
        claim = Claim(f"balance-{case.c1:.0f}-{name}", text, "transitions between modes (Fig. 5)", found, holds)
        claims.append(within_error(claim, abs(found["mean_sign"]), found["mcse"]))
    return claims


def figure5(cases: list[TemperedCase]) -> Any:
    """Return a figure of the traces of x5 of the cold replica, by both schemes."""
    drawing, axes = new_figure(2, len(cases), size=(8.0, 3.6))
    for column, case in enumerate(cases):
        for row, (x, color) in enumerate(((case.paper, BLUE), (case.tuned, ORANGE))):
            axes[row, column].plot(x[0, :TRACE_LENGTH, 4], color=color, linewidth=0.7)
            axes[row, column].axhline(0, color=GREY, linewidth=0.4)
            axes[row, column].set_ylim(-1.05, 1.05)
        axes[0, column].set_title(f"$c_1$ = {case.c1:.0f}", fontsize=10)
        axes[1, column].set_xlabel("draw")
    axes[0, 0].set_ylabel("$x_5$, paper's tempering")
    axes[1, 0].set_ylabel("$x_5$, self-tuned")
    return drawing


def trace_rows(cases: list[TemperedCase]) -> list[dict[str, Any]]:
    """Return the table of the traces."""
    return [
        {"c1": case.c1, "draw": i, "x5_paper": case.paper[0, i, 4], "x5_self_tuned": case.tuned[0, i, 4]}
        for case in cases
        for i in range(TRACE_LENGTH)
    ]
