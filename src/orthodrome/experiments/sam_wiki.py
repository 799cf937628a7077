"""Fig. 5(b) of Liu, Zhu & Song (2016): the spherical admixture model on 150,000 Wikipedia articles, 50 topics.

The set is made as supplement F.3 says (`corpora.wikipedia`). The authors' own file was not found, so the order of the
methods can be compared, not their values.
"""

from __future__ import annotations

import resource
from typing import Any

from orthodrome.corpora.wikipedia import wikipedia_set
from orthodrome.experiments.support.contract import Claim, Context
from orthodrome.experiments.support.sam.curves import MethodCurve
from orthodrome.experiments.support.sam.methods import GMC, cases, common_claims, published, run_cases
from orthodrome.experiments.support.sam.statements import gap_claim, statement_claims

NAME = "sam-wiki"
TITLE = "Spherical topics on 150,000 Wikipedia articles: log-perplexity against time, six methods"
PAPER = "Liu, Zhu & Song 2016, section 5.3, Fig. 5(b)"
DATA = (
    "wikipedia_en (articles of dumps.wikimedia.org counted on the words of dictnostops.txt in "
    "github.com/blei-lab/onlineldavb): en2014_counts.npz, en2015_counts.npz"
)

LAW: dict[str, Any] = {
    "corpus_concentration": 6e3,
    "topic_concentration": 6e3,
    "document_concentration": 2e4,
    "doc_topic_prior": 10.0,
}
SIZE, FEW = 100, 1666
"""Documents in a batch, and in the small set: as many as the paper's small one has."""
MEMORY = 3.0
"""The largest memory use in gigabytes."""


def run(context: Context) -> list[Claim]:
    """Run all methods, write the curves and the figure, and return the claims."""
    assert context.data is not None
    folder = context.data / "wikipedia_en" if (context.data / "wikipedia_en").is_dir() else context.data
    train, test, _ = wikipedia_set(folder, context.pick(4000, 150_000), context.pick(200, 1000), context.seed)
    common = {"n_components": context.pick(20, 50)} | LAW
    settings = (context.pick(2.0, 120.0), context.pick(40, 200))
    tuned = cases((SIZE,), full_steps=1, data_set="wikipedia")
    wanted = tuned | published("wikipedia", SIZE, full_steps=(10, 1))
    curves, _ = run_cases(context, wanted, common, (train, test), *settings)
    compared = {name: case for name, case in tuned.items() if not name.endswith("all")}
    few = (train[: context.pick(400, FEW)], test)
    small, _ = run_cases(context, compared, common, few, *settings, stem="few_documents")
    return [*claims(curves), gap_claim(small, curves, SIZE)]


def claims(curves: dict[str, MethodCurve]) -> list[Claim]:
    """Return the claims of the figure."""
    ours = {name: curves[name].annealed for name in ("sggmc, S = 100", "gsgnht, S = 100")}
    best = min(ours, key=lambda name: ours[name])
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    rates = {name: curve.draws_per_second for name, curve in curves.items()}
    full, gmc = ({name: curves[name].annealed for name in names} for names in (("sggmc, all", "gsgnht, all"), GMC))
    equal_time = "annealed, after equal time: both full-batch samplers below both GMC methods"
    slowest, fast = max(rates[name] for name in GMC), rates["sggmc, S = 100"]
    return [
        *common_claims(curves, best),
        *statement_claims(curves, SIZE),
        Claim(
            "full-batch-lower",
            equal_time,
            "full-batch outperforms GMC",
            full | gmc,
            max(full.values()) < min(gmc.values()),
        ),
        Claim(
            "rates",
            "topic draws per second: minibatches make more than ten times as many as GMC",
            "GMC is slower",
            rates,
            fast > 10 * slowest,
        ),
        Claim("memory", f"peak memory below {MEMORY:.0f} GB", None, memory, memory < MEMORY),
    ]
