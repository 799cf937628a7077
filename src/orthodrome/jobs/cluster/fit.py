"""The main job: read rows, draw clusters, write and show what was found (see `jobs.fitting`)."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from orthodrome.jobs import fitting
from orthodrome.jobs.cluster import show as screen
from orthodrome.jobs.cluster.folder import FITS
from orthodrome.jobs.cluster.job import ClusterJob, check_job
from orthodrome.jobs.cluster.model import check_rows, learn
from orthodrome.jobs.cluster.outputs import write_figures, write_tables
from orthodrome.jobs.cluster.profiles import PROFILES
from orthodrome.jobs.cluster.result import ClusterResult, load_result, save_result
from orthodrome.jobs.cluster.rows import ClusterRows, load_rows, read_rows, save_rows
from orthodrome.jobs.cluster.verdict import UNLABELLED
from orthodrome.jobs.fit_folder import FitFolder
from orthodrome.jobs.told import Told, settings_of

if TYPE_CHECKING:
    from rich.console import Console


class ClusterFitting(fitting.Fitting[ClusterJob, ClusterRows, ClusterResult]):
    """Clusters of rows."""

    @property
    def fits(self) -> FitFolder[ClusterJob]:
        return FITS

    def check(self, job: ClusterJob) -> None:
        check_job(job)

    def save(self, data: ClusterRows, folder: Path) -> None:
        save_rows(data, folder)

    def load(self, folder: Path) -> ClusterRows:
        return load_rows(folder)

    def announcement(self, job: ClusterJob, data: ClusterRows) -> str:
        training = int(data.training.sum())
        return (
            f"{training:,} rows to learn from, {len(data.names) - training:,} held out, {len(data.columns):,} columns; "
            f"{job.family} clusters by {job.method}{counts_hint(job, data)}"
        )

    def learn(self, job: ClusterJob, data: ClusterRows, folder: Path, progress: bool) -> ClusterResult:
        return learn(job, data, folder / "state", progress)

    def write(self, job: ClusterJob, data: ClusterRows, found: ClusterResult, folder: Path) -> list[Path]:
        write_tables(found, data, folder)
        figures = write_figures(found, data, folder / "figures", job.num_top)
        save_result(found, folder)
        return figures

    def found(self, job: ClusterJob, data: ClusterRows, folder: Path) -> ClusterResult:
        return load_result(folder, job.family)

    def told(self, job: ClusterJob, data: ClusterRows, found: ClusterResult, folder: Path) -> Told:
        from orthodrome.report.pictures.mixture import ClusterTables, mixture

        length = lambda kind, name: f"{kind} {name}" if kind in ("sd", "length") else name
        entries = [length(*entry) for entry in PROFILES[job.family].entries(data)]
        parts = found.clusters
        tables = ClusterTables(
            *(parts.labels, parts.probability, data.names, parts.weights, parts.profiles, parts.overall, entries),
            *([found.top(k, len(entries)) for k in range(len(parts.sizes))], parts.together, found.sample, found.pairs),
        )
        title = f"{len(parts.sizes)} {job.family} clusters of {len(data.names):,} rows"
        settings = settings_of(job, found.numbers)
        return Told(folder / "state", title, settings, tuple(mixture(tables)), UNLABELLED)

    def show(self, job: ClusterJob, data: ClusterRows, found: ClusterResult, console: Console) -> None:
        screen.show_clusters(found, data, job.num_top, console)
        screen.show_numbers(found, console)

    def show_places(self, folder: Path, figures: list[Path], console: Console) -> None:
        screen.show_places(folder, figures, console)


KIND = ClusterFitting()


def counts_hint(job: ClusterJob, data: ClusterRows) -> str:
    """Return what to consider if rows that look like counts are taken for real numbers, which is the default."""
    if job.family != "gaussian" or np.any(data.values < 0) or np.any(data.values != np.rint(data.values)):
        return ""
    return "\n(every value is a whole number; if they are counts, --family multinomial is the model for them)"


def fit(job: ClusterJob, path: Path, folder: Path, console: Console, progress: bool = True) -> ClusterResult:
    """Fit the rows of a file in a new folder."""

    def read() -> ClusterRows:
        rows = read_rows(job, path)
        check_rows(job, rows, path)
        return rows

    return fitting.fit(KIND, job, read, folder, console, progress)


def resume(folder: Path, console: Console, progress: bool = True) -> ClusterResult:
    """Resume a fit and finish it."""
    return fitting.resume(KIND, folder, console, progress)


def show(folder: Path, console: Console, num_top: int, cluster: int | None) -> None:
    """Print the clusters of a finished fit, or the whole profile of one of them."""
    FITS.require(folder)
    FITS.verify(folder)
    result, rows = load_result(folder, FITS.load_job(folder).family), load_rows(folder)
    if cluster is not None:
        return screen.show_cluster(result, rows, cluster, console)
    screen.show_clusters(result, rows, num_top, console)
    screen.show_numbers(result, console)
