"""Fig. 3 of Liu, Zhu & Song (2016): SGGMC on a circle with a gradient that is corrupted on purpose.

    U(x) = -log(exp(5 mu_1.x) + 2 exp(5 mu_2.x)),   mu at the angles pi/3 and -pi/3 (erratum 000-5: not antipodes),

with N(0, 1000 I) added to the gradient, L = 30, epsilon = 0.01, C = rho / epsilon = 10. Over one step friction wants
a noise of 2 C epsilon = 0.2; the gradient brings V epsilon^2 = 0.1 of it, and 0.1 is injected. Told of V the sampler
runs at temperature 1 and draws from the law; not told, it runs at 1.5 and its draws are too wide. GMC, with exact
gradients and the same L and epsilon, runs beside it. The paper shows 10,000 draws of one chain: those of each method
are compared with the exact law in bins of the plane, as in its Fig. 3(a); the other claims are from many chains.
"""

from __future__ import annotations

import warnings
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from orthodrome.core.types import Reals
from orthodrome.errors import OrthodromeWarning
from orthodrome.experiments.support.contract import Claim, Context
from orthodrome.experiments.support.toys import mode_claims, total_variation
from orthodrome.gradients import FullGradient, NoisyGradient
from orthodrome.manifolds import Sphere
from orthodrome.plots.style import BLUE, GREY, ORANGE, new_figure
from orthodrome.run import sample
from orthodrome.samplers.exact.geodesic_hmc import GeodesicHMC
from orthodrome.samplers.stochastic.sggmc import SGGMC
from orthodrome.targets import Target

NAME = "sggmc-circle"
TITLE = "SGGMC on a circle with gradient noise of known variance: angles, temperature, total variation"
PAPER = "Liu, Zhu & Song 2016, section 5.1, Fig. 3"
DATA = None

VARIANCE, STEP_SIZE, FRICTION, NUM_STEPS, BIN = 1000.0, 0.01, 10.0, 30, 0.1
CHAINS = 256


def logdensity(x: Array) -> Array:
    """Return the log density: two bumps of weights 1 and 2, in the ambient coordinates."""
    along, across = 5 * x[0] * jnp.cos(jnp.pi / 3), 5 * x[1] * jnp.sin(jnp.pi / 3)
    return along + jnp.logaddexp(across, jnp.log(2.0) - across)


def run(context: Context) -> list[Claim]:
    """Run GMC and the sampler told of V and not told, write the figure and table, and return the claims."""
    edges = np.linspace(-np.pi, np.pi, round(2 * np.pi / BIN) + 1)
    truth = bin_probabilities(edges)
    found = {told: draw(context, told) for told in (True, False)}
    exact, accepted = draw_exactly(context)
    alone = {"GMC": single(context, exact_sampler()), "SGGMC": single(context, noisy_sampler(True))}
    shares: dict[bool, Reals] = {
        told: np.histogram(angles, edges)[0] / angles.size for told, (angles, _) in found.items()
    }
    middles = (edges[1:] + edges[:-1]) / 2
    context.save_table(
        "angles",
        [
            {"angle": float(m), "exact": float(p), "told": float(a), "not_told": float(b)}
            for m, p, a, b in zip(middles, truth, shares[True], shares[False], strict=True)
        ],
    )
    context.save_table("single_chains", [{"GMC": a, "SGGMC": b} for a, b in zip(*alone.values(), strict=True)])
    context.save_figure(figure(middles, truth / BIN, shares, alone), "figure3")
    heats = {told: heat for told, (_, heat) in found.items()}
    gmc = np.histogram(exact, edges)[0] / exact.size
    sides = {"above": middles > 0, "below": middles < 0}
    made = claims(heats, {told: total_variation(share, truth) for told, share in shares.items()})
    made += gmc_claims(total_variation(gmc, truth), accepted, {k: planar_distance(v) for k, v in alone.items()})
    for name, share in (("GMC", gmc), ("SGGMC", shares[True])):
        made += mode_claims(name, truth, share, middles, sides)
    return made


def noisy_sampler(told: bool) -> SGGMC:
    """Return SGGMC with the corrupted gradient, told of V or not."""
    gradient = NoisyGradient(FullGradient(Target(Sphere(), logdensity)), VARIANCE, told=told)
    return SGGMC(gradient, step_size=STEP_SIZE, friction=FRICTION, num_steps=NUM_STEPS)


def exact_sampler() -> GeodesicHMC:
    """Return GMC with the settings of supplement F.1."""
    return GeodesicHMC(FullGradient(Target(Sphere(), logdensity)), STEP_SIZE, NUM_STEPS)


def draw_exactly(context: Context) -> tuple[Reals, float]:
    """Return the angles of the draws of many chains of GMC, and their acceptance rate."""
    length = context.pick(quick=500, paper=4_000)
    settings: dict[str, Any] = {"num_chains": CHAINS, "num_warmup": 150, "progress": context.progress}
    start = jax.ShapeDtypeStruct((2,), jnp.float32)
    draws = sample(exact_sampler(), start, seed=context.seed, num_draws=length, **settings)
    x = np.asarray(draws["posterior"]["x"].values, float)
    rate = float(draws["sample_stats"]["acceptance_rate"].mean())
    return np.arctan2(x[..., 1], x[..., 0]).ravel(), rate


def single(context: Context, sampler: Any) -> Reals:
    """Return the angles of the 10,000 draws of one chain, as in the figure (a tenth of them at quick scale)."""
    settings: dict[str, Any] = {"num_chains": 1, "num_warmup": 500, "progress": context.progress, "check": False}
    start = jax.ShapeDtypeStruct((2,), jnp.float32)
    draws = sample(sampler, start, seed=context.seed, num_draws=context.pick(quick=1_000, paper=10_000), **settings)
    x = np.asarray(draws["posterior"]["x"].values, float)
    return np.arctan2(x[0, :, 1], x[0, :, 0])


def planar_distance(angles: Reals, fine: int = 200_000) -> float:
    """Return the total variation between draws and the exact law in square bins of the plane, of the paper's size."""
    edges = np.linspace(-1.1, 1.1, round(2.2 / BIN) + 1)
    turn = -np.pi + 2 * np.pi * (np.arange(fine) + 0.5) / fine
    mass = np.exp(5 * np.cos(turn - np.pi / 3)) + 2 * np.exp(5 * np.cos(turn + np.pi / 3))
    in_plane = lambda a, w: np.histogram2d(np.cos(a), np.sin(a), bins=(edges, edges), weights=w)[0] / np.sum(w)
    return total_variation(in_plane(turn, mass), in_plane(angles, np.ones_like(angles)))


def gmc_claims(apart: float, accepted: float, planar: dict[str, float]) -> list[Claim]:
    """Return the claims on GMC with the same settings, and on the paper's own 10,000 draws in the plane."""
    said = "no obvious corruption of the result when using stochastic gradient"
    return [
        Claim("gmc-total-variation", "GMC: total variation below 0.02", None, apart, apart < 0.02),
        Claim(
            "gmc-acceptance", "GMC accepts nearly every trajectory at this step size", None, accepted, accepted > 0.99
        ),
        Claim(
            "plane",
            "one chain each, bins of the plane: SGGMC is at most 0.05 farther from the law than GMC in total variation",
            said,
            planar,
            planar["SGGMC"] < planar["GMC"] + 0.05,
        ),
    ]


def draw(context: Context, told: bool) -> tuple[Reals, float]:
    """Return the angles of all draws, and the mean temperature."""
    sampler = noisy_sampler(told)
    start = jax.ShapeDtypeStruct((2,), jnp.float32)
    length = context.pick(quick=500, paper=4_000)
    settings: dict[str, Any] = {
        "seed": context.seed,
        "num_chains": CHAINS,
        "num_warmup": 150,
        "progress": context.progress,
    }
    with warnings.catch_warnings():  # that the chain runs hot is what the figure shows
        warnings.simplefilter("default" if told else "ignore", OrthodromeWarning)
        draws = sample(sampler, start, num_draws=length, **settings)
    x = np.asarray(draws["posterior"]["x"].values, float)
    return np.arctan2(x[..., 1], x[..., 0]).ravel(), float(draws["sample_stats"]["temperature"].mean())


def claims(heat: dict[bool, float], distances: dict[bool, float]) -> list[Claim]:
    """Return the claims of the paper about Fig. 3 (values of erratum 000-5)."""
    said = "no obvious corruption of the result"
    return [
        Claim("temperature", "V known: v.v/m is 1.00", 1.0, heat[True], abs(heat[True] - 1) < 0.02),
        Claim("temperature-not-told", "V unknown: v.v/m is 1.49", None, heat[False], abs(heat[False] - 1.49) < 0.04),
        Claim("total-variation", "V known: total variation below 0.02", said, distances[True], distances[True] < 0.02),
        Claim(
            "total-variation-not-told",
            "V unknown: total variation about 0.09",
            None,
            distances[False],
            0.06 < distances[False] < 0.13,
        ),
    ]


def bin_probabilities(edges: Reals, fine: int = 200) -> Reals:
    """Return the probability of each bin of the angle."""
    steps = (np.arange(fine) + 0.5) / fine
    angle = edges[:-1, None] + np.diff(edges)[:, None] * steps
    mass = (np.exp(5 * np.cos(angle - np.pi / 3)) + 2 * np.exp(5 * np.cos(angle + np.pi / 3))).sum(axis=1)
    return mass / mass.sum()


def figure(middles: Reals, density: Reals, shares: dict[bool, Reals], alone: dict[str, Reals]) -> Any:
    """Return a figure of 100 draws of SGGMC on the circle, of the distribution of one chain's draws in the plane by GMC
    and by SGGMC, and of the density of the angle with the histograms."""
    drawing, axes = new_figure(1, 4, size=(11.0, 2.9), gridspec_kw={"width_ratios": [1, 1, 1, 2]})
    left, *planes, right = axes[0]
    few, edges = alone["SGGMC"][:100], np.linspace(-1.1, 1.1, round(2.2 / BIN) + 1)
    for axis, (name, angles) in zip(planes, alone.items(), strict=True):
        axis.hist2d(np.cos(angles), np.sin(angles), bins=(edges, edges), cmap="Blues", density=True)
        axis.set(aspect="equal", title=name, xticks=(-1, 0, 1), yticks=())
    turn = np.linspace(0, 2 * np.pi, 200)
    left.plot(np.cos(turn), np.sin(turn), color=GREY, linewidth=0.8)
    left.scatter(np.cos(few), np.sin(few), s=8, color=BLUE, linewidths=0)
    left.set(aspect="equal", xticks=(-1, 0, 1), yticks=(-1, 0, 1))
    right.plot(middles, density, color=GREY, linewidth=2, label="exact")
    right.plot(middles, shares[True] / BIN, color=BLUE, linewidth=1, label="SGGMC, V known")
    right.plot(middles, shares[False] / BIN, color=ORANGE, linewidth=1, label="not told")
    right.set(xlabel="angle", ylabel="density")
    right.legend(frameon=False, fontsize=8)
    return drawing
