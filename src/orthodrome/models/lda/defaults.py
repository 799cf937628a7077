"""Settings of a run, from the corpus where the user gives none; docs/models/lda.md says how they were measured."""

from __future__ import annotations

from typing import Any, NamedTuple

from orthodrome.models.lda.documents import TokenDocuments
from orthodrome.models.lda.updates import SCIRUpdate, SGHMCUpdate, SGLDUpdate, SGRHMCUpdate, SGRLDUpdate, WeightUpdate

DOC_TOPIC_PRIOR, TOPIC_WORD_PRIOR = 0.1, 0.1
"""alpha, for every topic (or 1 / K, if that is more), and beta."""
FIRST_CORPUS, FIRST_SWEEPS, STAGE_SWEEPS = 4_000, 20, 12
"""Documents of the first stage of Gibbs' warm-up, sweeps over them, and sweeps in each later stage."""
FULL_SWEEPS, SMALL_SWEEPS = 30, 100
"""Sweeps over all documents in the warm-up, after the stages of a large corpus, and for a small one."""
BATCH_TOKENS, STOCHASTIC_WARMUP = 50_000, 400
"""Tokens of a batch, about; and updates of the warm-up. With remembered assignments a batch has at least a token for
every two weights, so that moving weights does not take most of the time; tried on `kos` only."""
UPDATES: dict[str, WeightUpdate] = {
    "scir": SCIRUpdate(),
    "sgrld": SGRLDUpdate(),
    "sgrhmc": SGRHMCUpdate(),
    "sgld": SGLDUpdate(),
    "sghmc": SGHMCUpdate(),
}
STEPS = {
    "scir": (0.5, 10.0, 0.33),
    "remembered": (0.5, 1.0, 0.0),
    "sgrld": (0.01, 1000.0, 0.6),
    "sgrhmc": (0.02, 1.0, 0.0),
    "sgld": (0.01, 1.0, 0.0),
    "sghmc": (0.1, 1.0, 0.0),
    "gibbs": (0.0, 1.0, 0.0),
    "collapsed": (0.0, 1.0, 0.0),
}
"""h, tau, kappa of h (1 + m / tau)^(-kappa): the values that the papers report."""


class AllocationSettings(NamedTuple):
    """The settings of a run, given or chosen by default."""

    method: str
    doc_topic_prior: Any
    learn_prior: bool
    topic_word_prior: float
    batch_size: int
    sweeps: int
    step: tuple[float, float, float]
    stages: tuple[tuple[int, int], ...]
    num_warmup: int
    num_draws: int
    thin: int
    remembers: bool = False


def stages_for(count: int) -> tuple[tuple[int, int], ...]:
    """Return (documents, sweeps) of the growing corpus, which doubles until all are in."""
    found: list[tuple[int, int]] = []
    size = FIRST_CORPUS
    while size < count / 1.5:
        found.append((size, STAGE_SWEEPS if found else FIRST_SWEEPS))
        size *= 2
    return tuple(found)


def settings_for(model: Any, documents: TokenDocuments, streams: bool = False) -> AllocationSettings:
    """Return the settings of a model for these documents; streams: they are the first of a stream."""
    pick = lambda name, chosen: chosen if getattr(model, name) is None else getattr(model, name)
    method = ("scir" if streams else "gibbs") if model.method == "auto" else model.method
    gibbs = method in ("gibbs", "collapsed")
    stages = stages_for(documents.count) if method == "gibbs" else ()
    mean = documents.num_tokens / max(1, documents.count)
    remembers = method == "scir" and not streams and not model.replace and pick("remember", True)
    weights = documents.num_words * model.n_components
    tokens = max(BATCH_TOKENS, weights // 2) if remembers else BATCH_TOKENS
    batch = min(documents.count, max(50, int(tokens / max(1.0, mean))))
    full = FULL_SWEEPS if stages else SMALL_SWEEPS
    warmup = sum(sweeps for _, sweeps in stages) + full if gibbs else STOCHASTIC_WARMUP
    first, scale, power = STEPS["remembered" if remembers else method]
    return AllocationSettings(
        method,
        pick("doc_topic_prior", max(DOC_TOPIC_PRIOR, 1 / model.n_components)),
        bool(model.learn_prior),
        float(pick("topic_word_prior", TOPIC_WORD_PRIOR)),
        int(pick("batch_size", batch)),
        int(pick("sweeps", 1 if gibbs or remembers else 10)),
        (float(pick("step_size", first)), float(pick("step_scale", scale)), float(pick("step_power", power))),
        stages,
        int(pick("num_warmup", warmup)),
        int(pick("num_draws", 20)),
        int(pick("thin", 1 if gibbs else 5)),
        bool(remembers),
    )
