"""Say what to start on each of many hosts: one line a process, for a shell, a script or a person."""

from __future__ import annotations

import re
import secrets
import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path

from orthodrome.core.processes import COORDINATOR, PROCESS, PROCESSES, RUN
from orthodrome.errors import BadInput

PORT = 9437
"""The port of the first host at which the processes meet, unless another is asked for."""


def read_hosts(path: Path) -> list[tuple[str, int]]:
    """Return the hosts of a file and how many processes each takes: `name` or `name slots=4` in a line, # comments."""
    found = []
    for number, line in enumerate(path.read_text().splitlines(), 1):
        text = line.partition("#")[0].strip()
        if not text:
            continue
        match = re.fullmatch(r"(\S+?)(?:\s+slots=(\d+))?", text)
        if match is None or match[2] == "0":
            raise BadInput(f"{path}, line {number}: {text!r} is not a host, nor `host slots=N` with N of at least 1")
        found.append((match[1], int(match[2] or 1)))
    if not found:
        raise BadInput(f"{path} names no host; write one in a line, as in `node1 slots=2`")
    return found


def commands(
    hosts: Sequence[tuple[str, int]], processes: int | None, command: Sequence[str], port: int = PORT
) -> Iterator[str]:
    """Yield a command for every process: that of host i goes through ssh, in the folder where this is called.

    processes: how many in all; None: one for every slot
    """
    slots = [host for host, count in hosts for _ in range(count)]
    wanted = len(slots) if processes is None else processes
    if wanted > len(slots):
        raise BadInput(f"-n {wanted}, but the hosts have {len(slots)} slots in all; write `slots=N` beside a host")
    run = secrets.token_hex(8)
    for number, host in enumerate(slots[:wanted]):
        place = {COORDINATOR: f"{slots[0]}:{port}", PROCESSES: wanted, PROCESS: number, RUN: run}
        words = ["env", *(f"{name}={value}" for name, value in place.items()), *command]
        yield shlex.join(["ssh", host, f"cd {shlex.quote(str(Path.cwd()))} && exec {shlex.join(words)}"])
