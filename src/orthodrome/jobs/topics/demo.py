"""The demonstration: spherical topics of Python's own documentation, by gSGNHT, in at most two minutes on two cores."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

from orthodrome.errors import BadInput
from orthodrome.jobs.topics.fit import fit, resume
from orthodrome.jobs.topics.job import Job, load_job

if TYPE_CHECKING:
    from rich.console import Console

SETTINGS: dict[str, Any] = {"num_topics": 20, "num_iterations": 600, "num_top_words": 8}


def demo(folder: Path, seed: int, console: Console) -> None:
    """Fit, or go on with what a kill left; a finished demonstration is made again."""
    job = Job(**SETTINGS, seed=seed)
    console.print("[bold]Spherical topics[/bold] of the docstrings of Python's standard library")
    console.print("the first run compiles its kernels before it begins, which takes up to a minute", style="dim")
    if unfinished(folder, job):
        console.print(f"going on with the fit in {folder}")
        resume(folder, console)
        return
    clear(folder)
    fit(job, folder, console)


def unfinished(folder: Path, job: Job) -> bool:
    """Whether the folder holds this very job, begun and not ended."""
    return (folder / "job.json").exists() and not (folder / "summary.json").exists() and load_job(folder) == job


def clear(folder: Path) -> None:
    """Remove an earlier fit, and nothing else."""
    if not (folder / "job.json").exists():
        return
    try:
        shutil.rmtree(folder)
    except OSError as error:
        raise BadInput(f"cannot remove the earlier fit in {folder}: {error.strerror}") from error
