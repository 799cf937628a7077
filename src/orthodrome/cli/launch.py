"""`launch`: the same command in several processes, on this machine or on the hosts of a file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from orthodrome.jobs.launch import local, remote


def launch(
    command: Annotated[list[str], typer.Argument(help="What to run, after --.", metavar="-- COMMAND ...")],
    processes: Annotated[int | None, typer.Option("-n", min=1, help="How many processes.")] = None,
    hosts: Annotated[
        Path | None, typer.Option(exists=True, dir_okay=False, help="Print what to run on each host of this file.")
    ] = None,
    port: Annotated[int, typer.Option(min=1, max=65535, help="Where they meet, with --hosts.")] = remote.PORT,
) -> int:
    """Start a command in N processes that work on one run: a command of ours, or a script that calls `use_hosts()`."""
    if hosts is not None:
        for line in remote.commands(remote.read_hosts(hosts), processes, command, port):
            print(line)
        return 0
    if processes is None:
        raise typer.BadParameter("say how many processes", param_hint="-n")
    return local.launch(command, processes)
