"""Fig. 3 and Table S.1 of Ma, Chen & Fox (2015): LDA on Wikipedia by SGLD, SGHMC, SGRLD and SGRHMC, three runs each.

K = 50, batches of 50, the settings of supplement F.2 with errata 004-9 (the schedule is a (1 + t / b)^-c) and 4.1
(SGRHMC is reflected at 0). The samplers without a metric have priors of their own, alpha = 0.01 and gamma = 0.1 against
1e-4 and 0.01, so the order between the two kinds is also shown at the priors of the Riemannian ones. The settings are
the optima of the authors' grid search; `python -m benchmarks.lda_grid` runs one again. They were found with 3.3 million
articles in the factor D / |S| (errata, 2.2), which scales every gradient, so that D is used here too, although fewer
articles are at hand; and weights start at Gamma(1, 1) numbers, not scaled to where the posterior has them. Without
either of the two the Hamiltonian term does not help.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from orthodrome.experiments.support.claims.claim import unfinished, unsettled
from orthodrome.experiments.support.contract import Claim, Context
from orthodrome.experiments.support.lda.articles import wikipedia_articles
from orthodrome.experiments.support.lda.runs import (
    Budget,
    LDACurve,
    LDASetting,
    curve_rows,
    draw_curves,
    movement,
    trace,
)
from orthodrome.models.topics.coherence import coherence
from orthodrome.plots.style import BLUE, GREEN, GREY, ORANGE, new_figure

NAME = "recipe-lda"
TITLE = "Topics of Wikipedia: perplexity against documents for SGLD, SGHMC, SGRLD and SGRHMC"
PAPER = "Ma, Chen & Fox 2015, section 4.2, Fig. 3, supplement F.2 and Table S.1"
DATA = (
    "wikipedia_en (articles of dumps.wikimedia.org counted on the words of dictnostops.txt in "
    "github.com/blei-lab/onlineldavb): en2014_counts.npz, en2014_heldout.npz, vocab.txt"
)

SCHEDULE, CONSTANT = (0.01, 1000.0, 0.55), (1.0, 0.0)
CASES = {
    "SGLD": LDASetting("sgld", 0.1, 0.01, (0.01, *CONSTANT)),
    "SGHMC": LDASetting("sghmc", 0.1, 0.01, (0.1, *CONSTANT)),
    "SGRLD": LDASetting("sgrld", 0.01, 1e-4, SCHEDULE),
    "SGRHMC": LDASetting("sgrhmc", 0.01, 1e-4, (0.02, *CONSTANT)),
    "SGRLD, constant step": LDASetting("sgrld", 0.01, 1e-4, (0.01, *CONSTANT)),
    "SGLD, priors of SGRLD": LDASetting("sgld", 0.01, 1e-4, (0.01, *CONSTANT)),
    "SGHMC, priors of SGRLD": LDASetting("sghmc", 0.01, 1e-4, (0.1, *CONSTANT)),
}
FIGURE = {"SGLD": (GREY, "-"), "SGHMC": (GREEN, "-"), "SGRLD": (ORANGE, "-"), "SGRHMC": (BLUE, "-")}
SHOWN = FIGURE | {"SGRLD, constant step": (ORANGE, ":")}
ARTICLES = 3_300_000
"""D of the authors, by which the counts of a batch are multiplied."""
DOCUMENTS = 10_000
"""How far the curves of the paper go."""
TOPICS, WORDS, SLOWEST, SAMPLE = 11, 7, 1.5, 20_000
"""Rows and columns of Table S.1, the largest ratio of run times that counts as similar, documents for coherence."""


def run(context: Context) -> list[Claim]:
    """Run all samplers, write the curves, the run times and the table of topics."""
    assert context.data is not None
    num_train, num_test = context.pick(quick=(20_000, 200), paper=(200_533, 1_000))
    budget = context.pick(quick=Budget(20, 100, 50, 20, 10), paper=Budget(50, 200, 50, 50, 20))
    articles = wikipedia_articles(context.data, num_train, num_test, context.seed)
    seeds = range(context.seed, context.seed + context.pick(2, 3))
    curves = {name: [trace(case, articles, budget, seed, ARTICLES) for seed in seeds] for name, case in CASES.items()}
    topics = table_of_topics(curves["SGRHMC"][0], articles.vocabulary, context.seed)
    context.save_table("curves", curve_rows(curves))
    context.save_table("runtime", runtime_rows(curves))
    context.save_table("topics", topics)
    context.save_figure(figure(curves), "figure3")
    return claims(curves, coherences(curves["SGRHMC"][0], articles.train, context.seed))


def table_of_topics(curve: LDACurve, vocabulary: tuple[str, ...], seed: int) -> list[dict[str, str]]:
    """Return the top words of some topics, chosen at random, as Table S.1 shows them."""
    chosen = np.random.default_rng(seed).choice(curve.topics.shape[0], TOPICS, replace=False)
    order = np.argsort(-curve.topics[chosen], axis=1, kind="stable")[:, :WORDS]
    return [
        {f"word {i + 1}": vocabulary[w].upper() if i == 0 else vocabulary[w] for i, w in enumerate(row)}
        for row in order
    ]


def runtime_rows(curves: dict[str, list[LDACurve]]) -> list[dict[str, Any]]:
    """Return the processor seconds per 100 documents, the mean over runs."""
    return [{"case": name, "seconds": float(np.mean([run.seconds for run in runs]))} for name, runs in curves.items()]


def figure(curves: dict[str, list[LDACurve]]) -> Any:
    """Draw the run times and the curves of Fig. 3."""
    figure, axes = new_figure(1, 2, size=(7.5, 3.2), width_ratios=(1, 2))
    seconds = {row["case"]: row["seconds"] for row in runtime_rows(curves)}
    axes[0, 0].barh(list(FIGURE), [seconds[name] for name in FIGURE], color=[c for c, _ in FIGURE.values()])
    axes[0, 0].set(xlabel="processor s per 100 documents")
    draw_curves(axes[0, 1], curves, SHOWN)
    return figure


def coherences(curve: LDACurve, counts: Any, seed: int) -> tuple[float, float]:
    """Return the mean NPMI of the top words of SGRHMC's topics, and of as many words at random by their frequency."""
    some = counts[:SAMPLE]
    frequency = np.asarray(some.sum(axis=0)).ravel() + 1e-9
    random = np.random.default_rng(seed).exponential(size=curve.topics.shape) / frequency[None, :]
    return float(coherence(curve.topics, some, WORDS).mean()), float(coherence(1 / random, some, WORDS).mean())


def claims(curves: dict[str, list[LDACurve]], npmi: tuple[float, float]) -> list[Claim]:
    """Claim what section 4.2 and the supplement say."""
    text = f"the {WORDS} top words of SGRHMC's topics are coherent: mean NPMI above that of random frequent words"
    found = {"topics": npmi[0], "words at random": npmi[1]}
    seconds = {row["case"]: row["seconds"] for row in runtime_rows(curves) if row["case"] in FIGURE}
    ratio = max(seconds.values()) / min(seconds.values())
    return [
        *order_claims(curves, "", "perplexity of mean predictions", lambda run: run.last),
        *order_claims(curves, "-single", "perplexity at single topics", lambda run: run.single),
        Claim("runtime", f"run times are similar: within a factor of {SLOWEST:g}", True, seconds, ratio < SLOWEST),
        Claim("topics", text, "Table S.1", found, npmi[0] > npmi[1]),
    ]


def order_claims(curves: dict[str, list[LDACurve]], suffix: str, measure: str, of: Any) -> list[Claim]:
    """Claim the order of the samplers; the paper does not say whether predictions were averaged over evaluations."""
    last = {name: round(float(np.mean([of(run) for run in runs])), 1) for name, runs in curves.items()}
    only = lambda *names: {name: last[name] for name in names}
    below = lambda better, worse: max(only(*better).values()) < min(only(*worse).values())
    metric, plain = ("SGRLD", "SGRHMC"), ("SGLD", "SGHMC")
    equal = tuple(f"{name}, priors of SGRLD" for name in plain)
    statements = {
        "riemannian": ("both Riemannian samplers end below both others", metric, plain),
        "riemannian-equal": (
            "with the Riemannian samplers' priors for all, they end below both others (not in the paper)",
            metric,
            equal,
        ),
        "hamiltonian": ("the Hamiltonian term helps without a metric: SGHMC below SGLD", plain[1:], plain[:1]),
        "hamiltonian-metric": ("the Hamiltonian term helps with a metric: SGRHMC below SGRLD", metric[1:], metric[:1]),
        "schedule": ("SGRLD is worse with a constant step", metric[:1], ("SGRLD, constant step",)),
    }
    found = []
    for id, (text, better, worse) in statements.items():
        claim = Claim(id + suffix, f"{text} ({measure})", True, only(*better, *worse), below(better, worse))
        off = max(only(*better).values()) - min(only(*worse).values())
        moved = max(movement(curves[name], of) for name in (*better, *worse))
        seen = curves[better[0]][0].rows[-1][1]
        found.append(unfinished(unsettled(claim, off, moved), seen, DOCUMENTS, "documents"))
    return found
