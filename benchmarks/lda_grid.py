"""Search steps and priors of the stochastic methods for LDA on a grid, as Baker et al. (2018) and Ma et al. (2015) did.

    python -m benchmarks.lda_grid --data DIR --paper scir     # SCIR and SGRLD, K = 100, batches of 50, 200 sweeps
    python -m benchmarks.lda_grid --data DIR --paper recipe   # SGLD, SGHMC, SGRLD, SGRHMC, K = 50, 50 sweeps
    python -m benchmarks.lda_grid --data DIR --paper recipe --method sgrhmc --updates 40 --articles 5000 --topics 20

Every combination of step h, alpha (documents) and beta (words) runs once for some updates; what is kept is the
perplexity of mean predictions at the end, on articles held out (`experiments.support.lda`). The grids hold the
published optima, marked with a star. It prints a table, best first, and writes `results/lda_grid_PAPER.json`. The
experiments `scir-lda` and `recipe-lda` use the published optima, whatever this finds.
"""

from __future__ import annotations

import argparse
import itertools
import json
from pathlib import Path
from typing import Any

from orthodrome.experiments import recipe_lda
from orthodrome.experiments.scir import lda as scir_lda
from orthodrome.experiments.support.lda.articles import Articles, wikipedia_articles
from orthodrome.experiments.support.lda.runs import Budget, LDASetting, trace

ALPHAS, BETAS = (0.005, 0.01, 0.1), (1e-4, 0.01, 0.1, 1.0)
STEPS = {
    "scir": [(h, 10.0, 0.33) for h in (1.0, 0.5, 0.1)],
    "sgrld": [(h, 1000.0, kappa) for h, kappa in ((0.1, 0.6), (0.01, 0.6), (0.001, 0.6), (0.01, 0.55), (0.01, 0.0))],
    "sgrhmc": [(h, 1.0, 0.0) for h in (0.1, 0.05, 0.02, 0.01, 0.005)],
    "sgld": [(h, 1.0, 0.0) for h in (0.1, 0.01, 0.001, 1e-4)],
    "sghmc": [(h, 1.0, 0.0) for h in (0.3, 0.1, 0.03, 0.01)],
}
PAPERS: dict[str, tuple[dict[str, LDASetting], Budget]] = {
    "scir": (scir_lda.PUBLISHED, Budget(100, 1_000, 50, 200, 5)),
    "recipe": ({name: recipe_lda.CASES[name] for name in recipe_lda.FIGURE}, Budget(50, 200, 50, 50, 10)),
}


def grid(method: str) -> list[LDASetting]:
    """Return all settings of a method."""
    return [LDASetting(method, a, b, step) for step, a, b in itertools.product(STEPS[method], ALPHAS, BETAS)]


def row_of(setting: LDASetting, published: Any, articles: Articles, budget: Budget, seed: int) -> dict[str, Any]:
    """Run one setting, and return a row of the table; a run that became non-finite has the perplexity infinity."""
    last = trace(setting, articles, budget, seed).last
    found = last if last == last else float("inf")
    return setting._asdict() | {"perplexity": found, "published": setting in published}


def main() -> None:
    """Search, print and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--paper", choices=sorted(PAPERS), required=True)
    parser.add_argument("--method", choices=sorted(STEPS), help="one method instead of all of the paper")
    parser.add_argument("--updates", type=int)
    parser.add_argument("--topics", type=int)
    parser.add_argument("--articles", type=int, default=200_533)
    parser.add_argument("--test", type=int, default=1_000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    published, budget = PAPERS[options.paper]
    budget = budget._replace(updates=options.updates or budget.updates, num_topics=options.topics or budget.num_topics)
    articles = wikipedia_articles(options.data, options.articles, options.test, options.seed)
    methods = [options.method] if options.method else sorted({setting.method for setting in published.values()})
    rows = []
    for setting in (s for method in methods for s in grid(method)):
        rows.append(row_of(setting, published.values(), articles, budget, options.seed))
        print(rows[-1], flush=True)
    rows.sort(key=lambda row: (row["method"], row["perplexity"]))
    print("\n| method | step h, tau, kappa | alpha | beta | perplexity |\n|---|---|---|---|---|")
    for row in rows:
        star = " *" if row["published"] else ""
        print(f"| {row['method']}{star} | {row['step']} | {row['alpha']} | {row['beta']} | {row['perplexity']:.1f} |")
    place = Path(__file__).parent / "results" / f"lda_grid_{options.paper}.json"
    place.write_text(json.dumps({"budget": budget._asdict(), "rows": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
