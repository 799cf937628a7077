"""The tempering of a model that looks for several modes by itself, as an option: the same for every such command.

    auto      if the chains of a plain run end in different modes
    none      never
    a number  always, with so many replicas

It is said once, so that no command has a default of its own in place of the model's.
"""

from __future__ import annotations

from typing import Any

from orthodrome.errors import BadInput
from orthodrome.jobs.options import option

WORDS: dict[Any, str | None] = {"auto": "auto", "none": None, None: None}
"""The words and what the model takes for them; jobs saved before there were words hold None and numbers."""
MOST = 1000


def tempering_option(which: str = "chains") -> Any:
    """Return the field of a job; which: the chains of which the model can tell that they are in different modes."""
    return option("auto", f"auto: if {which} end in different modes; none: never; a number: so many replicas.")


def model_tempering(value: Any) -> int | str | None:
    """Return the tempering of a job as the model takes it, or raise."""
    if value in WORDS:
        return WORDS[value]
    text = str(value)
    if not (text.isascii() and text.isdigit() and len(text) <= len(str(MOST)) and 2 <= int(text) <= MOST):
        raise BadInput(
            f"--tempering is {value!r:.40}; it must be auto, none or a number of replicas from 2 to {MOST:,}"
        )
    return int(text)
