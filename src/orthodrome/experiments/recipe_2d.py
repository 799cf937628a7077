"""Fig. 2 (right) of Ma, Chen & Fox (2015): a banana in two dimensions, and who explores it first.

    U = x1^4 / 10 + (4 (x2 + 1.2) - x1^2)^2 / 2

The paper draws the paths of the first ten samples of SGLD, SGHMC and gSGRHMC and says that the last explores most
rapidly. Its settings are not given. Here a sample is 50 gradients with noise N(0, I) and steps of .05 (errata,
section 4.1), with C = 3 for SGHMC as in one dimension, and G^-1 = 1.5 sqrt|U + 0.5|, where U >= 0 so that C = 0.5 is
sound. SGLD at .05 is near the end of its stability (E x1^2 is 16 % off), so its step is .01. Speed is made a number:
the mean squared jump of x1 from sample to sample over twice its variance (1: independent samples). The moments are
compared with quadrature: a fast sampler of another law would not count. With C = 0.7, that of the authors' code in
two dimensions, SGHMC is as fast as gSGRHMC or faster: the order of the figure depends on the friction.
"""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from orthodrome.core.types import Reals
from orthodrome.experiments.support.adaptive import OwnPotentialMetric
from orthodrome.experiments.support.contract import Claim, Context
from orthodrome.gradients import FullGradient, NoisyGradient
from orthodrome.manifolds import Euclidean
from orthodrome.metrics.inverse_metric import InverseMetric
from orthodrome.plots.style import BLUE, GREEN, GREY, ORANGE, new_figure
from orthodrome.samplers.stochastic.sghmc import SGHMC
from orthodrome.samplers.stochastic.sgld import SGLD
from orthodrome.samplers.stochastic.sgrhmc import SGRHMC
from orthodrome.targets import Target

NAME = "recipe-2d"
TITLE = "A banana in two dimensions: the first ten samples of SGLD, SGHMC and gSGRHMC"
PAPER = "Ma, Chen & Fox 2015, section 4.1, Fig. 2 (right)"
DATA = None

STEP, SMALL_STEP, PER_SAMPLE, FIRST = 0.05, 0.01, 50, 10
FRICTION, LIGHT, VARIANCE, SCALE, OFFSET = 3.0, 0.7, 1.0, 1.5, 0.5
SHOWN = ("SGLD", "SGHMC", "gSGRHMC")
START = (0.0, -1.2)
"""The start of all chains, which is the mode."""
EXACT_LIMIT = 0.1
"""The largest relative error of E x1^2: the samplers are unadjusted. Quick runs know it to about 2 %."""


class SamplerDraws(NamedTuple):
    """The samples of one sampler, (sample, chain, 2), from the mode."""

    name: str
    samples: Reals


def potential(x: Array) -> Array:
    """Return U."""
    return x[0] ** 4 / 10 + (4 * (x[1] + 1.2) - x[0] ** 2) ** 2 / 2


def logdensity(x: Array) -> Array:
    """Return -U."""
    return -potential(x)


def inverse_metric(x: Array) -> Array:
    """Return G^-1 = 1.5 sqrt(U + 0.5), times the identity."""
    return SCALE * jnp.sqrt(potential(x) + OFFSET)


def samplers() -> dict[str, Any]:
    """Return the three samplers of the figure, and two with other settings."""
    gradient = NoisyGradient(FullGradient(Target(Euclidean(), logdensity)), VARIANCE)
    return {
        "SGLD": SGLD(gradient, SMALL_STEP),
        "SGHMC": SGHMC(gradient, STEP, FRICTION),
        "gSGRHMC": SGRHMC(gradient, InverseMetric(inverse_metric), STEP),
        "gSGRHMC, own": SGRHMC(gradient, OwnPotentialMetric(potential, OFFSET), STEP),
        "SGLD, step .05": SGLD(gradient, STEP),
        "SGHMC, C = .7": SGHMC(gradient, STEP, LIGHT),
    }


def run(context: Context) -> list[Claim]:
    """Draw the samples, write the figure and table, and return the claims."""
    num_chains, num_samples = context.pick(quick=(200, 60), paper=(5_000, 200))
    every = samplers().items()
    keys = jax.random.split(jax.random.key(context.seed), len(every))
    runs = [
        SamplerDraws(name, draw(sampler, key, num_chains, num_samples))
        for (name, sampler), key in zip(every, keys, strict=True)
    ]
    rows = [row(each, exact_moments()) for each in runs]
    context.save_table("speed", rows)
    context.save_table("paths", path_rows(runs))
    context.save_figure(figure(runs), "figure2-right")
    return [*speed_claims(rows), *(moment_claim(each) for each in rows)]


def draw(sampler: Any, key: Array, num_chains: int, num_samples: int) -> Reals:
    """Draw samples, each of 50 steps, from the mode."""
    return np.asarray(_draw(sampler, key, num_chains, num_samples), float)


@partial(jax.jit, static_argnames=("num_chains", "num_samples"))
def _draw(sampler: Any, key: Array, num_chains: int, num_samples: int) -> Array:
    init_key, step_key = jax.random.split(key)
    start = jnp.broadcast_to(jnp.asarray(START, jnp.float32), (num_chains, 2))

    def sample(states: Any, i: Array) -> tuple[Any, Array]:
        keys = jax.random.split(jax.random.fold_in(step_key, i), (PER_SAMPLE, num_chains))
        states, _ = jax.lax.scan(lambda s, k: (jax.vmap(sampler.step)(k, s)[0], None), states, keys)
        return states, states.position

    states = jax.vmap(sampler.init)(start, jax.random.split(init_key, num_chains))
    return jax.lax.scan(sample, states, jnp.arange(num_samples))[1]


def exact_moments() -> dict[str, float]:
    """Return E x1^2, E x2 and E x1^4 by quadrature."""
    x1, x2 = np.meshgrid(np.linspace(-6, 6, 1201), np.linspace(-4, 8, 1201), indexing="ij")
    p = np.exp(-(x1**4 / 10 + (4 * (x2 + 1.2) - x1**2) ** 2 / 2))
    p /= p.sum()
    return {"x1^2": float((p * x1**2).sum()), "x2": float((p * x2).sum()), "x1^4": float((p * x1**4).sum())}


def row(each: SamplerDraws, exact: dict[str, float]) -> dict[str, Any]:
    """Return speed and moments of one sampler; the second half of the samples counts as equilibrium."""
    x = each.samples
    late = x[len(x) // 2 :]
    jump = float(np.mean(np.diff(late[..., 0], axis=0) ** 2) / (2 * late[..., 0].var()))
    return {
        "sampler": each.name,
        "jump": jump,
        "x1_variance_after_10": float(x[FIRST - 1, :, 0].var()),
        "x1^2": float((late[..., 0] ** 2).mean()),
        "x2": float(late[..., 1].mean()),
        "exact_x1^2": exact["x1^2"],
        "exact_x2": exact["x2"],
        "finite": bool(np.isfinite(x).all()),
    }


def speed_claims(rows: list[dict[str, Any]]) -> list[Claim]:
    """Return the claims on which sampler is fastest, and what that depends on."""
    jumps = {each["sampler"]: each["jump"] for each in rows}
    says = "gSGRHMC most rapidly explores the space relative to SGHMC and SGLD"
    text = "mean squared jump of x1 per 50 gradients (1: independent): SGLD < SGHMC < gSGRHMC"
    shown = {name: jumps[name] for name in SHOWN}
    ordered = jumps["SGLD"] < jumps["SGHMC"] < jumps["gSGRHMC"]
    other = "with the lighter friction C = 0.7 SGHMC is at least as fast as gSGRHMC: the order depends on the friction"
    pair = {name: jumps[name] for name in ("SGHMC, C = .7", "gSGRHMC")}
    return [
        Claim("jump", text, says, shown, ordered),
        Claim("jump-light", other, None, pair, jumps["SGHMC, C = .7"] > 0.95 * jumps["gSGRHMC"]),
    ]


def moment_claim(each: dict[str, Any]) -> Claim:
    """Return the claim that the moments are (nearly) those of the target; for SGLD at the large step, that they are
    not."""
    biased = each["sampler"] == "SGLD, step .05"
    text = f"{each['sampler']}: E x1^2 is {'off by more than' if biased else 'that of quadrature within'} 10 %"
    measured = {key: each[key] for key in ("x1^2", "exact_x1^2", "x2", "exact_x2")}
    off = abs(each["x1^2"] / each["exact_x1^2"] - 1) > EXACT_LIMIT
    return Claim(f"moments-{each['sampler']}", text, None, measured, bool(np.isfinite(each["x1^2"]) and off == biased))


def path_rows(runs: list[SamplerDraws]) -> list[dict[str, Any]]:
    """Return the first ten samples of the first chain of each sampler."""
    return [
        {"sampler": each.name, "sample": i + 1, "x1": each.samples[i, 0, 0], "x2": each.samples[i, 0, 1]}
        for each in runs
        for i in range(FIRST)
    ]


def figure(runs: list[SamplerDraws]) -> Any:
    """Return a figure of the contours and the paths of the first ten samples of the three samplers."""
    drawing, axes = new_figure(1, 3, size=(8.0, 2.8))
    x1, x2 = np.meshgrid(np.linspace(-3.5, 3.5, 201), np.linspace(-2.5, 2.5, 201), indexing="ij")
    u = x1**4 / 10 + (4 * (x2 + 1.2) - x1**2) ** 2 / 2
    for panel, each, color in zip(axes[0], runs, (GREY, BLUE, GREEN), strict=False):
        panel.contour(x1, x2, u, levels=(0.5, 1, 2, 4), colors=ORANGE, linewidths=0.6)
        path = np.concatenate([[START], each.samples[:FIRST, 0]])
        panel.plot(path[:, 0], path[:, 1], "o-", color=color, markersize=3, linewidth=0.9)
        panel.set(title=each.name, xlabel="$x_1$", xlim=(-3.5, 3.5), ylim=(-2.5, 2.5))
    axes[0, 0].set_ylabel("$x_2$")
    return drawing
