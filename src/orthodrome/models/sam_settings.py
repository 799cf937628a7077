"""What the parameters of `SAM` may be; refused before anything is computed."""

from __future__ import annotations

import math
from typing import Any

from orthodrome.errors import BadInput

METHODS = ("sggmc", "gsgnht", "gmc-apprmh", "gmc-bgibbs", "vi", "stovi")
STOCHASTIC, EXACT, VARIATIONAL = METHODS[:2], METHODS[2:4], METHODS[4:]
ROWS = ("unit", "normalize", "counts")
SPACES = ("sphere", "flat")


def check_settings(model: Any) -> None:
    """Refuse what cannot be right, before anything is computed."""
    choices = (("method", METHODS), ("rows", ROWS), ("proportion_space", SPACES))
    for name, allowed in choices:
        if getattr(model, name) not in allowed:
            raise BadInput(f"{name} is {getattr(model, name)!r}; it must be one of {', '.join(map(repr, allowed))}")
    counts = ("n_components", "num_draws", "thin", "num_steps", "proportion_draws", "proportion_steps")
    for name in counts:
        if int(getattr(model, name)) < 1:
            raise BadInput(f"{name} is {getattr(model, name)!r}; it must be at least 1")
    positive = ("corpus_concentration", "topic_concentration", "document_concentration", "doc_topic_prior")
    for name in (*positive, "step_size", "friction"):
        value = getattr(model, name)
        if value is not None and not (math.isfinite(value) and value > 0):
            raise BadInput(f"{name} is {value!r}; it must be a positive number")
