"""Fig. 6 of Byrne & Girolami (2013): the eigenmodel of a protein network, by single chains and with tempering.

270 proteins, 716 interactions, three columns (see `NetworkEigenmodel`). Single chains have the paper's steps (0.005 for
the frame, 0.1 for the eigenvalues, 0.001 for the intercept, 20 to a trajectory) and start at random; some end at a
local mode with one eigenvalue near 0, 250 nats below the best. With tempering each seed has twenty replicas, as in the
paper, at exponents from 0.6 to 1 that space themselves in warm-up, with steps that grow as exponent^(-1/2): below about
0.5 the law loses its order altogether (the frame has 804 dimensions, and the likelihood no longer pays for them), in
between the eigenvalues leave 0 one after the other, and the log density of a rung has a spread of some twenty nats, so
neighbours must be close. The paper's own tempering runs beside it (`support.eigenmodel.tempering`), with what the
caption says of permutations and of the local mode; Hoff's Gibbs sampler too (`support.eigenmodel.gibbs_baseline`), and
the speed of one trajectory is compared with a loop in NumPy in the same run. Section 6 proposes to move columns in
pairs: they must find the same law (`support.eigenmodel.pairs`).

At `quick` scale none of these runs has the time to arrive, and what they would find is left undecided; the best mode
itself is found there from the spectrum of the network, one chain for each number of positive eigenvalues.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from orthodrome.core.types import Reals
from orthodrome.errors import BadInput
from orthodrome.experiments.support.claims.claim import still_moving
from orthodrome.experiments.support.contract import Claim, Context
from orthodrome.experiments.support.eigenmodel.gibbs_baseline import draw_gibbs, gibbs_claims
from orthodrome.experiments.support.eigenmodel.pairs import pair_claims
from orthodrome.experiments.support.eigenmodel.speed import speed_claims
from orthodrome.experiments.support.eigenmodel.tempering import caption_claims, paper_tempering
from orthodrome.gradients.full import FullGradient
from orthodrome.models.network.adjacency import read_network
from orthodrome.models.network.law import target
from orthodrome.models.network.starts import near, random_starts, split_spectrum
from orthodrome.plots.style import BLUE, GREY, ORANGE, new_figure
from orthodrome.run import sample
from orthodrome.samplers.exact.geodesic_hmc import GeodesicHMC
from orthodrome.samplers.holders.tempering import Tempering

NAME = "gmc-eigenmodel"
TITLE = "Eigenmodel of a protein network: single chains and tempering, and the speed of a trajectory"
PAPER = "Byrne & Girolami 2013, section 5.3, Fig. 6"
DATA = (
    "protein_network/edges_270.csv (716 interactions; Butland et al. 2005; hoff.dat in github.com/michaeljauch/polar)"
)

STEPS = {"frame": 0.005, "eigenvalues": 0.1, "intercept": 0.001}
WIDER = {"frame": 0.006, "eigenvalues": 0.6, "intercept": 0.004}
"""The steps for tempering at exponent 1: eigenvalues and intercept admit larger ones."""
HOTTEST, RANK = 0.6, 3
BEST, NEAR = (-113.0, 98.0, 142.0), 20.0
INFORMED = 200
"""Draws of the chains that start at the spectrum."""
LEAST = -2090.0
"""A log posterior above this is at the best mode; the next one is at -2306."""


class Traces(NamedTuple):
    """Log posterior (chain, draw), eigenvalues (chain, draw, 3) and intercepts."""

    lp: Reals
    eigenvalues: Reals
    intercept: Reals

    @property
    def reached(self) -> NDArray[np.bool_]:
        """Which chains have been at the best mode."""
        return self.lp.max(axis=1) > LEAST


def run(context: Context) -> list[Claim]:
    """Run both samplers, write the figure and tables, and return the claims."""
    path = Path(context.data or ".") / "protein_network" / "edges_270.csv"
    if not path.exists():
        raise BadInput(f"{path} is not there; {NAME} needs {DATA}")
    edges = read_network(path).edges
    single, tempered, printed = draw_single(context, edges), draw_tempered(context, edges), draw_printed(context, edges)
    kinds = {"single": single, "tempered": tempered, "paper's tempering": printed}
    context.save_table("chains", [row for kind, seen in kinds.items() for row in chain_rows(kind, seen)])
    context.save_figure(figure(single, tempered), "figure6")
    informed = draw_informed(context, edges) if context.scale == "quick" else None
    claims = mode_claims(single, tempered, informed)
    gibbs = draw_gibbs(context, edges, RANK)
    claims += caption_claims(kinds, gibbs.eigenvalues, LEAST)
    context.save_table("gibbs", [{"chain": i, "draw": t, "lp": v} for (i, t), v in np.ndenumerate(gibbs.lp)])
    claims += pair_claims(context, edges, RANK, WIDER)
    return [*claims, *gibbs_claims(gibbs, claims[0].measured, edges), *speed_claims(edges)]


def draw_single(context: Context, edges: Reals) -> Traces:
    """Draw single chains with the paper's sampler, from random starts."""
    seeds, length = context.pick(quick=(3, 60), paper=(10, 1000))
    sampler = GeodesicHMC(FullGradient(target(edges)), STEPS, num_steps=20)
    starts = random_starts(len(edges), RANK, seeds, context.seed, "float32")
    return traces(_sample(context, sampler, starts, length))


def draw_tempered(context: Context, edges: Reals) -> Traces:
    """Draw with parallel tempering, from the same starts."""
    seeds, replicas, warmup, length = context.pick(quick=(2, 4, 10, 30), paper=(10, 20, 100, 300))
    exponents = np.geomspace(HOTTEST, 1, replicas)
    steps = {name: (step * exponents**-0.5).astype(np.float32) for name, step in WIDER.items()}
    inside = GeodesicHMC(FullGradient(target(edges)), WIDER, num_steps=10)
    sampler = Tempering(inside, num_replicas=replicas, hottest=HOTTEST, replicas={"step_size": steps})
    starts = random_starts(len(edges), RANK, seeds, context.seed, "float32")
    return traces(_sample(context, sampler, starts, length, warmup))


def draw_printed(context: Context, edges: Reals) -> Traces:
    """Draw with the paper's own tempering: 20 replicas, 10 random exchanges, its steps and trajectories."""
    seeds, replicas, length = context.pick(quick=(2, 4, 30), paper=(4, 20, 1000))
    sampler = paper_tempering(GeodesicHMC(FullGradient(target(edges)), STEPS, num_steps=20), replicas)
    return traces(_sample(context, sampler, random_starts(len(edges), RANK, seeds, context.seed, "float32"), length))


def draw_informed(context: Context, edges: Reals) -> Traces:
    """Draw chains from the spectrum, one for each number of positive eigenvalues: they arrive within a minute."""
    sampler = GeodesicHMC(FullGradient(target(edges)), WIDER, num_steps=10)
    spectra = [split_spectrum(edges, RANK, "probit", positive) for positive in range(RANK + 1)]
    starts = [near(found, np.random.default_rng([context.seed, n])) for n, found in enumerate(spectra)]
    starts = [{name: np.asarray(value, "float32") for name, value in start.items()} for start in starts]
    return traces(_sample(context, sampler, starts, INFORMED))


def _sample(context: Context, sampler: Any, starts: list[Any], length: int, warmup: int = 0) -> Any:
    settings: dict[str, Any] = {"seed": context.seed, "num_chains": len(starts), "progress": context.progress}
    return sample(sampler, starts, num_warmup=warmup, num_draws=length, keep_warmup=warmup > 0, **settings)


def traces(tree: Any) -> Traces:
    """Return the traces that the figure and the claims need, warm-up included."""
    names = (("sample_stats", "lp"), ("posterior", "eigenvalues"), ("posterior", "intercept"))
    phases = ("warmup_", "") if "warmup_posterior" in tree else ("",)
    every = [[np.asarray(tree[phase + group][name], float) for phase in phases] for group, name in names]
    return Traces(*(np.concatenate(parts, axis=1) for parts in every))


def mode_claims(single: Traces, tempered: Traces, informed: Traces | None = None) -> list[Claim]:
    """Return the claims on which mode is found, and how often.

    informed: the chains that say where the best mode is; None: the tempered ones
    """
    best = tempered if informed is None else informed
    chain = int(np.argmax(best.lp[:, -1]))
    tail = slice(-max(1, best.lp.shape[1] // 5), None)
    level = float(best.lp[chain, tail].mean())
    values = np.sort(best.eigenvalues[chain, tail], axis=-1).mean(axis=0)
    tail = slice(-max(1, tempered.lp.shape[1] // 5), None)
    levels = tempered.lp[:, tail].mean(axis=1).round(1).tolist()
    found = {"reached": int(tempered.reached.sum()), "of": len(tempered.reached), "levels": levels}
    alone = {"reached": int(single.reached.sum()), "of": len(single.reached)}
    intercept = float(best.intercept[chain, -max(1, best.lp.shape[1] // 5) :].mean())
    near_best = bool(np.all(np.abs(values - np.array(BEST)) < NEAR))
    about = "the best mode has a log posterior of about -2050"
    at = "the eigenvalues at the best mode are near -113, 98, 142"
    some, every = "some single chains do not find the best mode", "with tempering every chain finds the best mode"
    claims = [
        Claim("log-posterior", about, -2050, level, abs(level + 2050) < 25),
        Claim("eigenvalues", at, list(BEST), values.round(1).tolist(), near_best),
        Claim("intercept", "the intercept is about -2.7", -2.7, intercept, abs(intercept + 2.7) < 0.2),
    ]
    return [
        *(still_moving(claim, best.lp[[chain]]) for claim in claims),
        Claim("single", some, "1 of 2", alone, alone["reached"] < alone["of"]),
        still_moving(Claim("tempered", every, "finds it", found, found["reached"] == found["of"]), tempered.lp),
    ]


def chain_rows(kind: str, seen: Traces) -> list[dict[str, Any]]:
    """Return the table of where every chain ended."""
    return [
        {"sampler": kind, "chain": i, "lp": seen.lp[i, -1], "reached": bool(seen.reached[i])}
        | {f"eigenvalue_{k + 1}": value for k, value in enumerate(np.sort(seen.eigenvalues[i, -1]))}
        for i in range(len(seen.lp))
    ]


def figure(single: Traces, tempered: Traces) -> Any:
    """Return the traces of the eigenvalues of the best and the worst single chain, and of the best tempered one."""
    drawing, axes = new_figure(1, 2, size=(8.0, 3.2), sharey=True)
    best, worst = int(np.argmax(single.lp[:, -1])), int(np.argmin(single.lp[:, -1]))
    for chain, color, label in ((best, BLUE, "best single chain"), (worst, GREY, "worst single chain")):
        lines = axes[0, 0].plot(single.eigenvalues[chain], color=color, linewidth=0.8)
        lines[0].set_label(label)
    axes[0, 1].plot(tempered.eigenvalues[int(np.argmax(tempered.lp[:, -1]))], color=ORANGE, linewidth=0.8)
    axes[0, 0].legend(fontsize=7, frameon=False)
    axes[0, 0].set(xlabel="draw", ylabel="eigenvalues")
    axes[0, 1].set(xlabel="draw", title="with tempering")
    return drawing
