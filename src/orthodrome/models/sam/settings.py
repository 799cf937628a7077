"""What the parameters of `SAM` may be; refused before anything is computed."""

from __future__ import annotations

from typing import Any

from orthodrome import doors
from orthodrome.errors import BadInput

METHODS = ("sggmc", "gsgnht", "gmc-apprmh", "gmc-bgibbs", "vi", "stovi")
STOCHASTIC, EXACT, VARIATIONAL = METHODS[:2], METHODS[2:4], METHODS[4:]
ROWS = ("unit", "normalize", "counts")
SPACES = ("sphere", "flat")
PUBLISHED = (False, True, "20news", "wikipedia")
LEAST_PRIOR = 1e-4


def check_settings(model: Any) -> None:
    """Refuse what cannot be right, before anything is computed."""
    choices = (("method", METHODS), ("rows", ROWS), ("proportion_space", SPACES), ("published", PUBLISHED))
    for name, allowed in choices:
        doors.check_choice(name, getattr(model, name), allowed)
    counts = ("n_components", "num_draws", "thin", "num_chains", "num_steps", "proportion_draws", "proportion_steps")
    for name in counts:
        doors.check_whole(name, getattr(model, name), 1)
    for name in ("num_warmup", "proportion_warmup"):
        doors.check_whole(name, getattr(model, name), 0)
    for name in ("batch_size", "total_documents", "n_jobs"):
        if getattr(model, name) is not None:
            doors.check_whole(name, getattr(model, name), -1 if name == "n_jobs" else 1)
    positive = ("corpus_concentration", "topic_concentration", "document_concentration", "doc_topic_prior")
    for name in (*positive, "step_size", "friction"):
        if getattr(model, name) is not None:
            doors.check_positive(name, getattr(model, name))
    doors.check_choice("dtype", model.dtype, ("float32", "float64"))
    if model.doc_topic_prior is not None and model.doc_topic_prior < LEAST_PRIOR:
        raise BadInput(
            f"doc_topic_prior is {model.doc_topic_prior!r}; below {LEAST_PRIOR} every document is of one topic only: "
            f"use {LEAST_PRIOR} or more, or a mixture"
        )
