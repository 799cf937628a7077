"""The demonstration: spherical topics of Python's own documentation, by gSGNHT, in at most two minutes on two cores."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from orthodrome.core.display import shown
from orthodrome.jobs.topics.fit import fit, resume
from orthodrome.jobs.topics.folder import DEMONSTRATION, FITS, clear_demonstration
from orthodrome.jobs.topics.job import Job

if TYPE_CHECKING:
    from rich.console import Console

SETTINGS: dict[str, Any] = {"num_topics": 20, "num_iterations": 600, "num_top_words": 8}


def demo(folder: Path, seed: int, console: Console, progress: bool = True) -> None:
    """Fit, or resume a demonstration that was killed; a finished demonstration is made again."""
    job = Job(**SETTINGS, seed=seed)
    console.print("Spherical topics of the docstrings of Python's standard library", style="bold")
    console.print("the first run compiles its kernels before it begins, which takes up to a minute", style="dim")
    if FITS.unfinished(folder) and FITS.load_job(folder) == job:
        console.print(f"going on with the fit in {shown(str(folder))}")
        resume(folder, console, progress)
        return
    clear_demonstration(folder)
    fit(job, folder, console, progress, owner=DEMONSTRATION)
