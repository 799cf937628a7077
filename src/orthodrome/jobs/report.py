"""The report page of a run's folder: which kind of folder it is, and what its page shows.

fit of a model        the model's own pictures and the draws: `report.html` in the folder
checkpoint, store     the draws: `NAME-report.html` beside the folder, in which only a run writes
"""

from __future__ import annotations

import importlib
from pathlib import Path

from orthodrome.errors import BadInput
from orthodrome.jobs.run_folder import check_run_folder
from orthodrome.jobs.told import PAGE, write_told
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
    kind = kind_of(folder)
    if kind in FITS:
        fits = importlib.import_module(f"orthodrome.jobs.{FITS[kind]}").KIND
        fits.fits.verify(folder)
        return write_told(fits.told_again(folder), path or folder / PAGE)
    if kind not in ("checkpoint", "store"):
        raise BadInput(f"{folder} holds a {kind}, of which there is no report; give the folder of a fit or of a run")
    from orthodrome.report.write import write_report

    return write_report(folder, path or folder.absolute().parent / f"{folder.absolute().name}-{PAGE}")


def kind_of(folder: Path) -> str:
    """Return the kind of a folder of ours, or raise if it is none."""
    check_run_folder(folder, [folder])
    return str(checksums.read_sealed(folder / ownership.MARKER, "restore it").get("kind"))
