"""`watch RUN`: a run as it goes on, in the terminal or as a local page."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from orthodrome.cli.terminal import console

if TYPE_CHECKING:
    from orthodrome.jobs.watch.follow import Follower

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
    from orthodrome.jobs.watch.follow import Follower
    from orthodrome.jobs.watch.screen import watch as show

    if stop:
        return stopped(Follower(run))
    if page and not once:
        return serve(run, port)
    show(run, console(), once)


def stopped(follower: Follower) -> None:
    """Ask a run to stop, or raise if there is none that could hear it."""
    from orthodrome.errors import BadInput
    from orthodrome.storage.events import ask_to_stop

    seen = follower.look()
    if not seen.can_stop:
        raise BadInput(f"there is nothing to stop in {follower.folder}: {seen.words}")
    ask_to_stop(follower.place)
    console().print("the run is asked to stop: it does so after its next chunk, with everything committed")


def serve(folder: Path, port: int) -> None:
    """Serve the page until Ctrl-C."""
    from orthodrome.jobs.watch.server import serving

    with serving(folder, port) as server:
        console().print(f"watching on {server.address} (Ctrl-C ends the page, not the run)", soft_wrap=True)
        while True:
            time.sleep(1)
