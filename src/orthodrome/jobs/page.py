"""The report page of a finished fit or run, written at the end of every job."""

from __future__ import annotations

import importlib
import importlib.util
from pathlib import Path

NAME = "report.html"


def write_page(folder: Path) -> Path | None:
    """Write the report page of a finished folder beside its results, and return its path; None if this installation
    has no `orthodrome.report`."""
    if importlib.util.find_spec("orthodrome.report") is None:
        return None
    importlib.import_module("orthodrome.report").write_report(folder, folder / NAME)
    return folder / NAME
