"""The report page of a run's folder: which kind of folder it is, and what its page shows.

fit of a model        the model's own pictures and the draws: `report.html` in the folder
checkpoint, store     the draws: `NAME-report.html` beside the folder, in which only a run writes
"""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

from orthodrome.errors import BadInput, CheckpointError
from orthodrome.jobs.fitting import Fitting
from orthodrome.jobs.run_folder import check_run_folder
from orthodrome.jobs.told import PAGE, Told, write_told
from orthodrome.storage import checksums, ownership

FITS = {
    "fit": "topics.fit",
    "clustering": "cluster.fit",
    "comparison": "teams.kind",
    "network": "network.kind",
    "directions": "directional.kind",
    "run": "sample.kind",
}
"""Where the `KIND` of a fit is, by the kind in the marker of its folder."""


def report(folder: Path, path: Path | None = None) -> Path:
    """Write the page of a finished run; path: of the page, None: in the folder of a fit, else beside it."""
    from orthodrome.run.parallel import this_process

    kind = kind_of(folder)
    if kind in FITS:
        fits = importlib.import_module(f"orthodrome.jobs.{FITS[kind]}").KIND
        fits.fits.verify(folder)
        page = path or folder / PAGE
        told = told_again(fits, folder)  # by all processes, if the fit was drawn by several
        return write_told(told, page) if this_process().first else page
    if kind not in ("checkpoint", "store"):
        raise BadInput(f"{folder} holds a {kind}, of which there is no report; give the folder of a fit or of a run")
    from orthodrome.report.write import write_report

    return write_report(folder, path or folder.absolute().parent / f"{folder.absolute().name}-{PAGE}")


def told_again(fits: Fitting[Any, Any, Any], folder: Path) -> Told:
    """Return what the page of a finished fit shows, or raise with where the page of its end is."""
    try:
        return fits.told_again(folder)
    except CheckpointError as error:
        if not (folder / PAGE).is_file():
            raise
        raise CheckpointError(
            f"{error} (the page that the fit itself wrote is {folder / PAGE}; it is written again only where the "
            "fit was drawn, by as many processes)"
        ) from error


def kind_of(folder: Path) -> str:
    """Return the kind of a folder of ours, or raise if it is none."""
    check_run_folder(folder, [folder])
    return str(checksums.read_sealed(folder / ownership.MARKER, "restore it").get("kind"))
