"""`sample MODEL.py`, `sample resume`, `sample show`: draws from a model that a file defines; and `check MODEL.py`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
import typer.core

from orthodrome.cli import terminal
from orthodrome.cli.fits import Folder, Output, Quiet, Shown
from orthodrome.cli.options import takes
from orthodrome.cli.terminal import console
from orthodrome.jobs.checking import CheckJob
from orthodrome.jobs.sample.job import SampleJob

Model = Annotated[Path, typer.Argument(help="A Python file.", metavar="MODEL.py")]
EXAMPLE = "orthodrome sample model.py --sampler GeodesicNUTS --output run"


class DefaultRun(typer.core.TyperGroup):
    """A group whose first word may be the argument of `run` instead of a command."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Put `run` before words that do not begin with a command."""
        named = bool(args) and (args[0] in self.commands or args[0] == "--help")
        return super().parse_args(ctx, args if named or not args else ["run", *args])


app = typer.Typer(
    cls=DefaultRun,
    help="Draw from a model that a Python file defines: `target` or `posterior`, and optionally `start`.",
    no_args_is_help=True,
    epilog=f"Example:\n\n{EXAMPLE}",
)


@app.command(epilog=f"Example:\n\n{EXAMPLE}")
@takes(SampleJob)
def run(model: Model, output: Output, quiet: Quiet = False, job: SampleJob = SampleJob()) -> None:
    """Draw from the model of a file (`run` may be left out): draws, tables and figures in OUTPUT.

    The file defines `target` or `posterior`, optionally `start`, `sampler`, `gradient` and `center`.
    """
    terminal.use_all_cores()
    from orthodrome.jobs.sample import kind

    kind.run(job, model, output, console(), progress=not quiet)


@app.command(epilog="Example:\n\northodrome sample resume run")
def resume(folder: Folder, quiet: Quiet = False) -> None:
    """Resume a run that was stopped or killed; it ends with the same draws as an uninterrupted one."""
    terminal.use_all_cores()
    from orthodrome.jobs import fitting
    from orthodrome.jobs.sample.kind import KIND

    fitting.resume(KIND, folder, console(), progress=not quiet)


@app.command(epilog="Example:\n\northodrome sample show run --table numbers")
def show(folder: Folder, table: Shown = None) -> None:
    """Show what a finished run found: the tables variables, numbers."""
    from orthodrome.jobs.sample.kind import show_again

    show_again(folder, console(), table)


@takes(CheckJob)
def check(model: Model, job: CheckJob = CheckJob()) -> None:
    """Check the SDE, the recipe or the kernel that a file defines; the code is 1 if one of them is wrong.

    SDE: `drift`, `diffusion`, `logdensity`, `points`; recipe: `recipe`, `points`; kernel: `sampler`, `exact_draws`.
    """
    terminal.refuse_processes("check")
    from orthodrome.jobs.checking import check as look

    if not look(job, model, console()):
        raise typer.Exit(1)
