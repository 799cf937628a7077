"""The theorems of Ma, Chen & Fox (2015) as numbers: every known sampler is a recipe, and every SDE has its curl matrix.

Theorem 1 is looked at for the samplers of sections 3.1 and 3.2 and for the geodesic dynamics of Liu, Zhu & Song (2016)
in coordinates, beside naive and misprinted ones, which must fail; Theorem 2 by its Fourier construction in two to four
dimensions; section 2.1 by HMC with jumps and without; and supplement E's remark on accuracy without Monte Carlo.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from orthodrome.experiments.support.contract import Claim, Context
from orthodrome.experiments.support.theory.accuracy import accuracy_claims
from orthodrome.experiments.support.theory.completed import completion_claims
from orthodrome.experiments.support.theory.jumps import jump_claims
from orthodrome.experiments.support.theory.stationary import RIGHT, WRONG, stationary_claims
from orthodrome.plots.style import BLUE, GREY, ORANGE, new_figure

NAME = "recipe-theory"
TITLE = "Theorems 1 and 2: which samplers keep their law, and the curl matrix of an SDE"
PAPER = "Ma, Chen & Fox 2015, sections 2 and 3, supplements A to E; Liu, Zhu & Song 2016, Eq. (5) and (6)"
DATA = None


def run(context: Context) -> list[Claim]:
    """Look at the equations, write figure and table, and return the claims."""
    kept = stationary_claims(context.seed)
    copies, jumps = context.pick(quick=(2_000, 40), paper=(4_000, 200))
    context.save_figure(figure(kept), "residuals")
    context.save_table("residuals", [{"claim": c.id, "residual": c.measured, "holds": c.holds} for c in kept])
    return [
        *kept,
        *completion_claims(context.seed),
        *jump_claims(context.seed, copies, jumps),
        *accuracy_claims(),
    ]


def figure(claims: list[Claim]) -> Any:
    """Return a figure of the residuals of the stationary equation, right samplers and wrong ones."""
    drawing, axes = new_figure(1, 1, size=(6.0, 3.6))
    colors = [ORANGE if c.id.startswith("wrong") else BLUE for c in claims]
    values = [max(float(c.measured), 1e-17) for c in claims]
    axes[0, 0].barh(np.arange(len(claims)), np.log10(values) + 17, left=-17, color=colors)
    for bound in (RIGHT, WRONG):
        axes[0, 0].axvline(np.log10(bound), color=GREY, linewidth=0.8)
    names = [c.id.removeprefix("theorem-1-").removeprefix("wrong-") for c in claims]
    axes[0, 0].set_yticks(np.arange(len(claims)), names, fontsize=7)
    axes[0, 0].invert_yaxis()
    axes[0, 0].set(xlabel="log10 of the residual of the stationary equation")
    return drawing
