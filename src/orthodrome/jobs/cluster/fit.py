"""The main job: read rows, draw clusters, write and show what was found. A kill at any moment loses little.

First the rows and the settings are saved, then the run commits its state as it goes (`state/`); the rest is a function
of the draws. So `resume` does what `fit` does, from the first step that is not done, and ends in the same numbers.
"""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import TYPE_CHECKING

from orthodrome.core.display import shown
from orthodrome.jobs.cluster import show as screen
from orthodrome.jobs.cluster.folder import FITS
from orthodrome.jobs.cluster.job import ClusterJob, check_job
from orthodrome.jobs.cluster.model import check_rows, learn
from orthodrome.jobs.cluster.outputs import write_figures, write_tables
from orthodrome.jobs.cluster.result import ClusterResult, load_result, save_result
from orthodrome.jobs.cluster.rows import ClusterRows, load_rows, read_rows, save_rows
from orthodrome.jobs.report import report

if TYPE_CHECKING:
    from rich.console import Console


def fit(job: ClusterJob, path: Path, folder: Path, console: Console, progress: bool = True) -> ClusterResult:
    """Fit the rows of a file in a new folder."""
    check_job(job)
    FITS.refuse_occupied(folder)
    rows = read_rows(job, path)
    check_rows(job, rows, path)
    with contextlib.ExitStack() as locks:
        FITS.begin(folder, locks)
        with FITS.writing(folder):
            save_rows(rows, folder)
            FITS.save_job(job, folder)
            FITS.seal_inputs(folder)
        announce(job, rows, folder, console)
        return finish(job, load_rows(folder), folder, console, progress)


def announce(job: ClusterJob, rows: ClusterRows, folder: Path, console: Console) -> None:
    """Print what is fitted, and how to resume it."""
    training = int(rows.training.sum())
    console.print(
        f"{training:,} rows to learn from, {len(rows.names) - training:,} held out, {len(rows.columns):,} columns; "
        f"{job.family} clusters by {job.method}"
    )
    console.print(f"if this is stopped, go on with: orthodrome cluster resume {shown(str(folder))}", style="dim")


def resume(folder: Path, console: Console, progress: bool = True) -> ClusterResult:
    """Resume a fit and finish it."""
    FITS.require(folder)
    with contextlib.ExitStack() as locks:
        FITS.go_on(folder, locks)
        return finish(FITS.load_job(folder), load_rows(folder), folder, console, progress)


def finish(job: ClusterJob, rows: ClusterRows, folder: Path, console: Console, progress: bool) -> ClusterResult:
    """Draw what is not drawn yet; write and show the results."""
    result = learn(job, rows, folder / "state", progress)
    with FITS.writing(folder):
        FITS.reopen(folder)
        write_tables(result, rows, folder)
        figures = write_figures(result, rows, folder / "figures", job.num_top)
        save_result(result, folder)
        FITS.seal_results(folder)  # last: a folder with a result is finished
    page = report(folder)
    screen.show_clusters(result, rows, job.num_top, console)
    screen.show_numbers(result, console)
    screen.show_places(folder, figures, console)
    console.print(f"report, to be opened in a browser: {shown(str(page))}", soft_wrap=True)
    return result


def show(folder: Path, console: Console, num_top: int, cluster: int | None) -> None:
    """Print the clusters of a finished fit, or the whole profile of one of them."""
    FITS.require(folder)
    FITS.verify(folder)
    result, rows = load_result(folder, FITS.load_job(folder).family), load_rows(folder)
    if cluster is not None:
        return screen.show_cluster(result, rows, cluster, console)
    screen.show_clusters(result, rows, num_top, console)
    screen.show_numbers(result, console)
