"""`watch RUN`: a run as it goes on, in the terminal or as a local page."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer

from orthodrome.cli.terminal import console

RunFolder = Annotated[
    Path, typer.Argument(help="The folder of a fit, or the checkpoint or store of a run.", metavar="RUN")
]


def watch(
    run: RunFolder,
    page: Annotated[bool, typer.Option("--page", help="Serve a page on this machine (Ctrl-C ends it).")] = False,
    stop: Annotated[bool, typer.Option("--stop", help="Ask the run to stop in order at its next commit.")] = False,
    once: Annotated[bool, typer.Option("--once", help="Print how the run stands, and return.")] = False,
    port: Annotated[int, typer.Option(min=0, max=65535, help="Of the page; 0: any that is free.")] = 0,
) -> None:
    """Watch a run that was started anywhere: its progress, its figures, whether it is stalled or has ended.

    Watching changes nothing, and Ctrl-C ends the watching, not the run.
    """
    from orthodrome.jobs.watch.look import events_folder
    from orthodrome.jobs.watch.screen import watch as show

    folder, screen = events_folder(run), console()
    if stop:
        from orthodrome.storage.events import ask_to_stop

        ask_to_stop(folder)
        return screen.print("the run is asked to stop: it does so after its next chunk, with everything committed")
    if page and not once:
        return serve(folder, port)
    show(folder, screen, once)


def serve(folder: Path, port: int) -> None:
    """Serve the page until Ctrl-C."""
    from orthodrome.jobs.watch.server import serving

    with serving(folder, port) as server:
        console().print(f"watching on {server.address} (Ctrl-C ends the page, not the run)", soft_wrap=True)
        while True:
            time.sleep(1)
