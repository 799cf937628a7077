"""Fig. 4 of Liu, Zhu & Song (2016): the posterior of two directions from minibatches, V by the empirical Fisher.

    x_i ~ (vMF(v_1, 20) + vMF(mu, 20)) / 2,   mu = (v_1 + v_2) / |v_1 + v_2|,   v_1, v_2 ~ vMF(e_1, 20)

(errata 000-3, 000-4: the text prints v_2 for mu and e_2 for e_1), D = 100 data from v_1 = -pi/24, v_2 = pi/8; batches
of 10, L = 10, epsilon = sqrt(gamma / D) = 2.236e-3, C = rho / epsilon = 44.7. The exact posterior is a sum over a
grid of the two angles. It has two modes, near (-pi/24, pi/8) and (pi/24, -pi/8) (erratum 003-4), of equal weight over
all data, since data and prior are symmetric about e_1, though not for one set (supplement D). GMC with exact
gradients, L = 20 and epsilon = 1e-3 (supplement F.2) runs beside SGGMC, with as many draws.
"""

from __future__ import annotations

import warnings
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import Array

from orthodrome.core.pytree import replace
from orthodrome.core.types import Reals
from orthodrome.errors import OrthodromeWarning
from orthodrome.experiments.support.contract import Claim, Context
from orthodrome.experiments.support.inner_steps import rates_claim, steps_claim
from orthodrome.experiments.support.toys import highest, mode_claims, total_variation
from orthodrome.gradients import EmpiricalFisher, FullGradient, Minibatch, NoNoise, ScalarForm
from orthodrome.manifolds import Product, Sphere
from orthodrome.plots.style import BLUE, GREY, ORANGE, new_figure
from orthodrome.run import sample
from orthodrome.samplers.exact.geodesic_hmc import GeodesicHMC
from orthodrome.samplers.stochastic.sggmc import SGGMC
from orthodrome.targets import Posterior

NAME = "sggmc-mixture"
TITLE = "Two directions of a von Mises-Fisher mixture on the circle, from minibatches: marginals and joint"
PAPER = "Liu, Zhu & Song 2016, section 5.2, Fig. 4"
DATA = None

KAPPA, NUM_DATA, BATCH, NUM_STEPS = 20.0, 100, 10, 10
GAMMA, RHO = 5e-4, 0.1
STEP_SIZE = float(np.sqrt(GAMMA / NUM_DATA))
FRICTION = RHO / STEP_SIZE
PRINTED = (2.236e-3, 44.72)
"""epsilon and C by the rates of supplement F.2."""
GMC_STEP, GMC_STEPS = 1e-3, 20
CHAINS, HALF, BINS = 64, np.pi / 2, 60


def logprior(p: dict[str, Array]) -> Array:
    """Return the log prior: both directions are von Mises-Fisher about e_1."""
    return KAPPA * (p["v1"][0] + p["v2"][0])


def loglikelihood(p: dict[str, Array], row: Array) -> Array:
    """Return the log likelihood of one datum; the two components have the same constant."""
    both = p["v1"] + p["v2"]
    mu = both / jnp.sqrt(jnp.sum(both**2))
    return jnp.logaddexp(KAPPA * jnp.sum(p["v1"] * row), KAPPA * jnp.sum(mu * row))


def synthetic(seed: int) -> Reals:
    """Draw D unit vectors exactly (the paper's are from a GMC run without burn-in)."""
    rng = np.random.default_rng([seed, 52])
    centre = np.where(rng.random(NUM_DATA) < 0.5, -np.pi / 24, (-np.pi / 24 + np.pi / 8) / 2)
    angle = rng.vonmises(centre, KAPPA)
    return np.stack([np.cos(angle), np.sin(angle)], axis=1)


def grid_posterior(data: Reals) -> tuple[Reals, Reals]:
    """Return the bin edges of each angle, and the probability of every pair of bins."""
    edges = np.linspace(-HALF, HALF, BINS + 1)
    fine = -HALF + 2 * HALF * (np.arange(4 * BINS) + 0.5) / (4 * BINS)
    a, b = np.meshgrid(fine, fine, indexing="ij")
    angle, middle = np.arctan2(data[:, 1], data[:, 0]), (a + b) / 2
    log_mass = KAPPA * (np.cos(a) + np.cos(b))
    for one in angle:
        log_mass = log_mass + np.logaddexp(KAPPA * np.cos(a - one), KAPPA * np.cos(middle - one))
    mass = np.exp(log_mass - log_mass.max())
    binned = mass.reshape(BINS, 4, BINS, 4).sum(axis=(1, 3))
    return edges, binned / binned.sum()


def run(context: Context) -> list[Claim]:
    """Run the sampler with V and, for its temperature, without; write figure and table, and return the claims."""
    data = synthetic(context.seed)
    edges, truth = grid_posterior(data)
    angles, heat, clipped = draw(context, data, EmpiricalFisher(ScalarForm()), context.pick(quick=1_500, paper=25_000))
    _, hot, _ = draw(context, data, NoNoise(), 200)
    found = np.histogram2d(angles[0], angles[1], bins=(edges, edges))[0] / angles[0].size
    exact = draw_exactly(context, data, context.pick(quick=1_500, paper=25_000))
    gmc = np.histogram2d(exact[0], exact[1], bins=(edges, edges))[0] / exact[0].size
    middles = (edges[1:] + edges[:-1]) / 2
    rows = [
        {"angle": float(m), "v1_exact": float(p), "v1": float(q), "v2_exact": float(r), "v2": float(s)}
        for m, p, q, r, s in zip(middles, truth.sum(1), found.sum(1), truth.sum(0), found.sum(0), strict=True)
    ]
    context.save_table("marginals", rows)
    context.save_figure(figure(middles, truth, found, gmc), "figure4")
    sides = {"v2 above": middles[None, :] > middles[:, None], "v2 below": middles[None, :] < middles[:, None]}
    made = claims(truth, found, heat, hot, clipped)
    apart = {"GMC": total_variation(gmc, truth), "SGGMC": total_variation(found, truth)}
    text = "the joint distribution by SGGMC is at most 0.05 farther from the exact one than GMC's"
    made.append(Claim("gmc", text, "no observable corruption", apart, apart["SGGMC"] < apart["GMC"] + 0.05))
    made += supplement_claims(truth, middles, sides, context.seed, context.pick(quick=10, paper=60))
    made += supplement_e_claims(context, data)
    for name, share in (("GMC", gmc), ("SGGMC", found)):
        made += mode_claims(name, truth, share, middles, sides, width=1.5)
    return made


def supplement_claims(truth: Reals, middles: Reals, sides: dict[str, Any], seed: int, sets: int) -> list[Claim]:
    """Return the claims of supplement D: where the two modes are, and that over many sets of data they weigh alike."""
    rough = {"v2 above": (-np.pi / 24, np.pi / 8), "v2 below": (np.pi / 24, -np.pi / 8)}
    found = {side: highest(truth, middles, where, width=1.5) for side, where in sides.items()}
    off = max(float(np.max(np.abs(np.subtract(found[side], rough[side])))) for side in rough)
    laws = [grid_posterior(synthetic(seed + k))[1] for k in range(sets)]
    gap = np.array([law[sides["v2 above"]].sum() - law[sides["v2 below"]].sum() for law in laws])
    error = float(gap.std(ddof=1) / np.sqrt(sets))
    weights = {"difference": float(gap.mean()), "standard error": error, "of one set": float(gap.std(ddof=1))}
    where = "the modes are within 0.15 of (-pi/24, pi/8) and (pi/24, -pi/8), their places without the prior"
    alike = f"over {sets} sets of data the two modes have equal weights within 3 standard errors"
    return [
        Claim("supplement-d-places", where, "supplement D", found, off < 0.15),
        Claim("supplement-d-weights", alike, "equal-weighted modes", weights, abs(weights["difference"]) < 3 * error),
    ]


def supplement_e_claims(context: Context, data: Reals) -> list[Claim]:
    """Return the claims of supplement E on the settings."""
    gradient = Minibatch(posterior(data), BATCH, noise=EmpiricalFisher(ScalarForm()))
    own = SGGMC(gradient, STEP_SIZE, FRICTION)
    few = starts(context)[: context.pick(quick=16, paper=CHAINS)]
    choice = steps_claim(own, replace(own, reuse_batch=True), few, context.seed, context.pick(quick=300, paper=1_000))
    return [rates_claim(SGGMC(gradient), GAMMA, RHO, PRINTED), choice]


def posterior(data: Reals) -> Posterior:
    """Return the posterior of the two directions."""
    space = Product({"v1": Sphere(), "v2": Sphere()})
    return Posterior(space, logprior, loglikelihood, jnp.asarray(data, jnp.float32))


def starts(context: Context) -> list[dict[str, Reals]]:
    """Return a start for each chain, near e_1."""
    turns = np.random.default_rng(context.seed).normal(scale=0.3, size=(CHAINS, 2))
    return [
        {k: np.array([np.cos(t), np.sin(t)], np.float32) for k, t in zip(("v1", "v2"), pair, strict=True)}
        for pair in turns
    ]


def angles_of(draws: Any) -> Reals:
    """Return the two angles of every draw of all chains."""
    x = [np.asarray(draws["posterior"][name].values, float) for name in ("v1", "v2")]
    return np.stack([np.arctan2(v[..., 1], v[..., 0]).ravel() for v in x])


def draw_exactly(context: Context, data: Reals, length: int) -> Reals:
    """Return the two angles of every draw of GMC with the settings of supplement F.2."""
    sampler = GeodesicHMC(FullGradient(posterior(data)), GMC_STEP, GMC_STEPS)
    settings: dict[str, Any] = {"num_chains": CHAINS, "progress": context.progress, "check": False}
    warmup = context.pick(quick=500, paper=15_000)
    return angles_of(
        sample(sampler, starts(context), seed=context.seed, num_warmup=warmup, num_draws=length, **settings)
    )


def draw(context: Context, data: Reals, noise: Any, length: int) -> tuple[Reals, float, float]:
    """Return the two angles of every draw, the temperature, and how often 2C - epsilon V was clipped."""
    sampler = SGGMC(Minibatch(posterior(data), BATCH, noise=noise), STEP_SIZE, FRICTION, num_steps=NUM_STEPS)
    start = starts(context)
    settings: dict[str, Any] = {"seed": context.seed, "num_chains": CHAINS, "progress": context.progress}
    with warnings.catch_warnings():  # without V the chain runs hot, which is measured
        warnings.simplefilter("ignore" if isinstance(noise, NoNoise) else "default", OrthodromeWarning)
        draws = sample(sampler, start, num_warmup=context.pick(quick=500, paper=15_000), num_draws=length, **settings)
    stats = draws["sample_stats"]
    return angles_of(draws), float(stats["temperature"].mean()), float(stats["clipped"].mean())


def claims(truth: Reals, found: Reals, heat: float, hot: float, clipped: float) -> list[Claim]:
    """Return the claims on marginals, joint distribution, both modes, and temperature."""
    distance = lambda p, q: float(np.abs(p - q).sum() / 2)
    upper = lambda p: float(np.triu(p, 1).sum())  # the mode with v2 above v1
    said = "no observable corruption when a mini-batch is used"
    return [
        Claim(
            "marginal-v1", "total variation of v1's marginal", said, d := distance(truth.sum(1), found.sum(1)), d < 0.05
        ),
        Claim(
            "marginal-v2", "total variation of v2's marginal", said, d := distance(truth.sum(0), found.sum(0)), d < 0.05
        ),
        Claim(
            "joint", "total variation of the joint", "explores the correlation", d := distance(truth, found), d < 0.1
        ),
        Claim(
            "modes",
            "weight of the mode with v2 above v1 agrees with the grid",
            "fully explore the two modes",
            {"exact": upper(truth), "measured": upper(found)},
            abs(upper(truth) - upper(found)) < 0.05,
        ),
        Claim("temperature", "v.v/m is near 1 with V known", None, heat, 0.93 < heat < 1.07),
        Claim("temperature-without", "v.v/m is larger with V unknown", None, hot, hot > heat + 0.1),
        Claim("clipped", "2C - epsilon V is rarely clipped", None, clipped, clipped < 0.05),
    ]


def figure(middles: Reals, truth: Reals, found: Reals, gmc: Reals) -> Any:
    """Return a figure of both marginals, and of the joint distribution: exact, by SGGMC and by GMC."""
    drawing, axes = new_figure(1, 5, size=(12.0, 2.8))
    for axis, name, p, q in zip(
        axes[0, :2], ("$v_1$", "$v_2$"), (truth.sum(1), truth.sum(0)), (found.sum(1), found.sum(0)), strict=True
    ):
        axis.plot(middles, p, color=GREY, linewidth=2, label="exact")
        axis.plot(middles, q, color=BLUE, linewidth=1, label="SGGMC")
        axis.set(title=name, xlabel="angle", xlim=(-1, 1))
    axes[0, 0].legend(frameon=False, fontsize=7)
    levels = truth.max() * np.arange(1, 8) / 8  # the same in both, and none at zero
    colors = {"exact": GREY, "SGGMC": BLUE, "GMC": ORANGE}
    for axis, name, p in zip(axes[0, 2:], colors, (truth, found, gmc), strict=True):
        axis.contour(middles, middles, p.T, levels=levels, colors=colors[name], linewidths=0.7)
        axis.set(title=name, xlabel="$v_1$", ylabel="$v_2$", xlim=(-0.7, 0.7), ylim=(-0.9, 0.9), aspect="equal")
    return drawing
