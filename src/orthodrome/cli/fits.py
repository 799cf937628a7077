"""`COMMAND fit | resume | show` of a model that is fitted to a CSV file: the same three for each."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Annotated, Any

import typer

from orthodrome.cli import terminal
from orthodrome.cli.options import takes
from orthodrome.cli.places import check_places
from orthodrome.cli.terminal import console

Folder = Annotated[Path, typer.Argument(help="The folder of a fit.", metavar="FOLDER")]
Quiet = Annotated[bool, typer.Option("--quiet", help="No progress bar.")]
Input = Annotated[Path, typer.Option(help="A CSV file with a header: .csv or .tsv, also .gz.")]
Shown = Annotated[str | None, typer.Option(help="The table to show (else the first).")]
Output = Annotated[Path, typer.Option(help="The folder to write to; it must be new or empty.")]


def fit_commands(job: Any, module: str, *, about: str, rows: str, example: str, tables: str) -> typer.Typer:
    """Return the commands of a model.

    job: the dataclass of its options; module: its `kind`, with `fit` and `KIND`
    about: one sentence for `--help`; rows: what the input is; example: a command line; tables: that `show` can print
    """
    app = typer.Typer(help=about, no_args_is_help=True, epilog=f"Example:\n\n{example}")
    load = lambda: importlib.import_module(f"orthodrome.jobs.{module}.kind")

    @takes(job)
    def fit(input: Input, output: Output, quiet: Quiet = False, settings: Any = None) -> None:
        check_places(input, output)
        terminal.use_all_cores()
        load().fit(settings, input, output, console(), progress=not quiet)

    def resume(folder: Folder, quiet: Quiet = False) -> None:
        terminal.use_all_cores()
        from orthodrome.jobs import fitting

        fitting.resume(load().KIND, folder, console(), progress=not quiet)

    def show(folder: Folder, table: Shown = None) -> None:
        load().KIND.show_again(folder, console(), table)

    fit.__doc__ = f"{about} The input holds {rows}. Draws, tables and figures go to OUTPUT."
    resume.__doc__ = "Resume a fit that was stopped or killed; it ends with the same numbers as an uninterrupted one."
    show.__doc__ = f"Show what a finished fit found: the tables {tables}."
    name = example.split(" fit ")[0]
    app.command(epilog=f"Example:\n\n{example}")(fit)
    app.command(epilog=f"Example:\n\n{name} resume fit")(resume)
    app.command(epilog=f"Example:\n\n{name} show fit --table {tables.split(', ')[-1]}")(show)
    return app
