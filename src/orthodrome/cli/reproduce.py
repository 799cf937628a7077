"""`reproduce`: the figures and tables of the papers, and one page of all of them."""

from __future__ import annotations

import enum
import os
from pathlib import Path
from typing import Annotated

import typer

from orthodrome.cli import terminal


class Scale(enum.StrEnum):
    """The size of a reproduction."""

    QUICK = "quick"
    PAPER = "paper"


Out = Annotated[Path, typer.Option("--output", "--out", help="The folder to write to.")]
Seed = Annotated[int, typer.Option(help="The seed of all randomness.")]
Data = Annotated[
    Path | None, typer.Option(help="Where the data are, if the experiment needs any (or ORTHODROME_DATA).")
]
MOST = 4
"""The largest number of experiments at a time, unless --jobs says more: each holds a gigabyte or two."""


def reproduce(
    name: Annotated[str | None, typer.Argument(help="The experiment; --list shows them.")] = None,
    scale: Annotated[
        Scale, typer.Option(help="quick takes about a minute each; paper has the paper's sizes.")
    ] = Scale.QUICK,
    data: Data = None,
    out: Out = Path("results"),
    seed: Seed = 0,
    quiet: Annotated[bool, typer.Option("--quiet", help="No progress bars.")] = False,
    list_: Annotated[bool, typer.Option("--list", help="Show the experiments and exit.")] = False,
    all_: Annotated[bool, typer.Option("--all", help="Run every experiment; those without their data say so.")] = False,
    jobs: Annotated[
        int | None,
        typer.Option(min=1, help="Experiments at a time with --all; left out: one for each core, at most 4."),
    ] = None,
    page: Annotated[
        bool, typer.Option("--page", help="Only write the page and the table of what is in the folder already.")
    ] = False,
) -> None:
    """Reproduce figures and tables of the papers: result.json, PNG, SVG and CSV in OUTPUT/NAME.

    --all also writes OUTPUT/all/index.html, every figure beside its claims, and claims.csv.
    """
    from orthodrome.jobs.reproduce import run as job

    screen = terminal.console()
    if list_:
        return job.show_experiments(screen)
    if page:
        if all_ or name is not None:
            raise typer.BadParameter("it runs nothing: leave the experiment and --all out", param_hint="--page")
        return job.write_page(out, screen)
    if all_ == (name is not None):
        raise typer.BadParameter("say which experiment, or --all, or --list", param_hint="NAME")
    check_name(name)
    terminal.refuse_processes("reproduce")
    lanes = min(os.cpu_count() or 1, MOST) if jobs is None else jobs
    if name is not None or lanes == 1:
        terminal.use_all_cores()
    if name is not None:
        return job.run_one(name, scale.value, seed, out, data, screen, not quiet)
    if not job.run_all(scale.value, seed, out, data, screen, not quiet, lanes):
        raise typer.Exit(1)


def check_name(name: str | None) -> None:
    """Raise for an unknown experiment before anything heavy is loaded."""
    from orthodrome.experiments import EXPERIMENTS

    if name is not None and name not in EXPERIMENTS:
        raise typer.BadParameter(f"there is no {name!r}; there are: {', '.join(EXPERIMENTS)}", param_hint="NAME")
