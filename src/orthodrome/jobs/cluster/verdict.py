"""Whether the draws of a clustering can be trusted, by what does not depend on the numbering of the components."""

from __future__ import annotations

from typing import Any

UNLABELLED = ("num_clusters", "concentration")
"""What is judged: weights and parameters are those of components, which each draw numbers in its own way."""


def verdict_of(draws: Any) -> str:
    """Return the verdict of the report page in words."""
    from orthodrome.report.pictures.health import health
    from orthodrome.report.write import only

    return str(health(only(draws, UNLABELLED)).content()["data"]["verdict"])
