"""The report page of a run's folder: which kind of folder it is, and what its page shows.

fit of topics, clustering    the model's own pictures from the saved results, and the draws in `state/`: `report.html`
                             in the folder
checkpoint, store            the draws: `NAME-report.html` beside the folder, in which only a run writes
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from orthodrome.errors import BadInput
from orthodrome.report.section import Section
from orthodrome.storage import checksums, ownership

PAGE = "report.html"
"""The name of the page in the folder of a fit."""


class Told(NamedTuple):
    """What the page of a fit shows beside its draws.

    title, sections, settings: of the page; variables: those that are judged and traced, None: all
    """

    title: str
    sections: list[Section]
    settings: dict[str, Any]
    variables: tuple[str, ...] | None = None


def report(folder: Path, path: Path | None = None) -> Path:
    """Write the page of a finished run; path: of the page, None: in the folder of a fit, else beside it."""
    from orthodrome.report.write import write_report

    kind = kind_of(folder)
    if kind in FITS:
        told = FITS[kind](folder)
        return write_report(folder / "state", path or folder / PAGE, **told._asdict())
    if kind not in ("checkpoint", "store"):
        raise BadInput(f"{folder} holds a {kind}, of which there is no report; give the folder of a fit or of a run")
    return write_report(folder, path or folder.absolute().parent / f"{folder.absolute().name}-{PAGE}")


def kind_of(folder: Path) -> str:
    """Return the kind of a folder of ours, or raise if it is none."""
    if not folder.is_dir():
        raise BadInput(f"there is no folder {folder}; give the folder of a fit or of a run")
    if not (folder / ownership.MARKER).is_file():
        raise BadInput(f"{folder} is no run of orthodrome's: there is no {folder / ownership.MARKER}")
    return str(checksums.read_sealed(folder / ownership.MARKER, "restore it").get("kind"))


def of_topics(folder: Path) -> Told:
    """Return what the page of a fit of topics shows."""
    from orthodrome.jobs.topics.documents import load_documents
    from orthodrome.jobs.topics.folder import FITS as FOLDERS
    from orthodrome.jobs.topics.result import load_result
    from orthodrome.report.pictures.topics import TopicTables, topics

    FOLDERS.verify(folder)
    job, documents = FOLDERS.load_job(folder), load_documents(folder)
    found = load_result(folder, job.model)
    tables = TopicTables(
        *(found.mean, found.spread, found.corpus, found.proportions, found.proportions_sd),
        *(documents.vocabulary, documents.names, documents.rows, found.quantity, found.tells_absence),
    )
    title = f"{job.num_topics} topics of {Path(job.input).name} by {job.model.upper()}"
    return Told(title, [topics(tables, job.seed)], settings_of(job, found.numbers))


def of_clusters(folder: Path) -> Told:
    """Return what the page of a clustering shows."""
    from orthodrome.jobs.cluster.folder import FITS as FOLDERS
    from orthodrome.jobs.cluster.profiles import PROFILES
    from orthodrome.jobs.cluster.result import load_result
    from orthodrome.jobs.cluster.rows import load_rows
    from orthodrome.report.pictures.mixture import ClusterTables, mixture

    FOLDERS.verify(folder)
    job, rows = FOLDERS.load_job(folder), load_rows(folder)
    found = load_result(folder, job.family)
    entries = [
        name if kind not in ("sd", "length") else f"{kind} {name}" for kind, name in PROFILES[job.family].entries(rows)
    ]
    parts, count = found.clusters, len(entries)
    tables = ClusterTables(
        *(parts.labels, parts.probability, rows.names, parts.weights, parts.profiles, parts.overall, entries),
        *([found.top(k, count) for k in range(len(parts.sizes))], parts.together, found.sample, found.pairs),
    )
    title = f"{len(parts.sizes)} {job.family} clusters of {len(rows.names):,} rows"
    # weights and parameters are those of components, which each draw numbers in its own way
    unlabelled = ("num_clusters", "concentration")
    return Told(title, mixture(tables), settings_of(job, found.numbers), unlabelled)


def settings_of(job: Any, numbers: dict[str, float]) -> dict[str, Any]:
    """Return the settings of a job that were given or have a value, and the numbers of its result."""
    given = {name.replace("_", " "): value for name, value in dataclasses.asdict(job).items() if value is not None}
    return {**numbers, **given}


FITS: dict[str, Callable[[Path], Told]] = {"fit": of_topics, "clustering": of_clusters}
"""The folders of fits, by the kind in their markers."""
