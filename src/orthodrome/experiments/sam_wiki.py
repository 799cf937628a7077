"""Fig. 5(b) of Liu, Zhu & Song (2016): the spherical admixture model on 150,000 Wikipedia articles, 50 topics.

The set is made as supplement F.3 says: documents of more than 20 words of the 7,702, 150,000 of them for training and
1,000 for the test, the 3,000 words of moderate document frequency (below 5.99 %), tf-idf separately in both parts, rows
left empty dropped. The authors' own file was not found, so only the order of the methods can be compared.
"""

from __future__ import annotations

import resource
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse

from orthodrome.experiments.contract import Claim, Context
from orthodrome.experiments.sam_curves import Curve, curve_rows, figure, read_table, trace_curve
from orthodrome.models.sam import SAM

NAME = "sam-wiki"
TITLE = "Spherical topics on 150,000 Wikipedia articles: log-perplexity against time, six methods"
PAPER = "Liu, Zhu & Song 2016, section 5.3, Fig. 5(b)"
DATA = (
    "wikipedia_en (bags of words of English Wikipedia on Hoffman's 7,702 words): en2014_counts.npz, en2015_counts.npz"
)

LAW: dict[str, Any] = {
    "corpus_concentration": 6e3,
    "topic_concentration": 6e3,
    "document_concentration": 2e4,
    "doc_topic_prior": 10.0,
}
SHORT: dict[str, Any] = {"proportion_warmup": 3, "proportion_draws": 5}
NUM_WORDS, HIGHEST_FREQUENCY, FEWEST = 3000, 0.0599, 20
MEMORY = 3.0
"""Gigabytes."""


def read_articles(folder: Path, num_train: int, num_test: int, seed: int) -> tuple[Any, Any]:
    """Counts of both parts on the words of moderate frequency."""
    names = [path for path in (folder / "en2014_counts.npz", folder / "en2015_counts.npz") if path.exists()]
    counts = scipy.sparse.vstack([read_table(path) for path in names]).tocsr()
    counts = counts[np.asarray(counts.sum(axis=1)).ravel() > FEWEST]
    chosen = np.random.default_rng(seed).permutation(counts.shape[0])[: num_train + num_test]
    counts = counts[chosen]
    frequency = np.bincount(counts.indices, minlength=counts.shape[1]) / counts.shape[0]
    moderate = np.flatnonzero(frequency < HIGHEST_FREQUENCY)
    words = np.sort(moderate[np.argsort(-frequency[moderate], kind="stable")[:NUM_WORDS]])
    parts = counts[:num_train][:, words], counts[num_train:][:, words]
    return tuple(part[part.getnnz(axis=1) > 0] for part in parts)  # type: ignore[return-value]


def run(context: Context) -> list[Claim]:
    """All curves, the figure, the claims."""
    assert context.data is not None
    folder = context.data / "wikipedia_en" if (context.data / "wikipedia_en").is_dir() else context.data
    train, test = read_articles(folder, context.pick(4000, 150_000), context.pick(200, 1000), context.seed)
    count, budget = context.pick(20, 50), context.pick(3.0, 120.0)
    cases: dict[str, dict[str, Any]] = {
        f"{method}, S = 100": {"method": method, "batch_size": 100} | SHORT for method in ("sggmc", "gsgnht")
    }
    cases |= {
        f"{method}, all": {"method": method, "batch_size": None, "num_steps": 1} | SHORT
        for method in ("sggmc", "gsgnht")
    }
    cases |= {
        method: {"method": method, "batch_size": 100} | SHORT for method in ("gmc-apprmh", "gmc-bgibbs", "vi", "stovi")
    }
    curves = {}
    for name, settings in cases.items():
        model = SAM(count, rows="counts", random_state=context.seed, **LAW, **settings)
        curves[name] = trace_curve(name, model, train, test, budget, honest=context.pick(40, 200))
    context.save_table("curves", curve_rows(list(curves.values())))
    context.save_figure(figure(list(curves.values())), "figure5b")
    return claims(curves)


def claims(curves: dict[str, Curve]) -> list[Claim]:
    """The figure's statements, by the annealed estimate."""
    honest = {name: curve.annealed for name, curve in curves.items()}
    ours = min(honest["sggmc, S = 100"], honest["gsgnht, S = 100"])
    full = min(honest["sggmc, all"], honest["gsgnht, all"])
    gmc = min(honest["gmc-apprmh"], honest["gmc-bgibbs"])
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    rates = {name: curve.draws_per_second for name, curve in curves.items()}
    return [
        Claim("subsampling", "batches below the full batch", "subsampling speeds up", honest, ours < full),
        Claim("gmc", "batches below both GMC variants", "GMC scales badly", honest, ours < gmc),
        Claim("full-batch", "full-batch SGGMC/gSGNHT below GMC", "still better than GMC", honest, full < gmc),
        Claim(
            "vi",
            "batches below VI and StoVI",
            "bounded curves of VI",
            honest,
            ours < min(honest["vi"], honest["stovi"]),
        ),
        Claim(
            "thermostat",
            "gSGNHT below SGGMC",
            "advantage of thermostats",
            honest,
            honest["gsgnht, S = 100"] < honest["sggmc, S = 100"],
        ),
        Claim("memory", f"below {MEMORY:.0f} GB", None, memory, memory < MEMORY),
        Claim(
            "rates",
            "topic draws per second: batches ten times GMC",
            None,
            rates,
            rates["sggmc, S = 100"] > 10 * rates["gmc-bgibbs"],
        ),
    ]
