"""Table 1 of Byrne & Girolami (2013): four samplers and four priors on the volleyball data, and ours.

52 sets between teams of nine players; P(T1 beats T2) = sum_{T1} p / sum_{T1 or T2} p with p ~ Dirichlet(alpha 1) (see
`PairedComparison`). The table's samplers all have the step 0.01, HMC 20 steps: the random walk in the plane sum p = 1
(moves out of the simplex are refused), the random walk on the sphere, HMC in the plane with reflections (Algorithm 2),
HMC on the sphere; forces are those of the law, not softened at walls as ours are (`sharp_walls`), and what softening
alone does for simplex HMC is measured at alpha = 0.5. ESS is per 100 draws, averaged over the nine coordinates of p;
values above 100 are antithetic (erratum 002-14). Ours is HMC tuned by itself, on the sphere at alpha = 0.5 and in
log-ratio coordinates elsewhere.

At alpha = 0.1 the density has poles at the walls of the simplex and on the sphere. The first four rows are as in the
paper, whose sampler does not see the walls for most of its million draws: their numbers there are of chains that have
not converged. Times are the processor's, shared out between warm-up and draws as the clock saw them, of as many runs
as can be timed.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from orthodrome.errors import BadInput, OrthodromeWarning
from orthodrome.experiments.support.claims.claim import SHORTEST
from orthodrome.experiments.support.contract import Claim, Context
from orthodrome.experiments.support.sharp_walls import sharpened
from orthodrome.experiments.support.volleyball import claims_of, softened_claim
from orthodrome.gradients.full import FullGradient
from orthodrome.manifolds import Affine, Product
from orthodrome.models.comparison.model import best_space, even_start, logdensity, target, with_weights
from orthodrome.models.comparison.tables import Comparisons, read_comparisons
from orthodrome.plots.style import BLUE, GREEN, GREY, ORANGE, new_figure
from orthodrome.run import sample
from orthodrome.samplers.exact.geodesic_hmc import GeodesicHMC
from orthodrome.samplers.exact.random_walk import RandomWalk
from orthodrome.targets import Target

NAME = "gmc-volleyball"
TITLE = "Volleyball: random walks and HMC in the plane and on the sphere for four priors, and self-tuned geodesic HMC"
PAPER = "Byrne & Girolami 2013, section 5.2, Table 1"
DATA = "hyperdirichlet/volleyball_sets.csv (52 sets of 9 players; data of the R package hyperdirichlet on CRAN)"

ALPHAS = (0.1, 0.5, 1.0, 5.0)
STEP_SIZE, NUM_STEPS, CHAINS = 0.01, 20, 32
OURS, SOFTENED = "ours, self-tuned", "Simplex HMC, softened"
TABLE = {
    "RW-MH": (0.0064, 0.113, 0.36, 0.84),
    "Spherical RW": (0.0089, 0.143, 0.19, 0.45),
    "Simplex HMC": (0.0034, 0.037, 53.4, 75.6),
    "Spherical HMC": (0.0187, 77.3, 92.6, 187.4),
}
"""ESS per 100 draws as printed in Table 1, by alpha."""


class Entry(NamedTuple):
    """One cell of the table: a sampler at one alpha."""

    alpha: float
    sampler: str
    ess_percent: float
    ess_per_second: float
    ess_per_gradient: float
    acceptance: float
    mean: np.ndarray
    mcse: np.ndarray
    ess_error: float = 0.0
    rhat: float = 1.0
    seconds: float = np.inf


def run(context: Context) -> list[Claim]:
    """Measure all entries, write the figure and tables, and return the claims."""
    path = Path(context.data or ".") / "hyperdirichlet" / "volleyball_sets.csv"
    if not path.exists():
        raise BadInput(f"{path} is not there; {NAME} needs {DATA}")
    data = read_comparisons(path)
    entries = [entry(context, data, alpha, name) for alpha in ALPHAS for name in (*TABLE, OURS)]
    softened = entry(context, data, 0.5, SOFTENED)
    context.save_table("table1", [row(e) for e in (*entries, softened)])
    context.save_table("means", mean_rows(entries, data))
    context.save_figure(figure(entries), "table1")
    sharp = next(e for e in entries if (e.sampler, e.alpha) == ("Simplex HMC", softened.alpha))
    return [*claims_of(entries, TABLE, OURS, ALPHAS), softened_claim(sharp, softened)]


def sampler_of(data: Comparisons, alpha: float, name: str) -> tuple[Any, Any]:
    """Return the sampler and the target of a row of the table."""
    concentration = np.full(len(data.players), alpha)
    sphere = target(data, concentration, "sphere", "float32")
    if name == "RW-MH":
        ones = np.ones((1, len(data.players)), np.float32)
        plane = Target(Product({"strength": Affine(ones, np.ones(1, np.float32))}), logdensity, sphere.data)
        return RandomWalk(plane, STEP_SIZE), plane
    if name == "Spherical RW":
        return RandomWalk(sphere, STEP_SIZE), sphere
    if name == OURS:
        law = target(data, concentration, best_space(concentration), "float32")
        return GeodesicHMC(FullGradient(law)), law
    flat = target(data, concentration, "flat", "float32")
    laws = {"Spherical HMC": sharpened(sphere, "sphere"), "Simplex HMC": sharpened(flat, "flat"), SOFTENED: flat}
    return GeodesicHMC(FullGradient(laws[name]), STEP_SIZE, NUM_STEPS), laws[name]


def entry(context: Context, data: Comparisons, alpha: float, name: str) -> Entry:
    """Draw, time and measure one entry."""
    sampler, law = sampler_of(data, alpha, name)
    length = context.pick(quick=400, paper=1_000_000 // CHAINS)
    start = even_start(law, len(data.players), "float32")

    def drawn(num_warmup: int, num_draws: int) -> Any:
        settings: dict[str, Any] = {"seed": context.seed, "num_chains": CHAINS, "progress": context.progress}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", OrthodromeWarning)  # poles at small alpha: they are what is shown
            return sample(sampler, start, num_warmup=num_warmup, num_draws=num_draws, **settings)

    drawn(20, 1)  # compiles
    whole = lambda: drawn(context.pick(quick=400, paper=1000), length)
    tree, spent = timed(whole, context.pick(quick=0.0, paper=SHORTEST))
    return measured(alpha, name, with_weights(tree, law), spent)


def timed(run: Callable[[], Any], enough: float) -> tuple[Any, list[float]]:
    """Return the draws of a run, and the processor seconds of the draws of as many such runs as take `enough`."""
    trees: list[Any] = []
    spent: list[float] = []
    while sum(spent) < enough or not trees:
        began = time.process_time()
        trees.append(run())
        phases = trees[-1].attrs["warmup_time"], trees[-1].attrs["sampling_time"]
        spent.append((time.process_time() - began) * phases[1] / sum(phases))
    return trees[0], spent


def measured(alpha: float, name: str, tree: Any, spent: list[float]) -> Entry:
    """Return the entry of one run.

    spent: processor seconds of it, and of others like it
    """
    from arviz_stats.base import array_stats

    p, stats = np.asarray(tree["posterior"]["strength"], float), tree["sample_stats"]
    ess = np.asarray(array_stats.ess(p, chain_axis=0, draw_axis=1, method="mean"))
    count = p.shape[0] * p.shape[1]
    gradients = float(stats["n_steps"].mean()) if "n_steps" in stats else 1.0
    return Entry(
        alpha,
        name,
        ess_percent=float(100 * ess.mean() / count),
        ess_per_second=float(ess.mean() / np.mean(spent)),
        ess_per_gradient=float(ess.mean() / count / gradients),
        acceptance=float(stats["acceptance_rate"].mean()),
        mean=p.mean((0, 1)),
        mcse=p.std((0, 1)) / np.sqrt(ess),
        ess_error=ess_error(p),
        rhat=float(np.max(array_stats.rhat(p, chain_axis=0, draw_axis=1))),
        seconds=sum(spent),
    )


def ess_error(p: np.ndarray) -> float:
    """Return the error of the ESS per 100 draws: its standard error over four groups of chains, or how much it
    changes when the chains are cut in half, whichever is larger."""
    from arviz_stats.base import array_stats

    def percent(part: np.ndarray) -> float:
        ess = np.asarray(array_stats.ess(part, chain_axis=0, draw_axis=1, method="mean"))
        return float(100 * ess.mean() / (part.shape[0] * part.shape[1]))

    groups = [percent(part) for part in np.array_split(p, min(4, len(p) // 2))]
    return max(float(np.std(groups, ddof=1) / np.sqrt(len(groups))), abs(percent(p) - percent(p[:, p.shape[1] // 2 :])))


def row(e: Entry) -> dict[str, Any]:
    """Return an entry as a row of the CSV table."""
    printed = TABLE[e.sampler][ALPHAS.index(e.alpha)] if e.sampler in TABLE else None
    return {"alpha": e.alpha, "sampler": e.sampler, "ess_percent": e.ess_percent, "ess_percent_paper": printed} | {
        key: getattr(e, key) for key in ("ess_per_second", "ess_per_gradient", "acceptance")
    }


def mean_rows(entries: list[Entry], data: Comparisons) -> list[dict[str, Any]]:
    """Return the posterior means by every sampler."""
    return [
        {"alpha": e.alpha, "sampler": e.sampler, "player": player, "mean": e.mean[i], "mcse": e.mcse[i]}
        for e in entries
        for i, player in enumerate(data.players)
    ]


def figure(entries: list[Entry]) -> Any:
    """Return a figure of ESS per 100 draws, per gradient and per second against alpha."""
    drawing, axes = new_figure(1, 3, size=(9.0, 3.2))
    colors = dict(zip((*TABLE, OURS), (GREY, "#b8bcc4", GREEN, BLUE, ORANGE), strict=True))
    for column, (field, title) in enumerate(
        (
            ("ess_percent", "ESS per 100 draws"),
            ("ess_per_gradient", "ESS per gradient"),
            ("ess_per_second", "ESS per second"),
        )
    ):
        for name, color in colors.items():
            chosen = [e for e in entries if e.sampler == name]
            x, y = [e.alpha for e in chosen], [getattr(e, field) for e in chosen]
            axes[0, column].loglog(x, y, "o-", color=color, label=name, markersize=3, linewidth=1)
        if field == "ess_percent":
            for name, printed in TABLE.items():
                axes[0, column].plot(ALPHAS, printed, "x", color=colors[name], markersize=5)
        axes[0, column].set(title=title, xlabel="alpha")
    axes[0, 0].legend(fontsize=7, frameon=False)
    return drawing
