"""`report RUN`: one self-contained HTML page about a finished run."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from orthodrome.cli import terminal
from orthodrome.cli.terminal import console

RunFolder = Annotated[
    Path, typer.Argument(help="The folder of a fit, or the store or checkpoint of a run.", metavar="RUN")
]
Output = Annotated[
    Path | None, typer.Option(help="The page to write (else report.html in a fit, beside other folders).")
]


def report(run: RunFolder, output: Output = None) -> None:
    """Write a page about a finished run: what was run, whether it can be trusted, and the model's own picture.

    The page is one file that loads nothing from elsewhere.
    """
    from orthodrome.core.display import shown
    from orthodrome.jobs.report import report as write

    terminal.use_all_cores()  # a fit is opened as it was drawn, with the chains spread over the same devices
    console().print(f"report: {shown(str(write(run, output)))}", soft_wrap=True)
