"""What the report page of a fit shows beside what every page shows, and the page itself."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from orthodrome.report.section import Section

PAGE = "report.html"
"""The name of the page in the folder of a fit."""


class Told(NamedTuple):
    """What the page of a fit shows.

    source: the draws, the fitted model, or the folder of the run
    title, settings: of the page; sections: the model's own pictures, none: those that the source asks for
    variables: those that are judged and traced, None: all
    """

    source: Any
    title: str
    settings: dict[str, Any]
    sections: tuple[Section, ...] = ()
    variables: tuple[str, ...] | None = None


def write_told(told: Told, path: Path) -> Path:
    """Write the page, and return its path."""
    from orthodrome.report.write import write_report

    return write_report(**told._asdict(), path=path)


def settings_of(job: Any, numbers: dict[str, float]) -> dict[str, Any]:
    """Return the settings of a job that were given or have a value, and the numbers of its result."""
    given = {name.replace("_", " "): x for name, x in dataclasses.asdict(job).items() if x is not None and x != ""}
    return {**numbers, **{name: "a space" if x == " " else x for name, x in given.items()}}
