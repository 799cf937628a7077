"""How fast averages converge with integrators of first and second order (section 1 of Liu, Zhu & Song 2016).

    |bias| <= const L^(-K/(K+1)),     mean square error <= const L^(-2K/(2K+1))

for an integrator of order K after L steps, with the step h ~ L^(-1/(K+1)), or L^(-1/(2K+1)), that balances the
integrator's error h^K with the memory of the start 1/(L h), or with the variance 1/(L h). Here the rates are slopes:
x^2 of a standard Gaussian, by exact linear algebra (`support.words.linear`), for the words OBA (K = 1), ABOBA and AUKUA
(K = 2). With decreasing steps h_t ~ t^(-1/(K+1)), or t^(-1/(2K+1)), and averages weighted by the step, the bounds have
the same exponents (`support.words.decreasing`); that of the bias has the factor sum_t h_t^(K+1) ~ log L beside it,
which is taken out before the slope. The functional has a bias under each of these words; KAUAK has none for it. On the
sphere, therefore, another one: the first coordinate x_0 of the position under a von Mises law. Its bias in the
stationary law of a word is computed on a grid (`support.words.circle`) and falls as h^2 for ABOBA and for KAUAK.

Nothing here is random: the error beside a slope is that of the straight line through the points, which still bend.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from orthodrome.experiments.support.contract import Claim, Context
from orthodrome.experiments.support.words.circle import exact_mean, kept_mean
from orthodrome.experiments.support.words.decreasing import weighted_averages
from orthodrome.experiments.support.words.linear import mean_of_average, stationary, variance_of_average, word
from orthodrome.plots.style import BLUE, GREEN, GREY, ORANGE, new_figure

NAME = "integrator-rates"
TITLE = "Bias and mean square error of averages against the number of steps, first and second order"
PAPER = "Liu, Zhu & Song 2016, section 1 (bounds of Chen, Ding & Carin 2015)"
DATA = None

ORDERS = {"OBA": 1, "ABOBA": 2, "AUKUA": 2}
START = {"OBA": 2.0, "ABOBA": 0.0, "AUKUA": 2.0}
"""The start of x, on the side of its bias, so that the two errors add up and the slope is that of their sum."""
TOLERANCE = 0.05
"""The largest deviation of a slope from the exponent of its bound."""
SCALE = 100.0
"""The number of steps after which the decrease sets in, for the bias."""
KAPPA, SPHERE_STEPS, LEAST = 3.0, (0.4, 0.2, 0.1), 1.8
"""The von Mises law on the circle, the steps there, and the slope in the step that a second-order word must have."""


class Line(NamedTuple):
    """The slope of a straight line through points, and its standard error."""

    slope: float
    error: float


def run(context: Context) -> list[Claim]:
    """Measure the slopes over several decades of L, write figure and table, and return the claims."""
    lengths = np.geomspace(1e3, context.pick(quick=1e6, paper=1e8), 10).round().astype(int)
    rows = [row for order in ORDERS for row in measure(order, lengths)]
    sphere = [row for order in ("ABOBA", "KAUAK") for row in on_the_sphere(order)]
    context.save_table("rates", rows)
    context.save_table("sphere", sphere)
    context.save_figure(figure(rows, sphere), "rates")
    rates = [claim for order in ORDERS for claim in claims(order, rows)]
    falling = [
        row for order in ORDERS for row in decreasing(order, lengths[lengths <= context.pick(quick=10**6, paper=10**7)])
    ]
    context.save_table("decreasing", falling)
    rates += [claim for order in ORDERS for claim in decreasing_claims(order, falling)]
    return rates + [sphere_claim(order, sphere) for order in ("ABOBA", "KAUAK")]


def on_the_sphere(order: str) -> list[dict[str, Any]]:
    """Return the bias of E x_0 at every step."""
    exact = exact_mean(KAPPA)
    return [{"order": order, "step_size": h, "bias": abs(kept_mean(order, h) - exact)} for h in SPHERE_STEPS]


def sphere_claim(order: str, rows: list[dict[str, Any]]) -> Claim:
    """Return the claim that a word is of second order on the sphere."""
    mine = [row for row in rows if row["order"] == order]
    found = line([r["step_size"] for r in mine], [r["bias"] for r in mine])
    text = (
        f"{order} on the sphere: slope in the step size of the bias of E x_0 under a von Mises law (kappa = {KAPPA:g})"
    )
    return Claim(f"sphere-{order}", text, 2.0, found._asdict(), found.slope >= LEAST)


def measure(order: str, lengths: NDArray[np.int_]) -> list[dict[str, Any]]:
    """Return bias and mean square error at every length, each with its own step."""
    k = ORDERS[order]
    rows = []
    for length in lengths:
        for_bias, for_error = (0.8 * (length / 100) ** (-1 / power) for power in (k + 1, 2 * k + 1))
        bias = mean_of_average(*word(order, for_bias), np.array([START[order], 0.0]), int(length)) - 1
        m, q = word(order, for_error)
        error = (stationary(m, q)[0, 0] - 1) ** 2 + variance_of_average(m, q, int(length))
        rows.append({"order": order, "steps": int(length), "bias": abs(bias), "mean_square_error": error})
    return rows


def decreasing(order: str, lengths: NDArray[np.int_]) -> list[dict[str, Any]]:
    """Return bias (over its logarithm) and mean square error at every length of weighted averages, decreasing steps."""
    k = ORDERS[order]
    mean, _ = weighted_averages(order, 1 / (k + 1), SCALE, lengths, (START[order] ** 2, 0.0))
    law, variance = weighted_averages(order, 1 / (2 * k + 1), 1.0, lengths, (1.0, 1.0))
    bias = np.abs(mean - 1) / np.log1p(lengths / SCALE)
    rows = zip(lengths, bias, (law - 1) ** 2 + variance, strict=True)
    return [{"order": order, "steps": int(n), "bias": float(b), "mean_square_error": float(e)} for n, b, e in rows]


def decreasing_claims(order: str, rows: list[dict[str, Any]]) -> list[Claim]:
    """Return the claims that weighted averages with decreasing steps have the exponents of the bounds."""
    k = ORDERS[order]
    wanted = {"bias": -k / (k + 1), "mean_square_error": -2 * k / (2 * k + 1)}
    found = {column: slope(rows, order, column) for column in wanted}
    text = f"{order} (K = {k}), decreasing steps and weights: slope of the"
    return [
        Claim(
            f"decreasing-{column}-{order}",
            f"{text} {column.replace('_', ' ')}{' over log L' if column == 'bias' else ''}",
            w,
            found[column]._asdict(),
            abs(found[column].slope - w) < TOLERANCE,
        )
        for column, w in wanted.items()
    ]


def slope(rows: list[dict[str, Any]], order: str, column: str) -> Line:
    """Return the slope of the last half of the curve, in log-log coordinates."""
    mine = [row for row in rows if row["order"] == order]
    mine = mine[len(mine) // 2 :]
    return line([r["steps"] for r in mine], [r[column] for r in mine])


def line(x: Sequence[float], y: Sequence[float]) -> Line:
    """Return the slope of log y in log x by least squares, and its standard error."""
    across, up = np.log(x) - np.mean(np.log(x)), np.log(y) - np.mean(np.log(y))
    found = float(across @ up / (across @ across))
    left = up - found * across
    return Line(found, float(np.sqrt(left @ left / (len(left) - 2) / (across @ across))))


def claims(order: str, rows: list[dict[str, Any]]) -> list[Claim]:
    """Return the claims on the two exponents of a word; a bound holds if the curve falls at least as fast."""
    k = ORDERS[order]
    wanted = {"bias": -k / (k + 1), "mean_square_error": -2 * k / (2 * k + 1)}
    found = {column: slope(rows, order, column) for column in wanted}
    return [
        Claim(
            f"{column}-{order}",
            f"{order} (K = {k}): slope of the {column.replace('_', ' ')}",
            w,
            found[column]._asdict(),
            found[column].slope < w + TOLERANCE,
        )
        for column, w in wanted.items()
    ]


def figure(rows: list[dict[str, Any]], sphere: list[dict[str, Any]]) -> Any:
    """Return a figure of both errors against the number of steps, and of the bias on the sphere against the step."""
    drawing, axes = new_figure(1, 3, size=(11.0, 3.2))
    colors = dict(zip(ORDERS, (ORANGE, BLUE, GREEN), strict=True))
    for axis, column in zip(axes[0, :2], ("bias", "mean_square_error"), strict=True):
        for order, color in colors.items():
            mine = [row for row in rows if row["order"] == order]
            axis.loglog(
                [r["steps"] for r in mine],
                [r[column] for r in mine],
                color=color,
                label=f"{order}, K = {ORDERS[order]}",
            )
        axis.set(xlabel="steps L", title=column.replace("_", " "))
        axis.grid(color=GREY, alpha=0.2)
    for order, color in (("ABOBA", BLUE), ("KAUAK", ORANGE)):
        mine = [row for row in sphere if row["order"] == order]
        axes[0, 2].loglog([r["step_size"] for r in mine], [r["bias"] for r in mine], "o-", color=color, label=order)
    axes[0, 2].set(xlabel="step size h", title="bias of $x_0$ on the sphere")
    axes[0, 2].grid(color=GREY, alpha=0.2)
    axes[0, 2].legend(frameon=False, fontsize=8)
    axes[0, 0].legend(frameon=False, fontsize=8)
    return drawing
