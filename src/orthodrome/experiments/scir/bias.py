"""Section 1.3 and Proposition 1.1 of Baker et al. (2018): the bias of SGRLD near zero, and none of SCIR.

Both draw from Gamma(a, 1) with exact parameters: SGRLD by theta <- |theta + h (a - theta) + sqrt(2 h theta) N(0, 1)|,
SCIR by exact transitions. Inside, the Euler step of SGRLD keeps the mean, because the drift is linear: all of its bias
comes from the reflection at 0, which pushes up. A step from below h is reflected with a probability of order one, by
some h, so in equilibrium the bias is of the order of the mass below h, which is h^a: O(h) at a = 1, as the proposition
says, and slower below. For a log(1/h) << 1 it is slower still: reflection keeps theta above some h, the law between h
and 1 is close to d theta / theta, and so its mean is

    1 / (log(1/h) + constant),

whatever a is: halving a small shape leaves the mean of SGRLD where it was. The assumptions of the proposition (smooth
coefficients on all of R) do not hold at the wall. Relative to the mean a, the bias explodes as a goes to 0.

SCIR has no bias of the mean at any step, also with noisy shapes; its variance is a + tanh(h / 2) Var[a_hat]. What an
iteration costs is measured by `support.scir.iteration_cost`.
"""

from __future__ import annotations

import itertools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from orthodrome.core.types import Reals
from orthodrome.experiments.support.contract import Claim, Context
from orthodrome.experiments.support.scir.iteration_cost import cost_claims, iteration_costs, update_costs
from orthodrome.gradients import ConjugateCounts, ConjugatePosterior, FullGradient
from orthodrome.manifolds import Positive
from orthodrome.metrics.divergence import ProbedDivergence
from orthodrome.metrics.inverse_metric import InverseMetric
from orthodrome.plots.style import BLUE, GREEN, GREY, ORANGE, new_figure
from orthodrome.samplers.stochastic.expanded_mean import weights_themselves
from orthodrome.samplers.stochastic.scir import SCIR
from orthodrome.samplers.stochastic.sgrld import SGRLD
from orthodrome.targets import Target

NAME = "scir-bias"
TITLE = "The bias of SGRLD near zero over steps and shapes, its absence in SCIR, and the cost of an iteration"
PAPER = "Baker, Fearnhead, Fox & Nemeth 2018, section 1.3, Proposition 1.1 and Corollary 3.2"
DATA = None

SHAPES = (0.01, 0.1, 0.5, 1.0)
STEPS = (0.2, 0.1, 0.05, 0.02)
NOISY = (0.0, 10.0)
"""The rows of SCIR's data when its shapes are noisy: batches of one of two rows."""
SURE = 4.4
"""So many standard errors make a bias, or a departure from a law."""


def logdensity(theta: Array, shape: Array) -> Array:
    """Return the log density of independent Gamma(shape, 1) numbers."""
    return jnp.sum((shape - 1) * jnp.log(theta) - theta)


def row_sums(key: Array, p: Array, rows: Array) -> Array:
    """Return the summed rows, the same for every copy."""
    return jnp.broadcast_to(jnp.sum(rows), p.shape)


def sgrld(shape: Any, step_size: Any) -> SGRLD:
    """Return SGRLD for Gamma(shape, 1) with exact gradients."""
    metric = InverseMetric(weights_themselves, None, ProbedDivergence())
    return SGRLD(FullGradient(Target(Positive(), logdensity, shape)), metric, step_size)


def scir(shape: Any, step_size: Any) -> SCIR:
    """Return SCIR for Gamma(shape, 1) with the exact shape."""
    return SCIR(ConjugateCounts(ConjugatePosterior(Positive(), shape, row_sums, jnp.zeros(1)), 1), step_size)


@jax.jit
def moments(sampler: Any, starts: Array, key: Array, num_steps: Array) -> tuple[Array, Array]:
    """Return the means over time of theta and theta^2 of every copy, over the second half of the steps."""

    def move(t: Array, carry: tuple[Any, Array, Array]) -> tuple[Any, Array, Array]:
        state, first, second = carry
        state, _ = sampler.step(jax.random.fold_in(key, t), state)
        x = jnp.where(2 * t < num_steps, 0, state.position)
        return state, first + x, second + x**2

    zero = jnp.zeros_like(starts)
    state = sampler.init(starts, jax.random.fold_in(key, num_steps))
    _, first, second = jax.lax.fori_loop(0, num_steps, move, (state, zero, zero))
    return 2 * first / num_steps, 2 * second / num_steps


def run(context: Context) -> list[Claim]:
    """Measure biases over steps and shapes, the moments of noisy SCIR, and the cost of an iteration."""
    num_copies, time_units = context.pick(quick=(2_000, 6), paper=(40_000, 10))
    rows = [
        row
        for method in ("SGRLD", "SCIR")
        for h in STEPS
        for row in bias_rows(method, h, num_copies, time_units, context.seed)
    ]
    noisy = [noisy_row(h, num_copies, context.seed) for h in STEPS]
    update = update_costs(context.pick(quick=200_000, paper=800_000))
    cost = update | iteration_costs(*context.pick((20, 20), (100, 200)))
    context.save_table("bias", rows)
    context.save_table("noisy", noisy)
    context.save_table("cost", [cost])
    context.save_figure(figure(rows), "bias")
    return [*sgrld_claims(rows), *scir_claims(rows, noisy), *cost_claims(cost)]


def bias_rows(method: str, h: float, num_copies: int, time_units: int, seed: int) -> list[dict[str, Any]]:
    """Return the bias of the mean of a method at every shape, with its standard error over independent copies."""
    shapes = np.repeat(np.array(SHAPES)[:, None], num_copies, axis=1)
    make = {"SGRLD": sgrld, "SCIR": scir}[method]
    sampler = make(jnp.asarray(shapes, jnp.float32), jnp.asarray(h, jnp.float32))
    key = jax.random.fold_in(jax.random.key(seed), round(1e4 * h))
    starts = jnp.asarray(np.maximum(np.random.default_rng(seed).gamma(shapes), 1e-30), jnp.float32)
    means = np.asarray(moments(sampler, starts, key, jnp.asarray(2 * round(time_units / h)))[0], float)
    rows = []
    for a, mean in zip(SHAPES, means, strict=True):
        bias, error = mean.mean() - a, mean.std(ddof=1) / np.sqrt(num_copies)
        rows.append({"method": method, "shape": a, "step_size": h, "bias": bias, "error": error, "relative": bias / a})
    return rows


def noisy_row(h: float, num_copies: int, seed: int) -> dict[str, Any]:
    """Return mean and variance of SCIR with shapes from batches of one row, beside Corollary 3.2.

    All copies of one chain would see the same batch: every copy is a chain of its own.
    """
    target = ConjugatePosterior(Positive(), 0.5, row_sums, jnp.asarray(NOISY))
    sampler = SCIR(ConjugateCounts(target, 1), jnp.asarray(h, jnp.float32))
    a, noise, steps = 0.5 + sum(NOISY), float(np.var(np.array(NOISY) * len(NOISY))), jnp.asarray(2 * round(6 / h))
    chain = lambda i: moments(sampler, jnp.full(1, a), jax.random.fold_in(jax.random.key(seed), i), steps)
    first, second = (np.asarray(x, float)[:, 0] for x in jax.vmap(chain)(jnp.arange(num_copies)))
    variance = second.mean() - a**2
    expected = a + np.tanh(h / 2) * noise
    root = np.sqrt(num_copies)
    return {
        "step_size": h,
        "mean": first.mean(),
        "mean_error": first.std(ddof=1) / root,
        "exact_mean": a,
        "variance": variance,
        "variance_error": second.std(ddof=1) / root,
        "exact_variance": expected,
    }


def of(rows: list[dict[str, Any]], method: str, shape: float, field: str) -> Reals:
    """Return a column over steps."""
    return np.array([row[field] for row in rows if row["method"] == method and row["shape"] == shape])


def slope(rows: list[dict[str, Any]], shape: float) -> float:
    """Return the power of the step with which the bias of SGRLD falls."""
    return float(np.polyfit(np.log(STEPS), np.log(of(rows, "SGRLD", shape, "bias")), 1)[0])


def sgrld_claims(rows: list[dict[str, Any]]) -> list[Claim]:
    """Claim the order of the bias, and that it explodes relative to the mean."""
    slopes = {a: round(slope(rows, a), 3) for a in SHAPES}
    relative = {a: round(float(of(rows, "SGRLD", a, "relative")[-1]), 4) for a in SHAPES}
    growing = all(relative[a] > 2 * relative[b] for a, b in itertools.pairwise(SHAPES))
    linear = logarithmic_slope(rows, SHAPES[0])
    first = "at shape 1 the bias of SGRLD is of order h"
    slower = (
        "at shapes of 0.1 and less the bias falls more slowly than the square root of h, contrary to Proposition 1.1"
    )
    log = "at the smallest shape 1 / mean grows about like log(1/h): slope"
    text = (
        "the relative bias at the shortest step explodes as the mean goes to 0: it more than doubles "
        "from shape to shape"
    )
    return [
        Claim("order-at-1", first, 1.0, slopes[1.0], abs(slopes[1.0] - 1) < 0.35),
        Claim("order-near-zero", slower, "O(h)", slopes, slopes[0.01] < 0.5 and slopes[0.1] < 0.5),
        Claim("logarithm", log, "not in the paper; derived: 1", linear, abs(linear - 1) < 0.25),
        Claim("relative", text, True, relative, growing),
    ]


def logarithmic_slope(rows: list[dict[str, Any]], shape: float) -> float:
    """Return the slope of 1 / mean of SGRLD in log(1/h)."""
    return float(np.polyfit(-np.log(STEPS), 1 / (of(rows, "SGRLD", shape, "bias") + shape), 1)[0])


def scir_claims(rows: list[dict[str, Any]], noisy: list[dict[str, Any]]) -> list[Claim]:
    """Claim that the mean of SCIR has no bias at any step, and the variance of Corollary 3.2."""
    z = max(abs(row["bias"]) / row["error"] for row in rows if row["method"] == "SCIR")
    mean = max(abs(row["mean"] - row["exact_mean"]) / row["mean_error"] for row in noisy)
    spread = max(abs(row["variance"] - row["exact_variance"]) / row["variance_error"] for row in noisy)
    text = "SCIR's mean has no bias at any step and shape (largest deviation, in standard errors)"
    noisy_text = "SCIR's mean has no bias with noisy shapes at any step (largest deviation, in standard errors)"
    inflated = "SCIR's variance is a + tanh(h/2) Var[a_hat] (largest difference, in standard errors)"
    return [
        Claim("scir-mean", text, 0.0, z, z < SURE),
        Claim("scir-noisy-mean", noisy_text, 0.0, mean, mean < SURE),
        Claim("scir-noisy-variance", inflated, 0.0, spread, spread < SURE),
    ]


def figure(rows: list[dict[str, Any]]) -> Any:
    """Draw the bias and the relative bias against the step."""
    figure, axes = new_figure(1, 2, size=(7.5, 3.0))
    for a, colour in zip(SHAPES, (BLUE, ORANGE, GREEN, GREY), strict=True):
        axes[0, 0].plot(STEPS, of(rows, "SGRLD", a, "bias"), color=colour, marker="o", ms=3, label=f"SGRLD, a = {a}")
        axes[0, 1].plot(STEPS, of(rows, "SGRLD", a, "relative"), color=colour, marker="o", ms=3)
        scir_bias, error = of(rows, "SCIR", a, "relative"), of(rows, "SCIR", a, "error") / a
        axes[0, 1].errorbar(STEPS, np.abs(scir_bias), 2 * error, color=colour, ls=":", marker="x", ms=4, lw=0.8)
    axes[0, 0].set(xscale="log", yscale="log", xlabel="step", ylabel="bias of the mean")
    axes[0, 1].set(xscale="log", yscale="log", xlabel="step", ylabel="relative bias (dotted: SCIR)", ylim=(1e-4, None))
    axes[0, 0].legend(fontsize=7, frameon=False)
    return figure
