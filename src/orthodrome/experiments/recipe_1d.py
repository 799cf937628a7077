"""Fig. 2 (left) and Fig. S.5 of Ma, Chen & Fox (2015): four samplers on one peak and on two.

    U = x^2 / 2   and   U = x^4 - 2 x^2,     gradient noise N(0, 4),     samplers: SGLD, SGHMC, naive SGRHMC, gSGRHMC

The paper gives neither noise nor step; as in its authors' code for SGHMC on the same potentials a sample is 50
steps from a fresh momentum, C = 3, V = 4, and 80,000 samples are counted in 50 bins (errata, section 4.1). Here
they come from many independent copies of the target, which are one position of as many coordinates. The metric is
G^-1 = 1.5 sqrt|U + C| (section F.1, of the exact U), and the naive sampler leaves out its correction (Eq. 16).

For the double well min U = -1, so with the paper's C = 0.5 the metric vanishes at x = +-0.541 and +-1.307, walls
that the exact dynamics never crosses: gSGRHMC is then no better than the naive sampler. C = 1.5 keeps U + C
positive (erratum 004-11). Both are shown. The paper makes the metric from the minibatch's own potential; that is the
sampler "own" (`support.adaptive`), beside the metric of the exact U. What supplement E says of the choice of D and Q is
measured there too. The divergence is KL(samples || target) over the bins; that of 80,000
exact draws is about 49 / 160,000 = .0003.
"""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from orthodrome.core.pytree import pytree
from orthodrome.core.types import Reals
from orthodrome.experiments.support.adaptive import OwnPotentialMetric, choice_claims
from orthodrome.experiments.support.contract import Claim, Context
from orthodrome.gradients import FullGradient, NoisyGradient
from orthodrome.manifolds import Euclidean
from orthodrome.metrics.divergence import ProbedDivergence
from orthodrome.metrics.inverse_metric import InverseMetric
from orthodrome.plots.style import BLUE, GREEN, GREY, ORANGE, new_figure
from orthodrome.samplers.stochastic.sghmc import SGHMC
from orthodrome.samplers.stochastic.sgld import SGLD
from orthodrome.samplers.stochastic.sgrhmc import SGRHMC
from orthodrome.targets import Target

NAME = "recipe-1d"
TITLE = "One and two peaks: divergence of SGLD, SGHMC, naive SGRHMC and gSGRHMC from the target"
PAPER = "Ma, Chen & Fox 2015, section 4.1, Fig. 2 (left) and Fig. S.5"
DATA = None

VARIANCE, FRICTION, REFRESH, SCALE = 4.0, 3.0, 50, 1.5
EDGES = np.linspace(-3, 3, 51)
"""The edges of the 50 bins."""
LARGE, SMALL = 0.05, 0.01
"""The two steps; `quick` does the large one only."""
ONE_CHAIN = {LARGE: 0.0056, SMALL: 0.0124}
"""The standard error of a divergence from one chain of 80,000 samples, as the references are, over the root of the
divergence: measured on the naive sampler with one peak, from 48 chains. At the small step samples are a time of only
.5 apart. There the reference .0069 lies two such errors below what we find, .0091 to .0095, and at the large step two
above it; momenta that are never drawn anew, no burn-in, and the divergence the other way round leave ours where it is.
"""
RIGHT, WRONG = 1.5e-3, 4e-3
"""A divergence below the first is that of a right sampler at a small step, above the second that of a wrong one."""


class Setting(NamedTuple):
    """One bar of the figure; `reference` is the value of the errata, section 4.2."""

    peaks: int
    sampler: str
    offset: float
    step_size: float
    reference: float | None


SETTINGS = [
    Setting(1, "SGLD", 0.5, 0.05, 0.0001),
    Setting(1, "SGLD", 0.5, 0.01, 0.0001),
    Setting(1, "SGHMC", 0.5, 0.05, 0.0002),
    Setting(1, "SGHMC", 0.5, 0.01, 0.0002),
    Setting(1, "naive", 0.5, 0.05, 0.0105),
    Setting(1, "naive", 0.5, 0.01, 0.0069),
    Setting(1, "gSGRHMC", 0.5, 0.05, 0.0003),
    Setting(1, "gSGRHMC", 0.5, 0.01, 0.0002),
    Setting(2, "SGLD", 1.5, 0.05, 0.0274),
    Setting(2, "SGLD", 1.5, 0.01, 0.0007),
    Setting(2, "SGHMC", 1.5, 0.05, 0.0001),
    Setting(2, "SGHMC", 1.5, 0.01, 0.0002),
    Setting(2, "naive", 1.5, 0.05, 0.0072),
    Setting(2, "naive", 1.5, 0.01, 0.0058),
    Setting(2, "naive", 0.5, 0.05, 0.0266),
    Setting(2, "naive", 0.5, 0.01, 0.0277),
    Setting(2, "gSGRHMC", 1.5, 0.05, 0.0002),
    Setting(2, "gSGRHMC", 1.5, 0.01, 0.0002),
    Setting(2, "gSGRHMC", 0.5, 0.05, None),  # at the walls the correction is unbounded: no number to reproduce
    Setting(2, "gSGRHMC", 0.5, 0.01, 0.0275),
    Setting(1, "own", 0.5, 0.05, None),
    Setting(1, "own", 0.5, 0.01, None),
    Setting(2, "own", 1.5, 0.05, None),
    Setting(2, "own", 1.5, 0.01, None),
]


def potential(x: Array, peaks: Array) -> Array:
    """Return U of every copy: with one peak or two."""
    return jnp.where(peaks == 1, x**2 / 2, x**4 - 2 * x**2)


def logdensity(x: Array, peaks: Array) -> Array:
    """Return -U, summed over independent copies."""
    return -jnp.sum(potential(x, peaks))


def inverse_metric(x: Array, data: dict[str, Array]) -> Array:
    """Return G^-1 = 1.5 sqrt|U + C| of every copy."""
    return SCALE * jnp.sqrt(jnp.abs(potential(x, data["peaks"]) + data["offset"]))


@pytree
class NaiveMetric(InverseMetric):
    """The same metric, for a sampler without the correction Gamma (Eq. 16)."""

    def root_divergence(self, key: Array, x: Any, estimate: Any = None) -> Any:
        return jnp.zeros_like(x)


def sampler_of(setting: Setting) -> Any:
    """Return the sampler as a user would write it; numbers are arrays so that one program serves all settings of a
    kind."""
    peaks = jnp.asarray(setting.peaks, jnp.float32)
    gradient = NoisyGradient(FullGradient(Target(Euclidean(), logdensity, peaks)), jnp.asarray(VARIANCE, jnp.float32))
    step = jnp.asarray(setting.step_size, jnp.float32)
    data = {"peaks": peaks, "offset": jnp.asarray(setting.offset, jnp.float32)}
    if setting.sampler == "SGLD":
        return SGLD(gradient, step)
    if setting.sampler == "SGHMC":
        return SGHMC(gradient, step, FRICTION, refresh_every=REFRESH)
    if setting.sampler == "own":
        own = OwnPotentialMetric(potential, data["offset"], peaks, copies=True)
        return SGRHMC(gradient, own, step, refresh_every=REFRESH)
    kind = NaiveMetric if setting.sampler == "naive" else InverseMetric
    metric = kind(inverse_metric, data, ProbedDivergence())  # exact: each entry depends on its own coordinate
    return SGRHMC(gradient, metric, step, refresh_every=REFRESH)


def run(context: Context) -> list[Claim]:
    """Measure all bars, write the figure and tables, and return the claims."""
    settings = [s for s in SETTINGS if s.step_size == LARGE or context.scale == "paper"]
    counts = [histogram(s, context.seed, *context.pick(quick=(2_000, 40), paper=(8_000, 100))) for s in settings]
    rows = [row(setting, count) for setting, count in zip(settings, counts, strict=True)]
    context.save_table("divergences", rows)
    context.save_table("histograms", histogram_rows(settings, counts))
    context.save_figure(figure(rows, counts), "figure2-left")
    choices = choice_claims(context.seed, *context.pick(quick=(200, 40.0), paper=(1_000, 200.0)))
    return [*(claim(each) for each in rows if each["reference"] is not None), *comparisons(rows), *choices]


def histogram(setting: Setting, seed: int, num_copies: int, per_copy: int) -> Reals:
    """Return the number of samples in each bin, after a burn-in of 20 units of time."""
    key = jax.random.key(seed * 1000 + SETTINGS.index(setting))
    burn_in = round(20 / (REFRESH * setting.step_size))
    x = np.asarray(chains(sampler_of(setting), key, num_copies, per_copy + burn_in))[burn_in:]
    return np.histogram(x, EDGES)[0].astype(float)


@partial(jax.jit, static_argnames=("num_copies", "num_samples"))
def chains(sampler: Any, key: Array, num_copies: int, num_samples: int) -> Array:
    """Return the positions after every 50 steps, as (sample, copy)."""
    start_key, init_key, step_key = jax.random.split(key, 3)

    def sample(state: Any, i: Array) -> tuple[Any, Array]:
        keys = jax.random.split(jax.random.fold_in(step_key, i), REFRESH)
        state, _ = jax.lax.scan(lambda s, k: (sampler.step(k, s)[0], None), state, keys)
        return state, state.position

    start = jax.random.uniform(start_key, (num_copies,), minval=-1.5, maxval=1.5)
    return jax.lax.scan(sample, sampler.init(start, init_key), jnp.arange(num_samples))[1]


def bin_masses(peaks: int) -> Reals:
    """Return the exact mass of every bin, by quadrature."""
    middles = (np.linspace(-3, 3, 50 * 40, endpoint=False) + 6 / 4000).reshape(50, 40)
    density = np.exp(-np.where(peaks == 1, middles**2 / 2, middles**4 - 2 * middles**2)).sum(axis=1)
    return density / density.sum()


def divergence(counts: Reals, peaks: int) -> float:
    """Return KL(samples || target) over the bins."""
    q = counts / counts.sum()
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = np.where(q > 0, q * np.log(q / bin_masses(peaks)), 0.0)
    return float(terms.sum())


def row(setting: Setting, counts: Reals) -> dict[str, Any]:
    """Return a bar with its reference value and the divergence of the same number of exact draws."""
    found, noise = divergence(counts, setting.peaks), float((len(counts) - 1) / (2 * counts.sum()))
    return setting._asdict() | {"divergence": found, "sampling_noise": noise}


def claim(bar: dict[str, Any]) -> Claim:
    """Return the claim that the divergence agrees with the reference value, within its noise."""
    label = f"kl-{bar['peaks']}-{bar['sampler']}-C{bar['offset']}-h{bar['step_size']}"
    text = (
        f"{bar['peaks']} peak(s), {bar['sampler']}, C = {bar['offset']}, step {bar['step_size']}: KL agrees with the "
        "reference value of an independent implementation, within three of its standard errors"
    )
    error = ONE_CHAIN[bar["step_size"]] * bar["reference"] ** 0.5
    measured = {name: bar[name] for name in ("divergence", "reference", "sampling_noise")} | {"reference_error": error}
    tolerance = 3 * error + 0.0005
    return Claim(label, text, None, measured, abs(bar["divergence"] - bar["reference"]) < tolerance)


def comparisons(rows: list[dict[str, Any]]) -> list[Claim]:
    """Return the claims on what the paper says about its bars, and on what it does not say about C = 0.5."""
    h = min(r["step_size"] for r in rows)
    at = {(r["peaks"], r["sampler"], r["offset"]): r["divergence"] for r in rows if r["step_size"] == h}
    claims = []
    for peaks, offset in ((1, 0.5), (2, 1.5)):
        naive, right = at[peaks, "naive", offset], at[peaks, "gSGRHMC", offset]
        says = "the naive implementation does not converge to the target, gSGRHMC does"
        text = f"{peaks} peak(s), C = {offset}, step {h}: the naive sampler stays off the target, gSGRHMC does not"
        measured = {"naive": naive, "gSGRHMC": right}
        claims.append(Claim(f"naive-{peaks}", text, says, measured, naive > WRONG and right < RIGHT))
        own = at[peaks, "own", offset]
        text = (
            f"{peaks} peak(s), C = {offset}, step {h}: with the metric of the minibatch's own potential "
            "gSGRHMC does not stay off either"
        )
        says = "we define G in terms of U~ to avoid a costly full-data computation"
        claims.append(Claim(f"own-{peaks}", text, says, {"own": own, "exact": right}, own < RIGHT))
    printed = {name: at[2, name, 0.5] for name in ("naive", "gSGRHMC")}
    text = "two peaks with the paper's C = 0.5: the metric has walls, and gSGRHMC stays off the target, too"
    claims.append(Claim("walls", text, "C = 0.5", printed, min(printed.values()) > WRONG))
    return claims


def histogram_rows(settings: list[Setting], counts: list[Reals]) -> list[dict[str, Any]]:
    """Return the table of the histograms of Fig. S.5."""
    middles = (EDGES[1:] + EDGES[:-1]) / 2
    names = [f"{s.peaks}-{s.sampler}-C{s.offset}-h{s.step_size}" for s in settings]
    columns = {name: count / count.sum() / (EDGES[1] - EDGES[0]) for name, count in zip(names, counts, strict=True)}
    return [{"x": middles[i]} | {name: column[i] for name, column in columns.items()} for i in range(len(middles))]


COLORS = {"SGLD": GREY, "SGHMC": BLUE, "naive": ORANGE, "gSGRHMC": GREEN, "own": "#8256a5"}


def figure(rows: list[dict[str, Any]], counts: list[Reals]) -> Any:
    """Return a figure of the divergences as bars, and of the histograms of Fig. S.5, all at the smallest step."""
    drawing, axes = new_figure(1, 3, size=(9.0, 2.8), gridspec_kw={"width_ratios": [1.1, 1, 1]})
    smallest = min(r["step_size"] for r in rows)
    shown = [i for i, r in enumerate(rows) if r["step_size"] == smallest]
    for place, i in enumerate(shown):
        axes[0, 0].bar(place, rows[i]["divergence"], color=COLORS[rows[i]["sampler"]])
    names = [f"{rows[i]['sampler']} {rows[i]['peaks']}\nC={rows[i]['offset']}" for i in shown]
    axes[0, 0].set_xticks(range(len(shown)), names, rotation=90, fontsize=6)
    axes[0, 0].set_ylabel("KL(samples || target)")
    middles = (EDGES[1:] + EDGES[:-1]) / 2
    for peaks, panel in ((1, axes[0, 1]), (2, axes[0, 2])):
        panel.plot(middles, bin_masses(peaks) / 0.12, color="black", linewidth=1.5, label="target")
        for i in (i for i in shown if rows[i]["peaks"] == peaks and rows[i]["offset"] == (0.5, 1.5)[peaks - 1]):
            density = counts[i] / counts[i].sum() / 0.12
            panel.plot(middles, density, color=COLORS[rows[i]["sampler"]], linewidth=0.9, label=rows[i]["sampler"])
        panel.set(xlabel="x", title=f"{peaks} peak" + "s" * (peaks > 1))
    axes[0, 1].legend(frameon=False, fontsize=7)
    return drawing
